"""Columns to break: one of each kind, and columns as lists that can be compared whatever is in them."""

from __future__ import annotations

import datetime
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa

from headgate.metrics.base.arrow import kind_of, to_plain
from headgate.values.schema import Kind

WORDS = ("Mississippi", "eu-west-1", "Order No 17", "naïve café", "中文字符", "a\u0301e\u0301", "🙂👍 ok", "")


def column(kind: Kind, rows: int = 400, nulls: bool = True) -> pa.Array:
    """A column of so many rows, every fifth of them null."""
    rng = np.random.default_rng(rows)
    whole = rng.integers(10, 1000, rows).tolist()
    made: dict[Kind, Any] = {
        Kind.INTEGER: pa.array(whole, pa.int32()),
        Kind.FLOAT: pa.array([each / 8 for each in whole]),
        Kind.DECIMAL: pa.array([Decimal(each) / 100 for each in whole], pa.decimal128(9, 2)),
        Kind.BOOLEAN: pa.array([each % 3 == 0 for each in whole]),
        Kind.STRING: pa.array([f"{WORDS[each % 3]} {each}" for each in whole]),
        Kind.DATE: pa.array([datetime.date(2026, 1, 1) + datetime.timedelta(each) for each in whole]),
        Kind.TIMESTAMP: pa.array([datetime.datetime(2026, 1, 1) + datetime.timedelta(each) for each in whole]),
        Kind.BINARY: pa.array([str(each).encode() for each in whole]),
        Kind.OTHER: pa.array([[each] for each in whole]),
    }
    places = pa.array(np.arange(rows), mask=np.arange(rows) % 5 == 4) if nulls else pa.array(np.arange(rows))
    return made[kind].take(places)


def listed(array: pa.Array) -> list[Any]:
    """Values that compare: bytes for text that may be no UTF-8, counts for moments that Python has not, NaN as text."""
    flat = to_plain(array)
    match kind_of(flat.type):
        case Kind.STRING:
            flat = flat.cast(pa.large_binary())
        case Kind.DATE:
            flat = flat.view(pa.int32() if pa.types.is_date32(flat.type) else pa.int64())
        case Kind.TIMESTAMP:
            flat = flat.view(pa.int64())
    return [str(each) if each != each else each for each in flat.to_pylist()]


def changed(before: pa.Array, after: pa.Array) -> int:
    """In how many rows the two differ."""
    return sum(one != other for one, other in zip(listed(before), listed(after), strict=True))
