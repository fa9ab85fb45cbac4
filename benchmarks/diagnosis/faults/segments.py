"""Segments: the rows in which a column of few values has one of them."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from benchmarks.diagnosis.faults.fault import Segment, choose, is_text, read_column

FEWEST, MOST = 2, 40  # values of a column that segments are made of
LEAST_SHARE, LARGEST_SHARE, LEAST_ROWS = 0.03, 0.6, 5


class SegmentRows(NamedTuple):
    """A segment, its rows as a mask, and the other segments of the same rows."""

    segment: Segment
    rows: pa.Array
    same_rows: tuple[Segment, ...]


def draw_segment(table: pa.Table, without: Collection[str], chance: np.random.Generator) -> SegmentRows | None:
    """A segment of 3% to 60% of the rows by a column that is not one of these; None if there is none."""
    columns = [name for name in table.column_names if name not in without and _has_few_values(table, name)]
    for at in chance.permutation(len(columns)):
        column = read_column(table, columns[int(at)])
        values = list(_list_frequent(column))
        if values:
            value = choose(chance, values)
            return _make_segment(table, columns[int(at)], value, columns)
    return None


def _has_few_values(table: pa.Table, name: str) -> bool:
    column = read_column(table, name)
    named = is_text(column) or pa.types.is_integer(column.type)
    return bool(named and FEWEST <= pc.count_distinct(column).as_py() <= MOST)


def _list_frequent(column: pa.Array) -> Iterator[object]:
    for each in pc.value_counts(column.drop_null()).to_pylist():
        if each["counts"] >= LEAST_ROWS and LEAST_SHARE <= each["counts"] / len(column) <= LARGEST_SHARE:
            yield each["values"]


def _make_segment(table: pa.Table, name: str, value: object, columns: Collection[str]) -> SegmentRows:
    rows = _select(read_column(table, name), value)
    first = pc.index(rows, True).as_py()
    same = []
    for other in columns:
        candidate = table[other][first].as_py()
        if other != name and candidate is not None and _select(read_column(table, other), candidate).equals(rows):
            same.append((other, str(candidate)))
    return SegmentRows((name, str(value)), rows, tuple(same))


def _select(column: pa.Array, value: object) -> pa.Array:
    return pc.fill_null(pc.equal(column, pa.scalar(value, column.type)), False)
