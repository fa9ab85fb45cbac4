"""Undoes the faults that diagnoses name, in frames of every kind."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from msgspec.structs import replace

from headgate.diagnose.column_profile import ColumnContents
from headgate.diagnose.fault import faults
from headgate.display.numbers import format_number
from headgate.engine.batch import is_spark
from headgate.engine.local import in_memory
from headgate.engine.segment_fold import encode_values
from headgate.engine.segment_plan import SegmentColumn
from headgate.inject.frames import LocalFrame, open_frame
from headgate.learn.past import Past
from headgate.metrics.base.arrow import kind_of, to_plain
from headgate.metrics.base.batch import ColumnBatch
from headgate.metrics.base.hashing import hash_label, hash_rows
from headgate.values.diagnosis import Diagnosis
from headgate.values.errors import MisuseError
from headgate.values.expectation import Segment
from headgate.values.schema import Schema, unique_labels

Mask = npt.NDArray[np.bool_]

SWAPPED, RENAMED, DUPLICATED, CASING = "columns_swapped", "column_renamed", "rows_duplicated", "casing"
_NUMBERS = frozenset({"scaled", "shifted", "sign_flipped", "unit_with_offset"})
_BY_VALUE = frozenset({"padding", "encoding", CASING})
"""Faults whose inverse leaves right values as they are, so that it is applied to all rows."""
_WHOLE_TABLE = frozenset({RENAMED, DUPLICATED})
_HOUR, _FILE, _TASK = "hour of ", "source file", "Spark partition"
_MOST_UNKNOWN = 0.02  # of the usual values, whose case is not known
_LETTERS = re.compile("[Aa]+")
_CASES = {"lower": re.compile("a+"), "upper": re.compile("A+"), "title": re.compile("Aa+")}


def repair_batch(
    data: Any, diagnoses: Sequence[Diagnosis], schema: Schema | None = None, *, secret: bytes | None = None
) -> Any:
    """The batch as it was before the faults that can be undone. What is not known to be wrong stays as it is.

    A Spark DataFrame gives a lazy DataFrame, a pandas or polars frame one of its kind, other data a pyarrow Table.

    Args:
        data: The batch.
        diagnoses: What happened to it.
        schema: Its columns as they were judged.
        secret: The key of a store that hides values: its segments are named by hashes.
    """
    chosen = list_repairable(diagnoses, schema)
    if not chosen:
        raise MisuseError(
            f"there is nothing to undo: {'; '.join(describe_obstacles(diagnoses, schema)) or 'no fault is known'}.",
            hint="Repair the batch at its source, and judge it again.",
        )
    if is_spark(data):
        return _repair_spark(data, chosen, secret)
    return _repair_local(data, chosen, secret)


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
    if name == CASING and diagnosis.parameters.get("was") not in _CASES:
        return "the case of each value before is not known"
    inside = {column.label for column in schema.columns if column.parent} if schema is not None else set()
    if inside.intersection((*diagnosis.columns, *(label for label, _ in diagnosis.segment))):
        return "places inside nested columns are not changed"
    if any(label == _TASK for label, _ in diagnosis.segment):
        return "its rows cannot be found again"
    is_partial = diagnosis.share < 1 and not diagnosis.segment
    if is_partial and name not in _BY_VALUE and name not in _WHOLE_TABLE:
        return "which rows it happened to is not known"
    return ""


def describe_repair(diagnosis: Diagnosis) -> str:
    """What undoing a fault does, in words, without its segment.

    >>> describe_repair(Diagnosis("scaled", "", ("price",), {"factor": 100.0}))
    'price is divided by 100'
    """
    columns, given = diagnosis.columns, diagnosis.parameters
    names = " and ".join(filter(None, [", ".join(columns[:-1]), *columns[-1:]]))
    verb = "is" if len(columns) == 1 else "are"
    match diagnosis.fault:
        case "scaled":
            factor = float(given["factor"])
            word, by = ("divided", factor) if abs(factor) >= 1 else ("multiplied", 1 / factor)
            return f"{names} {verb} {word} by {_write_number(by)}"
        case "shifted":
            offset = float(given["offset"])
            return f"{names} {verb} {'lowered' if offset > 0 else 'raised'} by {_write_number(abs(offset))}"
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
            return f"{names} {verb} moved {'back' if seconds > 0 else 'ahead'} by {_write_duration(abs(seconds))}"
        case "column_renamed":
            return f"{given['name']} is named {names} again"
    return f"{diagnosis.fault} of {names} is undone"


def add_usual_case(diagnosis: Diagnosis, patterns: Mapping[str, float]) -> Diagnosis:
    """The diagnosis of a change of case with the case that was usual, if all usual values had one.

    Args:
        diagnosis: The diagnosis; one of another fault stays as it is.
        patterns: The shares of the patterns of the column in good runs.
    """
    case = find_usual_case(patterns) if diagnosis.fault == CASING and len(diagnosis.columns) == 1 else None
    return diagnosis if case is None else replace(diagnosis, parameters={**diagnosis.parameters, "was": case})


def add_usual_cases(diagnoses: Sequence[Diagnosis], past: Past | None) -> tuple[Diagnosis, ...]:
    """The diagnoses, those of a change of case with the case that was usual in the newest good run."""
    columns = {} if past is None else {column.label: column for column in past.schema.columns}
    states = {} if past is None else past.states
    return tuple(
        add_usual_case(each, ColumnContents.of(columns[each.columns[0]], states).patterns)
        if each.columns and each.columns[0] in columns
        else each
        for each in diagnoses
    )


def find_usual_case(patterns: Mapping[str, float]) -> str | None:
    """The one case of values with these patterns: lower, upper or title; None if there are several, or none is known.

    >>> find_usual_case({"a a": 0.6, "a9": 0.4}), find_usual_case({"Aa": 0.5, "a": 0.5}), find_usual_case({"A": 0.4})
    ('lower', None, None)
    """
    words = [word for pattern in patterns for word in _LETTERS.findall(pattern)]
    if not words or sum(patterns.values()) < 1 - _MOST_UNKNOWN:
        return None
    return next((case for case, form in _CASES.items() if all(map(form.fullmatch, words))), None)


def _write_number(number: float) -> str:
    return format_number(float(f"{number:.6g}"))


def _write_duration(seconds: float) -> str:
    """A number of seconds in the largest unit of which it is a whole number.

    >>> _write_duration(86_400.0), _write_duration(5_400.0)
    ('1 day', '90 minutes')
    """
    units = (("day", 86_400), ("hour", 3_600), ("minute", 60), ("second", 1))
    unit, size = next((each for each in units if seconds % each[1] == 0), units[-1])
    count = seconds / size
    return f"{count:,.6g} {unit}{'s' * (count != 1)}"


# --- the columns of one batch


class _ValuePart:
    """One place of a segment: the texts that one column has in it."""

    def __init__(self, label: str, values: frozenset[str | None], labels: Sequence[str], secret: bytes | None) -> None:
        hour = label.removeprefix(_HOUR)
        if label in labels:
            self.at, self.column = labels.index(label), SegmentColumn(label)
        elif hour != label and hour in labels:
            self.at, self.column = labels.index(hour), SegmentColumn(hour, "hour")
        elif label == _FILE:
            self.at, self.column = len(labels), SegmentColumn(kind="file")
        else:
            raise _make_missing_error(label)
        self.values, self.secret = values, secret

    def mask_rows(self, columns: Sequence[Any]) -> Mask:
        codes, texts = encode_values(to_plain(columns[self.at]), self.column)
        inside = np.array([self._has_value(text) for text in texts], np.bool_)
        return np.asarray(inside[codes], np.bool_) if len(inside) else np.zeros(len(codes), np.bool_)

    def _has_value(self, text: str | None) -> bool:
        if text in self.values:
            return True
        return text is not None and self.secret is not None and hash_label(text, self.secret) in self.values


class _RowPart:
    """The rows of a segment. Several values of one column mean one of them."""

    def __init__(self, segment: Segment, labels: Sequence[str], secret: bytes | None) -> None:
        values: dict[str, set[str | None]] = defaultdict(set)
        for label, value in segment:
            values[label].add(value)
        self.parts = [_ValuePart(label, frozenset(texts), labels, secret) for label, texts in values.items()]

    @property
    def reads_files(self) -> bool:
        return any(part.column.kind == "file" for part in self.parts)

    @property
    def positions(self) -> set[int]:
        return {part.at for part in self.parts}

    def mask_rows(self, columns: Sequence[Any]) -> Mask | None:
        """Which rows are in the segment; None for all."""
        masks = [part.mask_rows(columns) for part in self.parts]
        return np.logical_and.reduce(masks) if masks else None


@dataclass(frozen=True)
class _Step:
    """One fault to undo in the columns at some positions."""

    diagnosis: Diagnosis
    at: tuple[int, ...]
    rows: _RowPart


@dataclass(frozen=True)
class _ColumnRepair:
    """Undoes faults in the columns of a batch, on Spark in each task. `marked` are rows whose copies are dropped."""

    steps: tuple[_Step, ...]
    marked: _RowPart | None = None
    width: int = 0

    def __call__(self, columns: Sequence[Any]) -> list[Any]:
        given = list(columns[: self.width])
        masks = [step.rows.mask_rows(columns) for step in self.steps]  # by the values that were judged
        mark = [] if self.marked is None else [pa.array(self.marked.mask_rows(columns))]
        for step, mask in zip(self.steps, masks, strict=True):
            if step.diagnosis.fault == SWAPPED:
                one, two = step.at
                given[one], given[two] = _choose(mask, given[two], given[one]), _choose(mask, given[one], given[two])
                continue
            for at in step.at:
                given[at] = _undo(given[at], step.diagnosis, mask)
        return given + mark

    @property
    def positions(self) -> list[int]:
        """The columns that are changed."""
        return sorted({at for step in self.steps for at in step.at})


def _choose(mask: Mask | None, inside: Any, outside: Any) -> Any:
    if mask is None:
        return inside
    return _restore_type(pc.if_else(pa.array(mask), to_plain(inside), to_plain(outside)), outside.type)


def _undo(column: Any, diagnosis: Diagnosis, mask: Mask | None) -> Any:
    """A column as it was before a fault, in its own type."""
    name, plain = diagnosis.fault, to_plain(column)
    label = ", ".join(diagnosis.columns)
    if not _can_have(name, plain.type):
        raise MisuseError(
            f"{label} is {column.type}, so {describe_repair(diagnosis)} is not possible.",
            hint="Pass the batch that was judged.",
        )
    try:
        restored = faults()[name].undo(plain, diagnosis.parameters)
        return _restore_type(restored if mask is None else pc.if_else(pa.array(mask), restored, plain), column.type)
    except pa.ArrowInvalid as error:
        raise MisuseError(
            f"{label} cannot be repaired within its type, {column.type}: {error}.", hint="Widen the column first."
        ) from None


def _can_have(fault: str, kind: pa.DataType) -> bool:
    """Whether a column of this type can have a fault."""
    types = pa.types
    if fault in _NUMBERS:
        return bool(types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind))
    if fault in _BY_VALUE:
        return bool(types.is_string(kind) or types.is_large_string(kind))
    return bool(types.is_temporal(kind)) if fault == "time_shifted" else True


def _restore_type(array: Any, kind: pa.DataType) -> Any:
    if pa.types.is_dictionary(kind):
        return array.cast(kind.value_type).dictionary_encode().cast(kind)
    if pa.types.is_run_end_encoded(kind):
        return pc.run_end_encode(array.cast(kind.value_type), run_end_type=kind.run_end_type)
    return array if array.type == kind else array.cast(kind)


def _plan(
    labels: Sequence[str], chosen: Sequence[Diagnosis], secret: bytes | None
) -> tuple[_ColumnRepair, list[Diagnosis]]:
    """What is done to the columns with these labels, and the diagnoses of repeated rows."""
    steps = []
    for diagnosis in chosen:
        if diagnosis.fault not in _WHOLE_TABLE:
            for label in diagnosis.columns:
                if label not in labels:
                    raise _make_missing_error(label)
            at = tuple(labels.index(label) for label in diagnosis.columns)
            steps.append(_Step(diagnosis, at, _RowPart(diagnosis.segment, labels, secret)))
    repeated = [each for each in chosen if each.fault == DUPLICATED][:1]
    marked = _RowPart(repeated[0].segment, labels, secret) if repeated and repeated[0].segment else None
    return _ColumnRepair(tuple(steps), marked, len(labels)), repeated


def _rename(labels: Sequence[str], chosen: Sequence[Diagnosis]) -> list[str] | None:
    """The names of the columns before they were renamed; None if none was."""
    names = list(labels)
    for diagnosis in chosen:
        if diagnosis.fault != RENAMED:
            continue
        for old in diagnosis.columns:
            new = str(diagnosis.parameters["name"])
            if new not in names or old in names:
                raise _make_missing_error(new if new not in names else old, old in names)
            names[names.index(new)] = old
    return None if names == list(labels) else names


def _read_copies(diagnosis: Diagnosis) -> int | None:
    return int(diagnosis.parameters["copies"]) if "copies" in diagnosis.parameters else None


def _make_missing_error(label: str, is_there: bool = False) -> MisuseError:
    what = f"there is a column {label!r} already" if is_there else f"there is no column {label!r}"
    return MisuseError(f"{what}, so this is not the batch that was judged.", hint="Pass the batch that was judged.")


# --- frames


def _repair_spark(data: Any, chosen: Sequence[Diagnosis], secret: bytes | None) -> Any:
    from headgate.engine.spark_changes import change_columns, drop_repeated

    fields = data.schema.fields
    labels = unique_labels([field.name for field in fields])
    repair, repeated = _plan(labels, chosen, secret)
    for step in repair.steps:
        _require_equal_types(step, [fields[at].dataType for at in step.at])
    names = _rename(labels, chosen)
    rows = [step.rows for step in repair.steps] + ([] if repair.marked is None else [repair.marked])
    if rows:
        files = any(each.reads_files for each in rows)
        data = change_columns(data, repair, files=files, marks=repair.marked is not None)
    for diagnosis in repeated:
        data = drop_repeated(data, _read_copies(diagnosis), marked=repair.marked is not None)
    return data if names is None else data.toDF(*names)


def _repair_local(data: Any, chosen: Sequence[Diagnosis], secret: bytes | None) -> Any:
    is_lazy = type(data).__module__.startswith("polars.") and hasattr(data, "collect")
    data = data if isinstance(data, pa.RecordBatch) else in_memory(data)
    frame = open_frame(data)
    repair, repeated = _plan(frame.labels, chosen, secret)
    names = _rename(frame.labels, chosen)
    rows = [step.rows for step in repair.steps] + ([] if repair.marked is None else [repair.marked])
    if any(each.reads_files for each in rows):
        raise MisuseError(
            "the rows that are wrong are those of a source file, which only Spark can tell.",
            hint="Pass the Spark DataFrame that was judged.",
        )
    read = set(repair.positions).union(*(each.positions for each in rows))
    columns = [frame.column(at) if at in read else None for at in range(len(frame.labels))]
    for step in repair.steps:
        _require_equal_types(step, [column.type for at in step.at if (column := columns[at]) is not None])
    changed = repair(columns)
    for at in repair.positions:
        data = _set_column(data, at, _join_chunks(changed[at]))
    for diagnosis in repeated:
        mark = None if repair.marked is None else np.asarray(changed[-1])
        data = open_frame(data).take_rows(_find_kept(open_frame(data), _read_copies(diagnosis), mark))
    data = data if names is None else _set_names(data, names)
    return data.lazy() if is_lazy else data


def _join_chunks(column: Any) -> Any:
    """One array of a column that may come in chunks."""
    if isinstance(column, pa.ChunkedArray):
        whole = column.combine_chunks()
        return whole if isinstance(whole, pa.Array) else pa.concat_arrays(column.chunks)
    return column


def _require_equal_types(step: _Step, types: Sequence[Any]) -> None:
    if step.diagnosis.fault == SWAPPED and types[0] != types[1]:
        one, two = step.diagnosis.columns
        raise MisuseError(
            f"{one} and {two} have different types, {types[0]} and {types[1]}, so they cannot be swapped back.",
            hint="Swap them where the batch is made.",
        )


def _set_column(data: Any, at: int, values: pa.Array) -> Any:
    """The frame with other values in a column, which keeps its type in the frame."""
    changed = open_frame(data).with_column(at, values)
    room = type(data).__module__.partition(".")[0]
    if room == "pandas" and changed.dtypes.iloc[at] != data.dtypes.iloc[at]:
        before = data.dtypes.iloc[at]
        changed.isetitem(at, changed.iloc[:, at].astype("category" if before == "category" else before))
    if room == "polars" and changed.dtypes[at] != data.dtypes[at]:
        series = changed.to_series(at)
        return changed.with_columns(series.cast(data.dtypes[at]))
    return changed


def _set_names(data: Any, names: Sequence[str]) -> Any:
    match type(data).__module__.partition(".")[0]:
        case "pandas":
            return data.set_axis(list(names), axis=1)
        case "polars":
            return data.rename(dict(zip(data.columns, names, strict=True)))
    if isinstance(data, pa.RecordBatch):
        return pa.RecordBatch.from_arrays(data.columns, names=list(names))
    return data.rename_columns(list(names))


def _find_kept(frame: LocalFrame, copies: int | None, mark: Mask | None) -> npt.NDArray[np.int64]:
    """The positions of the rows that are left if of equal rows one in so many is kept, or the first alone."""
    arrays = [to_plain(frame.column(at)) for at in range(len(frame.labels))]
    if not arrays or not frame.rows:
        return np.arange(frame.rows)
    first, second = hash_rows([ColumnBatch(array, kind_of(array.type)).words for array in arrays])
    order = np.lexsort((second, first))
    starts = np.ones(len(order), np.bool_)
    starts[1:] = (np.diff(first[order]) != 0) | (np.diff(second[order]) != 0)
    groups = np.cumsum(starts) - 1
    begin = np.flatnonzero(starts)
    places = np.empty(len(order), np.int64)
    places[order] = np.arange(len(order)) - begin[groups]
    counts = np.empty(len(order), np.int64)
    counts[order] = np.bincount(groups)[groups]
    kept = places < (1 if copies is None else np.ceil(counts / copies))
    return np.flatnonzero(kept if mark is None else kept | ~mark)
