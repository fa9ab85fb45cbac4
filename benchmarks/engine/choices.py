"""The figures behind decisions 0007 to 0009: each way of doing a thing beside the way that was not taken."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
from datasketches import frequent_strings_sketch, hll_sketch
from pyspark.sql import SparkSession
from pyspark.sql import functions as sf

import headgate as hg
from benchmarks.engine import data
from headgate.metrics.base.batch import ColumnBatch
from headgate.metrics.states.distinct import Distinct
from headgate.metrics.states.frequencies import VALUES, Frequencies
from headgate.values.schema import Kind


def groupings(spark: SparkSession, rows: int, rounds: int) -> dict[str, Any]:
    """Exact uniqueness: hashes folded and merged in the scan's own job, against Spark's groupBy."""
    found = {}
    for name, frame, column in (
        ("every value different (UUID)", spark.read.parquet(str(data.uuids(rows))), "id"),
        ("5,000 different values", spark.read.parquet(str(data.mixed(rows, 40))), "s2"),
    ):
        ways = {
            "folded in the scan": partial(_folded, frame, column),
            "Spark groupBy": partial(_grouped, frame, column),
        }
        found[name] = _alternating(ways, rounds)
    return found


def _folded(frame: Any, column: str) -> None:
    hg.analyze(frame, [hg.Uniqueness(column)]).value(hg.Uniqueness(column))


def _grouped(frame: Any, column: str) -> None:
    counts = frame.where(sf.col(column).isNotNull()).groupBy(column).count()
    counts.agg(sf.sum("count"), sf.count("*"), sf.sum((sf.col("count") == 1).cast("int"))).collect()


def byte_limit(spark: SparkSession, rows: int, rounds: int) -> dict[str, Any]:
    """The scan with Spark's limit on the bytes of an Arrow batch, and without it."""
    from headgate.engine.plan import make_plan
    from headgate.engine.spark import SparkBatch, _run
    from headgate.engine.spark_frame import open_spark
    from headgate.metrics.base.registry import default_metrics

    frame = spark.read.parquet(str(data.mixed(rows, 40)))
    plan = make_plan(schema := open_spark(frame), default_metrics(schema))
    ways = {
        "rows limited by us": lambda: _run(SparkBatch(frame), plan, None),
        "Spark's own batches": lambda: _run(SparkBatch(frame), plan, None, own_batch_sizes=False),
    }
    return {f"{rows:,} rows x 40 columns": _alternating(ways, rounds)}


def sketches(rounds: int) -> dict[str, Any]:
    """One batch of 25,000 strings into a distinct sketch and a frequent-items sketch: nanoseconds a value."""
    rng = np.random.default_rng(7)
    found = {}
    few = pa.array([f"value {at}" for at in range(200)]).take(pa.array(rng.integers(0, 200, 25_000)))
    for name, array in (
        ("every value different (UUID)", data.uuid_strings(rng, 25_000)),
        ("200 different values", few),
    ):
        ways = {
            "distinct, hashed by column": partial(_distinct, array),
            "distinct, datasketches update by value": partial(_updated, array),
            "frequent, Misra-Gries by column": partial(_frequent, array),
            "frequent, datasketches update by distinct value": partial(_weighted, array),
        }
        taken = _alternating(ways, max(rounds, 11))
        found[name] = {way: seconds / 25_000 * 1e9 for way, seconds in taken.items()}
    return found


def _frequent(array: pa.Array) -> Frequencies:
    tally = ColumnBatch(array, Kind.STRING).tally
    return Frequencies.of(tally.counts, tally.label, VALUES)


def _distinct(array: pa.Array) -> Distinct:
    return Distinct.of(ColumnBatch(array, Kind.STRING).tally.hashes, len(array))


def _updated(array: pa.Array) -> Any:
    sketch = hll_sketch(12)
    for value in array.to_pylist():
        sketch.update(value)
    return sketch


def _weighted(array: pa.Array) -> Any:
    sketch = frequent_strings_sketch(10)
    counted = array.value_counts()
    for value, count in zip(counted.field(0).to_pylist(), counted.field(1).to_pylist(), strict=True):
        sketch.update(value, count)
    return sketch


def _alternating(ways: dict[str, Callable[[], Any]], rounds: int) -> dict[str, float]:
    """The median seconds of each way, the ways taken in turn."""
    taken: dict[str, list[float]] = {name: [] for name in ways}
    for at in range(rounds + 1):
        for name, way in ways.items():
            begin = time.perf_counter()
            way()
            if at:
                taken[name].append(time.perf_counter() - begin)
    return {name: statistics.median(each) for name, each in taken.items()}
