"""Whether the diagnoses of a held batch are right: the name of the fault, its columns, parameter and segment."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

Row = dict[str, Any]

PARAMETERS = {
    "scaled": "factor",
    "shifted": "offset",
    "nulls": "share",
    "placeholder": "share",
    "time_shifted": "seconds",
    "truncated": "characters",
    "precision_lost": "unit",
    "rows_missing": "share",
}
"""The numeric parameter of a fault that has to be within 5%. All rows twice have `copies`, a part of them a `share`."""
OF_SHARES = frozenset({"share"})
"""Parameters that are not compared in a segment: a share of the segment is another share of all rows."""
VISIBLE = frozenset({"column_added", "column_missing", "column_renamed", "type_changed", "stale_copy"})
"""Faults that are no guess: a new column is new, also if it is right that it came."""
TOLERANCE, CONFIDENT = 0.05, 0.8
NO_NAME = "no diagnosis"


def get_names(row: Row) -> list[str]:
    """The true names of the faults: none for a fault that the library does not know."""
    return [part["canonical"] for part in row["parts"] if part["canonical"]]


def is_known(row: Row) -> bool:
    return bool(get_names(row))


def is_mixture(row: Row) -> bool:
    return len(row["parts"]) > 1


def get_first(row: Row) -> str:
    """The name that the first diagnosis gives."""
    return row["diagnoses"][0]["fault"] if row["diagnoses"] else NO_NAME


def is_named_first(row: Row) -> bool:
    """Whether the first diagnosis has the right name; of a mixture, whether each fault is named by a diagnosis."""
    if is_mixture(row):
        return _has_all(row, [diagnosis["fault"] for diagnosis in row["diagnoses"]])
    return get_first(row) in get_names(row)


def is_named_within(row: Row, count: int = 3) -> bool:
    """Whether the right name is among the first so many: that of the first diagnosis, then the others that it names."""
    if not is_mixture(row):
        return any(name in get_names(row) for name in _list_candidates(row["diagnoses"][:1])[:count])
    return _has_all(row, [name for each in row["diagnoses"] for name in _list_candidates([each])[:count]])


def _has_all(row: Row, names: Iterable[str]) -> bool:
    return set(get_names(row)) <= set(names)


def _list_candidates(diagnoses: Sequence[Row]) -> list[str]:
    return [name for each in diagnoses for name in (each["fault"], *each.get("others", ()))]


def find_right(row: Row, part: Row) -> Row | None:
    """The first diagnosis that names a part of the fault; of a single fault, only the first of all."""
    among = row["diagnoses"] if is_mixture(row) else row["diagnoses"][:1]
    return next((each for each in among if each["fault"] == part["canonical"]), None)


def list_named_parts(row: Row) -> list[tuple[Row, Row]]:
    """Every part of the fault that is named right, with the diagnosis that does."""
    found = [(part, find_right(row, part)) for part in row["parts"] if part["canonical"]]
    return [(part, diagnosis) for part, diagnosis in found if diagnosis is not None]


def has_columns(part: Row, diagnosis: Row) -> bool:
    """Whether a diagnosis names exactly the columns that were hit."""
    return set(diagnosis.get("columns", ())) == set(part["columns"])


def has_first_column(part: Row, diagnosis: Row) -> bool:
    """Whether the first column that a diagnosis names is one that was hit."""
    columns = diagnosis.get("columns", ())
    return bool(columns) and columns[0] in part["columns"]


def get_parameter(part: Row) -> tuple[str, float] | None:
    """The numeric parameter of a fault; None if it has none that can be compared."""
    names = ("copies", "share") if part["canonical"] == "rows_duplicated" else (PARAMETERS.get(part["canonical"], ""),)
    for name in names:
        value = part["parameters"].get(name)
        if isinstance(value, (int, float)) and value and not (name in OF_SHARES and part["segment"]):
            return name, float(value)
    return None


def has_parameter(part: Row, diagnosis: Row) -> bool:
    """Whether the numeric parameter is within 5% of the true one."""
    parameter = get_parameter(part)
    if parameter is None:
        return False
    name, value = parameter
    given = diagnosis.get("parameters", {}).get(name, diagnosis.get("share") if name == "share" else None)
    return isinstance(given, (int, float)) and abs(given - value) <= TOLERANCE * abs(value)


def has_segment(part: Row, diagnosis: Row) -> bool:
    """Whether a diagnosis says exactly in which rows the fault is. Another segment of the same rows is right too."""
    given = [[column, str(value)] for column, value in diagnosis.get("segment", ())]
    true = [part["segment"], *part.get("same_rows", ())]
    return len(given) == 1 and given[0] in true


def is_wrong_confident(row: Row) -> bool:
    """Whether a diagnosis is at least 80% sure of a name that is not right."""
    names = get_names(row)
    return any(each["confidence"] >= CONFIDENT and each["fault"] not in names for each in row["diagnoses"])


def is_repaired(row: Row) -> bool:
    """Whether a held batch passes and equals the good one after its faults are undone."""
    return bool(row["repair"]["passes"] and row["repair"]["equals"])


def is_wrongly_repaired(row: Row) -> bool:
    """Whether a held batch passes after something else than its faults was undone."""
    return bool(row["repair"]["passes"] and not row["repair"]["equals"])


def is_certainly_wrong(row: Row) -> bool:
    """Whether a repair passes that is not equal to the good batch, and does not say that it is an estimate."""
    return is_wrongly_repaired(row) and not row["repair"]["estimated"]


def names_visible_changes(row: Row) -> bool:
    """Whether all diagnoses only say what can be seen: the schema is another, or the rows came before."""
    return all(each["fault"] in VISIBLE for each in row["diagnoses"])
