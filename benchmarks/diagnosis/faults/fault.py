"""What a fault is made of: the batch that it is drawn for, what it did, and helpers that all kinds share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

Parameters = dict[str, float | str]
NO_PARAMETERS: Parameters = {}
Segment = tuple[str, str]
"""A column and the value that all rows of the segment have in it, as text."""


class SourceBatch(NamedTuple):
    """A good batch, and the good batches before it by partition, oldest first."""

    table: pa.Table
    earlier: Sequence[tuple[str, pa.Table]] = ()


class Part(NamedTuple):
    """One fault in a batch, with what a right diagnosis says of it. `canonical` is empty for a fault without a name.

    `same_rows` are other segments that consist of exactly the same rows: naming one of them is right as well.
    """

    canonical: str
    columns: tuple[str, ...] = ()
    parameters: Parameters = NO_PARAMETERS
    segment: Segment | None = None
    same_rows: tuple[Segment, ...] = ()


class BrokenBatch(NamedTuple):
    """A batch after a fault, or after the two of a mixture."""

    fault: str
    table: pa.Table
    parts: tuple[Part, ...]


class ColumnChange(NamedTuple):
    """The values of a column after a fault, and the parameters of the fault."""

    values: pa.Array
    parameters: Parameters = NO_PARAMETERS


class ColumnFault(NamedTuple):
    """A fault of the values of one column.

    `fits` says whether a column can have it. `change` gets the values of the rows that it hits; it gives None if it
    changes nothing that counts. A fault that `fits_segments` may hit the rows of one segment alone.
    """

    name: str
    canonical: str
    fits: Callable[[pa.Array], bool]
    change: Callable[[pa.Array, np.random.Generator], ColumnChange | None]
    fits_segments: bool = True


class TableFault(NamedTuple):
    """A fault of several columns, of the rows or of the file."""

    name: str
    canonical: str
    change: Callable[[SourceBatch, np.random.Generator], tuple[pa.Table, Part] | None]


def is_number(values: pa.Array) -> bool:
    return bool(pa.types.is_integer(values.type) or pa.types.is_floating(values.type))


def is_text(values: pa.Array) -> bool:
    return bool(pa.types.is_string(values.type))


def is_time(values: pa.Array) -> bool:
    return bool(pa.types.is_timestamp(values.type) or pa.types.is_date(values.type))


def has_values(values: pa.Array, least: int = 3) -> bool:
    """Whether a column has enough different values that a change of them can be told."""
    return bool(pc.count_distinct(values).as_py() >= least)


def set_column(table: pa.Table, name: str, values: pa.Array) -> pa.Table:
    return table.set_column(table.column_names.index(name), name, values)


def read_column(table: pa.Table, name: str) -> pa.Array:
    """A column as one array."""
    column = table[name].combine_chunks()
    return pa.concat_arrays(column.chunks) if isinstance(column, pa.ChunkedArray) else column


def draw_mask(count: int, share: float, chance: np.random.Generator) -> pa.Array:
    """A mask of a random part of the rows, at least one of them."""
    mask = np.zeros(count, bool)
    mask[chance.permutation(count)[: max(1, round(share * count))]] = True
    return pa.array(mask)


def draw_share(chance: np.random.Generator, low: float, high: float) -> float:
    """A share on a logarithmic scale, with two digits."""
    return float(f"{np.exp(chance.uniform(np.log(low), np.log(high))):.2g}")


def choose(chance: np.random.Generator, options: Sequence[Any]) -> Any:
    return options[int(chance.integers(len(options)))]


def map_texts(values: pa.Array, change: Callable[[str], str]) -> pa.Array:
    return pa.array([None if text is None else change(text) for text in values.to_pylist()], pa.string())


def count_changed(before: pa.Array, after: pa.Array) -> int:
    """In how many rows a column differs; all rows if its type is another."""
    if before.type != after.type or len(before) != len(after):
        return len(before)
    same = pc.fill_null(pc.equal(before, after), False)
    both_null = pc.and_(pc.is_null(before), pc.is_null(after))
    return len(before) - int(pc.sum(pc.or_(same, both_null)).as_py() or 0)
