"""What a count of segments reads and gives: targets with their bins, segment columns, and tables of counts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, TypeAlias

import msgspec
import numpy as np
import numpy.typing as npt

from headgate.values.errors import MisuseError, did_you_mean
from headgate.values.schema import ORDERED, Column, Kind, Schema

Counts: TypeAlias = npt.NDArray[np.int64]
Values: TypeAlias = tuple[str | None, ...]

_TITLES = {"file": "source file", "task": "Spark partition"}


class SegmentColumn(msgspec.Struct, frozen=True):
    """What divides the rows into segments: the values of a column, the hours of a timestamp, or where a row came from.

    An hour is text in UTC, such as `2026-11-14 03:00`. `file` and `task` exist only on Spark.
    """

    column: str = ""
    kind: Literal["value", "hour", "file", "task"] = "value"

    @property
    def label(self) -> str:
        return self.column if self.kind == "value" else _TITLES.get(self.kind, f"hour of {self.column}")


class Target(msgspec.Struct, frozen=True):
    """A column and its bins; without a column, one bin for all rows.

    With `edges`, bin `i` holds the numbers from `edges[i - 1]` up to but without `edges[i]`; then follow a bin for
    nulls and one for NaN. Dates and timestamps are seconds since 1970, booleans 0 or 1. With `of="length"` the numbers
    are the lengths of texts in characters.

    With `labels`, bin `i` holds the text `labels[i]`; then follow a bin for other texts and one for nulls. With
    `patterns`, bin `i` holds the texts in which `patterns[i]` is the first of these regular expressions to be found.
    """

    column: str = ""
    edges: tuple[float, ...] = ()
    labels: tuple[str, ...] = ()
    patterns: tuple[str, ...] = ()
    of: Literal["value", "length"] = "value"

    @property
    def null_bin(self) -> int:
        return len(self.labels or self.patterns or self.edges) + 1

    @property
    def bins(self) -> int:
        if not self.column:
            return 1
        return self.null_bin + (1 if self.labels or self.patterns else 2)


class SegmentTable(msgspec.Struct, frozen=True, eq=False):
    """The counts of one segment column or pair. `counts` has an array of values x bins for each target.

    Without columns there is one value, `()`: the whole batch.
    """

    columns: tuple[SegmentColumn, ...]
    values: tuple[Values, ...]
    counts: tuple[Counts, ...]


class SegmentCounts(msgspec.Struct, frozen=True, eq=False):
    """All tables of a scan; the first is that of the whole batch. `dropped` are those with too many values."""

    targets: tuple[Target, ...]
    tables: tuple[SegmentTable, ...]
    dropped: tuple[tuple[SegmentColumn, ...], ...] = ()

    @property
    def rows(self) -> int:
        return int(self.tables[0].counts[0].sum())


class SegmentPlan(msgspec.Struct, frozen=True):
    """What a scan counts: the targets, and the columns of each table. `positions` are the columns that it reads."""

    schema: Schema
    targets: tuple[Target, ...]
    tables: tuple[tuple[SegmentColumn, ...], ...]
    positions: tuple[int, ...]
    unusable: tuple[tuple[SegmentColumn, ...], ...] = ()

    @property
    def columns(self) -> tuple[Column, ...]:
        return tuple(self.schema.columns[at] for at in self.positions)

    @property
    def singles(self) -> tuple[SegmentColumn, ...]:
        """The segment columns whose values are encoded."""
        return tuple(dict.fromkeys(column for columns in self.tables for column in columns if column.kind != "task"))


def plan_segments(
    schema: Schema, targets: Sequence[Target], tables: Iterable[tuple[SegmentColumn, ...]]
) -> SegmentPlan:
    """The plan of a scan. Raises `MisuseError` for a column that the batch does not have."""
    positions = schema.positions()
    every = list(dict.fromkeys([(), *tables]))
    names = [target.column for target in targets] + [each.column for columns in every for each in columns]
    for name in names:
        if name and name not in positions:
            raise MisuseError(f"the batch has no column {name!r};", hint=did_you_mean(name, schema.labels))
    kinds = {column.label: column for column in schema.columns}
    for target in targets:
        if target.column and not _fits(target, kinds[target.column]):
            raise MisuseError(f"{target.column} has no such bins: it is {kinds[target.column].type}.")
    usable = [columns for columns in every if all(_divides(each, kinds) for each in columns)]
    used = {target.column for target in targets} | {each.column for columns in usable for each in columns}
    return SegmentPlan(
        schema,
        tuple(dict.fromkeys([*targets, Target()])),
        tuple(usable),
        tuple(at for name, at in positions.items() if name in used),
        tuple(columns for columns in every if columns not in usable),
    )


def _fits(target: Target, column: Column) -> bool:
    if column.repeated:
        return False
    if column.empty:
        return True
    if target.of == "length":
        return column.kind is Kind.STRING
    texts = bool(target.labels or target.patterns)
    return column.kind not in (Kind.OTHER, Kind.BINARY) if texts else column.kind in ORDERED


def _divides(segment: SegmentColumn, columns: Mapping[str, Column]) -> bool:
    if segment.kind in _TITLES:
        return True
    column = columns[segment.column]
    if column.repeated:
        return False
    return column.kind is Kind.TIMESTAMP if segment.kind == "hour" else column.kind not in (Kind.OTHER, Kind.BINARY)
