"""A batch and all that folds have made of it are freed when the scan lets go of them, without a garbage collection.

A scan of a wide table has hundreds of columns in memory; what waits for the collector fills the worker.
"""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator
from datetime import date, datetime
from decimal import Decimal

import pyarrow as pa
import pytest

from headgate.metrics.base.arrow import kind_of
from headgate.metrics.base.batch import ColumnBatch
from headgate.metrics.base.registry import default_metrics
from headgate.values.schema import Column, Schema

COLUMNS = {
    "few texts": pa.array(["a", "b", None] * 500),
    "other texts": pa.array([f"text {at}" for at in range(3_000)]),
    "long texts": pa.array([f"{at:0>200}" for at in range(3_000)]),
    "bytes": pa.array([b"a", b"b", None] * 500),
    "integers": pa.array([1, 2, None] * 500),
    "numbers": pa.array([0.5, float("nan"), None] * 500),
    "booleans": pa.array([True, False, None] * 500),
    "dates": pa.array([date(2026, 11, 18), None] * 500),
    "timestamps": pa.array([datetime(2026, 11, 18), None] * 500),
    "decimals": pa.array([Decimal("1.25"), None] * 500),
    "wide decimals": pa.array([Decimal("12345678901234567890123456789.5"), None] * 500),
}


@pytest.fixture(autouse=True)
def collector() -> Iterator[None]:
    gc.collect()
    gc.disable()
    yield
    gc.enable()


@pytest.mark.parametrize("name", COLUMNS)
def test_a_batch_is_freed_at_once(name: str) -> None:
    array = COLUMNS[name]
    batch = ColumnBatch(array, kind_of(array.type))
    schema = Schema((Column("c", kind_of(array.type), str(array.type)),))
    states = [each.fold_views([batch]) for each in default_metrics(schema) if each.inputs == ("c",)]
    labels = batch.tally.label(batch.tally.counts.argsort()[:3])
    words = batch.words
    freed = [weakref.ref(batch), weakref.ref(batch.tally)]
    del batch
    assert [each() for each in freed] == [None, None]
    assert states
    assert len(labels) > 0
    assert len(words) == len(array)
