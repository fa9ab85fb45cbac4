"""Which faults can be undone, and what undoing them does, in words."""

from __future__ import annotations

from collections.abc import Sequence

from headgate.diagnose.fault import faults
from headgate.diagnose.usual_case import CASES, CASING
from headgate.display.numbers import format_parameter
from headgate.values.diagnosis import Diagnosis
from headgate.values.schema import Schema

RENAMED, DUPLICATED = "column_renamed", "rows_duplicated"
BY_VALUE = frozenset({"padding", "encoding", CASING})
"""Faults whose inverse leaves right values as they are, so that it is applied to all rows."""
WHOLE_TABLE = frozenset({RENAMED, DUPLICATED})
_TASK = "Spark partition"


def list_repairable(diagnoses: Sequence[Diagnosis], schema: Schema | None = None) -> tuple[Diagnosis, ...]:
    """The diagnoses whose fault can be undone."""
    return tuple(each for each in diagnoses if not find_obstacle(each, schema))


def describe_obstacles(diagnoses: Sequence[Diagnosis], schema: Schema | None = None) -> tuple[str, ...]:
    """What cannot be undone, each with the reason."""
    found = ((each, find_obstacle(each, schema)) for each in diagnoses)
    return tuple(f"{each.sentence}, and {why}" for each, why in found if why)


def find_obstacle(diagnosis: Diagnosis, schema: Schema | None = None) -> str:
    """Why a fault cannot be undone, in words; empty if it can."""
    name, known = diagnosis.fault, faults()
    if name not in known or not known[name].repairs:
        return "what was there before is not in the batch"
    if name == "encoding" and diagnosis.parameters.get("encoding") == "unknown":
        return "the characters are lost"
    if name == CASING and diagnosis.parameters.get("was") not in CASES:
        return "the case of each value before is not known"
    inside = {column.label for column in schema.columns if column.parent} if schema is not None else set()
    if inside.intersection((*diagnosis.columns, *(label for label, _ in diagnosis.segment))):
        return "places inside nested columns are not changed"
    if any(label == _TASK for label, _ in diagnosis.segment):
        return "its rows cannot be found again"
    is_partial = diagnosis.share < 1 and not diagnosis.segment
    if is_partial and name not in BY_VALUE and name not in WHOLE_TABLE:
        return "which rows it happened to is not known"
    return ""


def describe_repair(diagnosis: Diagnosis) -> str:
    """What undoing a fault does, in words, without its segment.

    >>> describe_repair(Diagnosis("scaled", "", ("price",), {"factor": 100.0}))
    'price is divided by 100'
    """
    guess = " (estimated)" if diagnosis.estimated else ""
    columns, given = diagnosis.columns, diagnosis.parameters
    names = " and ".join(filter(None, [", ".join(columns[:-1]), *columns[-1:]]))
    verb = "is" if len(columns) == 1 else "are"
    match diagnosis.fault:
        case "scaled":
            factor = float(given["factor"])
            word, by = ("divided", factor) if abs(factor) >= 1 else ("multiplied", 1 / factor)
            return f"{names} {verb} {word} by {format_parameter(by, is_short=diagnosis.estimated)}{guess}"
        case "shifted":
            offset = float(given["offset"])
            size = format_parameter(abs(offset), is_short=diagnosis.estimated)
            return f"{names} {verb} {'lowered' if offset > 0 else 'raised'} by {size}{guess}"
        case "sign_flipped":
            return f"{names} {verb} multiplied by -1"
        case "unit_with_offset":
            units = ("Fahrenheit", "Celsius") if given["unit"] == "fahrenheit" else ("Celsius", "Fahrenheit")
            return f"{names} {verb} converted from {units[0]} to {units[1]}"
        case "columns_swapped":
            return f"{names} {verb} swapped back"
        case "casing":
            return f"{names} {verb} written in {given['was']} case"
        case "padding":
            return f"blanks around the values of {names} are removed"
        case "encoding":
            return f"{names} {verb} read as UTF-8, not as {given.get('encoding', 'Latin-1')}"
        case "rows_duplicated":
            return "of rows that are there several times, the copies are left out"
        case "time_shifted":
            seconds = float(given["seconds"])
            return (
                f"{names} {verb} moved {'back' if seconds > 0 else 'ahead'} by {_write_duration(abs(seconds))}{guess}"
            )
        case "column_renamed":
            return f"{given['name']} is named {names} again"
    return f"{diagnosis.fault} of {names} is undone"


def _write_duration(seconds: float) -> str:
    """A number of seconds in the largest unit of which it is a whole number.

    >>> _write_duration(86_400.0), _write_duration(5_400.0)
    ('1 day', '90 minutes')
    """
    units = (("day", 86_400), ("hour", 3_600), ("minute", 60), ("second", 1))
    unit, size = next((each for each in units if seconds % each[1] == 0), units[-1])
    count = seconds / size
    return f"{count:,.6g} {unit}{'s' * (count != 1)}"
