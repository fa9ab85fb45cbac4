"""A table with every kind of column and the odd values of each, and every registered metric that it can have."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

import msgspec
import numpy as np
import pyarrow as pa

from headgate.engine.local import open_local
from headgate.metrics.base.metric import ColumnMetric, GroupMetric, Metric, PairMetric, PredicateMetric, SchemaMetric
from headgate.metrics.base.registry import metrics
from headgate.values.schema import Schema

ROWS = 3_000
SEED = 20
FILTER = "whole > 500"

_INPUTS = {"column", "columns", "left", "right", "where", "predicate"}
_EXAMPLES = {str: "[a-c]1", int: 5, float: 0.9, bool: True}


def sample(rows: int = ROWS) -> pa.Table:
    """Nulls in every column; NaN, infinities and both zeros; empty and foreign text; crowded and unique columns."""
    random = np.random.default_rng(SEED)
    epoch = datetime(2020, 1, 1, tzinfo=UTC)
    ordinal = np.arange(rows)
    odd = [float("nan"), float("inf"), float("-inf"), -0.0, 0.0]
    doubles = [odd[at % 5] if at % 11 == 0 else float(value) for at, value in enumerate(random.lognormal(size=rows))]
    words = ["", "abc", "a1", "Ünïcode", "日本語", "🚰 gate", "b 1", "2026-11-15", "12.5", "true", "\t"]
    moments = [
        epoch + timedelta(seconds=int(each), microseconds=int(each) % 7) for each in random.integers(0, 10**8, rows)
    ]
    columns: dict[str, pa.Array] = {
        "id": pa.array(ordinal, pa.int64()),  # without nulls, so that the parts of the table can be told apart
        "tiny": _with_gaps((ordinal % 100).tolist(), pa.int8()),
        "small": _with_gaps((ordinal % 9_999).tolist(), pa.int16()),
        "whole": _with_gaps(random.integers(0, 1_000, rows).tolist(), pa.int32()),
        "wide": _with_gaps((random.integers(0, 2**62, rows)).tolist(), pa.int64()),
        "single": _with_gaps(doubles, pa.float32()),
        "double": _with_gaps(doubles, pa.float64()),
        "price": _with_gaps(
            [Decimal(int(each)) / 100 for each in random.integers(0, 10**6, rows)], pa.decimal128(10, 2)
        ),
        "amount": _with_gaps(
            [_long_decimal(int(each)) for each in random.integers(0, 10**9, rows)], pa.decimal128(38, 18)
        ),
        "flag": _with_gaps((ordinal % 3 == 0).tolist(), pa.bool_()),
        "word": _with_gaps([words[at % len(words)] for at in ordinal], pa.string()),
        "code": _with_gaps([f"é{at:05d}-{at % 17:x}" for at in ordinal], pa.string()),
        "day": _with_gaps([date(1999, 12, 31) + timedelta(days=int(at) % 900) for at in ordinal], pa.date32()),
        "moment": _with_gaps(moments, pa.timestamp("us", "UTC")),
        "wall": _with_gaps([each.replace(tzinfo=None) for each in moments], pa.timestamp("us")),
        "raw": _with_gaps([bytes([at % 256, 255, 0]) if at % 5 else b"" for at in ordinal], pa.binary()),
        "many": _with_gaps([[at, None] if at % 3 else [] for at in ordinal.tolist()], pa.list_(pa.int32())),
        "pair": _with_gaps([{"x": at, "y": str(at)} for at in ordinal.tolist()], _PAIR),
        "by_name": _with_gaps([[("k", at)] for at in ordinal.tolist()], pa.map_(pa.string(), pa.int64())),
        "absent": pa.nulls(rows, pa.string()),
    }
    return pa.table(columns)


_PAIR = pa.struct([("x", pa.int64()), ("y", pa.string())])


def _with_gaps(values: list[Any], kind: pa.DataType) -> pa.Array:
    """The values with a null in every thirteenth place, which is another row for every column."""
    shift = len(str(kind))
    return pa.array([None if (at + shift) % 13 == 0 else value for at, value in enumerate(values)], kind)


def _long_decimal(value: int) -> Decimal:
    return Decimal(value).scaleb(-18) + value * 10**9


def every_metric(schema: Schema) -> list[Metric[Any]]:
    """Each registered metric on each column that it accepts; pairs and groups with the next such column."""
    return [metric for kind in metrics().values() for metric in _all_of(kind, schema)]


def _all_of(kind: type[Metric[Any]], schema: Schema) -> Iterator[Metric[Any]]:
    given = _required(kind)
    labels = [column.label for column in schema.columns if column.kind in kind.accepts]
    if issubclass(kind, SchemaMetric):
        yield kind(**given, **({"column": "word"} if "column" in kind.__struct_fields__ else {}))
    elif issubclass(kind, PredicateMetric):
        yield kind("single > 0.5 or word = ''", **given)
        yield kind("double > 0.5", where=FILTER, **given)
    elif issubclass(kind, ColumnMetric):
        yield from (kind(label, **given) for label in labels)
        yield from (kind(label, where=FILTER, **given) for label in labels[:3])
    elif issubclass(kind, PairMetric):
        yield from (kind(left, right, **given) for left, right in _ring(labels))
        yield kind(*labels[:2], where=FILTER, **given)
    elif issubclass(kind, GroupMetric):
        if kind.least == 1:
            yield from (kind(label, **given) for label in labels)
        yield from (kind([left, right], **given) for left, right in _ring(labels))
        yield kind(labels[:3], where=FILTER, **given)
    else:
        yield kind(**given)
        yield kind(where=FILTER, **given)


def _required(kind: type[Metric[Any]]) -> dict[str, Any]:
    """A plausible value for each parameter without a default."""
    fields = msgspec.structs.fields(kind)
    return {each.name: _EXAMPLES[each.type] for each in fields if each.required and each.name not in _INPUTS}


def _ring(labels: list[str]) -> Iterator[tuple[str, str]]:
    return zip(labels, [*labels[1:], *labels[:1]], strict=True)


def schema_of(table: pa.Table) -> Schema:
    batch = open_local(table)
    assert batch is not None
    return batch.schema
