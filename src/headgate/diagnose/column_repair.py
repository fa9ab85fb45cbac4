"""Undoes faults in the columns of one batch, whatever frame it comes from."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from headgate.diagnose.fault import faults
from headgate.diagnose.repairable import BY_VALUE, DUPLICATED, RENAMED, WHOLE_TABLE, describe_repair
from headgate.engine.segment_fold import encode_values
from headgate.engine.segment_plan import SegmentColumn
from headgate.metrics.base.arrow import to_plain
from headgate.metrics.base.hashing import hash_label
from headgate.values.diagnosis import Diagnosis
from headgate.values.errors import MisuseError
from headgate.values.expectation import Segment

Mask = npt.NDArray[np.bool_]

SWAPPED = "columns_swapped"
_NUMBERS = frozenset({"scaled", "shifted", "sign_flipped", "unit_with_offset"})
_HOUR, _FILE = "hour of ", "source file"


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


class RowPart:
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
class RepairStep:
    """One fault to undo in the columns at some positions."""

    diagnosis: Diagnosis
    at: tuple[int, ...]
    rows: RowPart


@dataclass(frozen=True)
class ColumnRepair:
    """Undoes faults in the columns of a batch, on Spark in each task. `marked` are rows whose copies are dropped."""

    steps: tuple[RepairStep, ...]
    marked: RowPart | None = None
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
    if fault in BY_VALUE:
        return bool(types.is_string(kind) or types.is_large_string(kind))
    return bool(types.is_temporal(kind)) if fault == "time_shifted" else True


def _restore_type(array: Any, kind: pa.DataType) -> Any:
    if pa.types.is_dictionary(kind):
        return array.cast(kind.value_type).dictionary_encode().cast(kind)
    if pa.types.is_run_end_encoded(kind):
        return pc.run_end_encode(array.cast(kind.value_type), run_end_type=kind.run_end_type)
    return array if array.type == kind else array.cast(kind)


def plan_repair(
    labels: Sequence[str], chosen: Sequence[Diagnosis], secret: bytes | None
) -> tuple[ColumnRepair, list[Diagnosis]]:
    """What is done to the columns with these labels, and the diagnoses of repeated rows."""
    steps = []
    for diagnosis in chosen:
        if diagnosis.fault not in WHOLE_TABLE:
            for label in diagnosis.columns:
                if label not in labels:
                    raise _make_missing_error(label)
            at = tuple(labels.index(label) for label in diagnosis.columns)
            steps.append(RepairStep(diagnosis, at, RowPart(diagnosis.segment, labels, secret)))
    repeated = [each for each in chosen if each.fault == DUPLICATED][:1]
    marked = RowPart(repeated[0].segment, labels, secret) if repeated and repeated[0].segment else None
    return ColumnRepair(tuple(steps), marked, len(labels)), repeated


def restore_names(labels: Sequence[str], chosen: Sequence[Diagnosis]) -> list[str] | None:
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


def read_copies(diagnosis: Diagnosis) -> int | None:
    return int(diagnosis.parameters["copies"]) if "copies" in diagnosis.parameters else None


def _make_missing_error(label: str, is_there: bool = False) -> MisuseError:
    what = f"there is a column {label!r} already" if is_there else f"there is no column {label!r}"
    return MisuseError(f"{what}, so this is not the batch that was judged.", hint="Pass the batch that was judged.")
