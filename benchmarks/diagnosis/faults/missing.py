"""Faults of any column: values are missing, stand for missing ones, are all the same, or have another type."""

from __future__ import annotations

import datetime
from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from benchmarks.diagnosis.faults.fault import (
    ColumnChange,
    ColumnFault,
    choose,
    draw_mask,
    draw_share,
    has_values,
    is_number,
    is_text,
    is_time,
)

NUMBERS = (0, -1, 9999, 999, -9999)
TEXTS = ("N/A", "", "unknown", "-", "NULL", "None")
TIMES = (datetime.datetime(1970, 1, 1), datetime.datetime(1900, 1, 1), datetime.datetime(9999, 12, 31))
LEAST, MOST_BEFORE = 0.03, 0.02  # share of rows that are hit; share of rows that may have the placeholder before


def is_varied(values: pa.Array) -> bool:
    return (is_number(values) or is_text(values) or is_time(values)) and has_values(values)


def has_nulls(values: pa.Array) -> bool:
    return is_varied(values) and values.null_count >= LEAST * len(values)


def empty(values: pa.Array, chance: np.random.Generator) -> ColumnChange | None:
    """Nulls in a part of the rows, or in all of them."""
    share = 1.0 if chance.random() < 0.3 else draw_share(chance, LEAST, 0.9)
    hit = draw_mask(len(values), share, chance)
    return ColumnChange(pc.if_else(hit, pa.scalar(None, values.type), values), {"share": share})


def _draw_placeholder(values: pa.Array, chance: np.random.Generator) -> tuple[pa.Scalar, str] | None:
    """A placeholder that hardly any row has, in the type of the column and as text."""
    options: Sequence[object] = NUMBERS if is_number(values) else TIMES if is_time(values) else TEXTS
    value = choose(chance, options)
    scalar = pa.scalar(value).cast(values.type, safe=False)
    before = pc.sum(pc.equal(values, scalar)).as_py() or 0
    if before > MOST_BEFORE * len(values):
        return None
    return scalar, str(value.date()) if isinstance(value, datetime.datetime) else str(value)


def put_placeholder(values: pa.Array, chance: np.random.Generator) -> ColumnChange | None:
    if (placeholder := _draw_placeholder(values, chance)) is None:
        return None
    share = draw_share(chance, LEAST, 0.9)
    hit = draw_mask(len(values), share, chance)
    return ColumnChange(pc.if_else(hit, placeholder[0], values), {"value": placeholder[1], "share": share})


def fill_nulls(values: pa.Array, chance: np.random.Generator) -> ColumnChange | None:
    """A default where nulls were."""
    if (placeholder := _draw_placeholder(values, chance)) is None:
        return None
    share = round(values.null_count / max(1, len(values)), 6)
    filled = pc.if_else(pc.is_null(values), placeholder[0], values)
    return ColumnChange(filled, {"value": placeholder[1], "share": share})


def make_constant(values: pa.Array, chance: np.random.Generator) -> ColumnChange | None:
    """One value in all rows: one that the column has, or a default."""
    known = values.drop_null()
    placeholder = _draw_placeholder(values, chance)
    own = chance.random() < 0.5 or placeholder is None
    if own and not len(known):
        return None
    value = known[int(chance.integers(len(known)))] if own or placeholder is None else placeholder[0]
    return ColumnChange(pa.repeat(value, len(values)), {"value": str(value.as_py())})


def write_as_text(values: pa.Array, _: np.random.Generator) -> ColumnChange | None:
    return ColumnChange(values.cast(pa.string()))


VALUE_FAULTS = (
    ColumnFault("nulls", "nulls", is_varied, empty),
    ColumnFault("placeholder", "placeholder", is_varied, put_placeholder),
    ColumnFault("default instead of nulls", "placeholder", has_nulls, fill_nulls, fits_segments=False),
    ColumnFault("constant", "constant", is_varied, make_constant, fits_segments=False),
    ColumnFault("numbers as text", "type_changed", is_number, write_as_text, fits_segments=False),
)
