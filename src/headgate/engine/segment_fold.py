"""Counts the rows of Arrow batches by segment and bin, and adds the counts of many tasks up."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from headgate.engine.segment_plan import Counts, SegmentColumn, SegmentCounts, SegmentPlan, SegmentTable, Target, Values
from headgate.metrics.base.arrow import to_numbers, to_plain
from headgate.values.schema import Column, Kind

MOST_VALUES = 1_000
"""A column with more values is no segment column: it is dropped from the result."""
MOST_PAIRS = 4_000

_HOUR = 3_600_000_000  # microseconds


class TaskTable(msgspec.Struct, frozen=True):
    """The counts of one table in one task: a row of `counts` for each value. None are the values of a dropped table."""

    slot: int
    values: list[Values] | None
    counts: Counts


class _Codes:
    """The numbers of values in the order in which they are first met."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.numbers: dict[Any, int] = {}
        self.dropped = False

    def encode(self, indices: Counts, values: Sequence[Any]) -> Counts | None:
        """The number of the value of each row; None if there are too many values."""
        if self.dropped or len(values) > self.most:
            self.dropped = True
            return None
        own = np.array([self.numbers.setdefault(value, len(self.numbers)) for value in values], np.int64)
        self.dropped = len(self.numbers) > self.most
        return None if self.dropped else own[indices]


class SegmentFold:
    """Counts batch after batch. The columns of a batch are those of the plan, then the source file if one counts it."""

    def __init__(self, plan: SegmentPlan) -> None:
        self.plan = plan
        self._offsets = np.cumsum([0, *(target.bins for target in plan.targets)])
        self._codes = {column: _Codes(MOST_VALUES) for column in plan.singles}
        self._pairs = {at: _Codes(MOST_PAIRS) for at, columns in enumerate(plan.tables) if len(columns) > 1}
        self._sums = [np.zeros((0, int(self._offsets[-1])), np.int64) for _ in plan.tables]

    def add(self, arrays: Sequence[Any], rows: int) -> None:
        if not rows:
            return
        labels = [column.label for column in self.plan.columns]
        named = {label: to_plain(array) for label, array in zip(labels, arrays, strict=False)}
        if len(arrays) > len(labels):
            named[""] = to_plain(arrays[-1])
        kinds = {column.label: column for column in self.plan.columns}
        bins = [find_bins(target, kinds, named, rows) for target in self.plan.targets]
        codes = {
            column: None if each.dropped else each.encode(*encode_values(named[column.column], column))
            for column, each in self._codes.items()
        }
        for at, columns in enumerate(self.plan.tables):
            numbers = self._number_rows(at, columns, codes, rows)
            if numbers is not None:
                self._count(at, numbers, bins)

    def _number_rows(
        self, at: int, columns: tuple[SegmentColumn, ...], codes: Mapping[SegmentColumn, Any], rows: int
    ) -> Counts | None:
        given = [codes[column] for column in columns if column in codes]
        if any(each is None for each in given):
            return None
        if len(columns) < 2:
            return given[0] if given else np.zeros(rows, np.int64)
        both = pa.array(given[0] * MOST_VALUES + given[1]).dictionary_encode()
        return self._pairs[at].encode(both.indices.to_numpy().astype(np.int64), both.dictionary.to_pylist())

    def _count(self, at: int, numbers: Counts, bins: Sequence[Counts]) -> None:
        size = int(numbers.max()) + 1
        missing = size - len(self._sums[at])
        if missing > 0:
            self._sums[at] = np.pad(self._sums[at], ((0, missing), (0, 0)))
        for target, found, start in zip(self.plan.targets, bins, self._offsets, strict=False):
            counts = np.bincount(numbers * target.bins + found, minlength=size * target.bins)
            self._sums[at][:size, start : start + target.bins] += counts.reshape(size, target.bins)

    def tables(self, task: str | None = None) -> list[TaskTable]:
        """The counts of all batches; `task` is the value of the Spark partition."""
        return [TaskTable(at, *self._read_table(at, columns, task)) for at, columns in enumerate(self.plan.tables)]

    def _read_table(
        self, at: int, columns: tuple[SegmentColumn, ...], task: str | None
    ) -> tuple[list[Values] | None, Counts]:
        sums = self._sums[at]
        if any(column in self._codes and self._codes[column].dropped for column in columns):
            return None, sums[:0]
        if len(columns) > 1:
            if self._pairs[at].dropped:
                return None, sums[:0]
            first, second = (list(self._codes[column].numbers) for column in columns)
            both = (divmod(number, MOST_VALUES) for number in self._pairs[at].numbers)
            return [(first[one], second[other]) for one, other in both], sums
        if columns and columns[0].kind == "task":
            return [(task,)], self._sums[0]
        return [(value,) for value in self._codes[columns[0]].numbers] if columns else [()], sums


def encode_values(array: pa.Array, column: SegmentColumn) -> tuple[Counts, list[str | None]]:
    """The place of each row's value among the different values, and these as texts."""
    if column.kind == "hour":
        moments = to_numbers(array.fill_null(0), Kind.TIMESTAMP)[0]
        array = pa.array(moments // _HOUR * _HOUR, pa.int64(), mask=np.asarray(array.is_null()))
    elif pa.types.is_timestamp(array.type):
        moments = to_numbers(array.fill_null(0), Kind.TIMESTAMP)[0]
        array = pa.array(moments, pa.int64(), mask=np.asarray(array.is_null())).cast(pa.timestamp("us"))
    elif pa.types.is_null(array.type):
        array = array.cast(pa.string())
    encoded = array.dictionary_encode(null_encoding="encode")
    values = encoded.dictionary
    if column.kind == "hour":
        moments = values.cast(pa.timestamp("us")).to_pylist()
        return encoded.indices.to_numpy().astype(np.int64), [
            None if each is None else each.strftime("%Y-%m-%d %H:00") for each in moments
        ]
    return encoded.indices.to_numpy().astype(np.int64), values.cast(pa.string()).to_pylist()


def find_bins(target: Target, columns: Mapping[str, Column], arrays: Mapping[str, pa.Array], rows: int) -> Counts:
    """The bin of each row."""
    if not target.column:
        return np.zeros(rows, np.int64)
    array, kind = arrays[target.column], columns[target.column].kind
    found = np.full(rows, target.null_bin, np.int64)
    there = np.asarray(array.is_valid())
    valid = array.drop_null()
    if not len(valid):
        return found
    if target.labels or target.patterns:
        texts = valid.cast(pa.string()) if not pa.types.is_large_string(valid.type) else valid
        found[there] = _find_text_bins(target, texts)
        return found
    if target.of == "length":
        valid, kind = pc.utf8_length(valid).cast(pa.int64()), Kind.INTEGER
    numbers, scale = to_numbers(valid, kind)
    values = numbers / scale
    places = np.searchsorted(np.array(target.edges), values, "right")
    found[there] = np.where(np.isnan(values), target.null_bin + 1, places)
    return found


def _find_text_bins(target: Target, texts: pa.Array) -> Counts:
    if target.labels:
        known = pa.array(target.labels, texts.type)
        return np.asarray(pc.fill_null(pc.index_in(texts, value_set=known), len(target.labels)), np.int64)
    found = np.full(len(texts), len(target.patterns), np.int64)
    for at, pattern in reversed(list(enumerate(target.patterns))):
        found[np.asarray(pc.match_substring_regex(texts, pattern))] = at
    return found


def merge_tables(plan: SegmentPlan, tasks: Iterable[Sequence[TaskTable]]) -> SegmentCounts:
    """The sum of the tables of all tasks, with their values in order."""
    found: list[list[TaskTable]] = [[] for _ in plan.tables]
    for task in tasks:
        for table in task:
            found[table.slot].append(table)
    merged = [_merge_parts(plan, columns, parts) for columns, parts in zip(plan.tables, found, strict=True)]
    dropped = [columns for columns, table in zip(plan.tables, merged, strict=True) if table is None]
    return SegmentCounts(
        plan.targets, tuple(table for table in merged if table is not None), (*plan.unusable, *dropped)
    )


def _merge_parts(
    plan: SegmentPlan, columns: tuple[SegmentColumn, ...], parts: Sequence[TaskTable]
) -> SegmentTable | None:
    values: set[Values] = set() if columns else {()}
    for part in parts:
        if part.values is None:
            return None
        values.update(part.values)
    if len(values) > (MOST_VALUES if len(columns) < 2 else MOST_PAIRS):
        return None
    order = sorted(values, key=lambda names: [(name is not None, name or "") for name in names])
    places = {names: at for at, names in enumerate(order)}
    ends = np.cumsum([target.bins for target in plan.targets])
    sums = np.zeros((len(order), int(ends[-1])), np.int64)
    for part in parts:
        if part.values and len(part.counts):
            sums[[places[names] for names in part.values]] += part.counts
    return SegmentTable(columns, tuple(order), tuple(np.split(sums, ends[:-1], axis=1)))
