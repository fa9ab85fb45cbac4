"""Spark, classic and Connect, gives what the local engine gives: every registered metric, every kind of column."""

from __future__ import annotations

from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import DataFrame, SparkSession

import headgate as hg
from headgate.engine.analysis import Analysis
from headgate.metrics.base.metric import Metric
from headgate.metrics.base.registry import metrics
from headgate.metrics.states.distinct import Distinct
from headgate.values.key import MetricKey
from headgate.values.outcome import Measured
from headgate.values.schema import Kind
from tests.spark.agreement import differences
from tests.spark.samples import every_metric, sample, schema_of

WAYS = ("classic, 1 partition", "classic, 7 partitions", "connect", "local in parts", "classic in parts")


@cache
def table() -> pa.Table:
    return sample()


@cache
def asked() -> tuple[Metric[Any], ...]:
    return tuple(every_metric(schema_of(table())))


@cache
def local() -> Analysis:
    return hg.analyze(table(), asked())


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The table as a file that every engine reads for itself."""
    path = Path(tmp_path_factory.mktemp("agree")) / "sample.parquet"
    pq.write_table(table(), path)
    return str(path)


@pytest.fixture(scope="module")
def analyses(spark: SparkSession, connect: Any, stored: str) -> dict[str, Analysis]:
    """The same rows measured in every way, each in one analysis of all metrics."""
    frame: DataFrame = spark.read.parquet(stored)
    return {
        "classic, 1 partition": hg.analyze(frame.coalesce(1), asked()),
        "classic, 7 partitions": hg.analyze(frame.repartition(7), asked()),
        "connect": hg.analyze(connect.read.parquet(stored), asked()),
        "local in parts": _in_local_parts(),
        "classic in parts": hg.analyze(frame.where("id % 3 = 0"), asked())
        + hg.analyze(frame.where("id % 3 > 0"), asked()),
    }


def _in_local_parts() -> Analysis:
    cuts = [0, 0, 1, 700, 701, 2_000, table().num_rows]
    parts = [hg.analyze(table().slice(low, high - low), asked()) for low, high in pairwise(cuts)]
    merged = parts[0]
    for part in parts[1:]:
        merged = merged + part
    return merged


# Each engine hashes the values of nested columns in its own way; tests/spark/test_checksum.py compares plain ones.
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", sorted(metrics().keys() - {"checksum"}))
def test_a_metric_is_the_same_as_on_the_local_engine(analyses: dict[str, Analysis], name: str, way: str) -> None:
    own = [metric for metric in asked() if metric.name == name]
    assert own, f"the sample asks for no {name}"
    assert differences(local(), analyses[way], own) == []


def test_every_kind_that_a_metric_accepts_is_in_the_sample() -> None:
    assert {column.kind for column in schema_of(table()).columns} == set(Kind)


def test_every_metric_has_a_value_somewhere_in_the_sample() -> None:
    measured = {key.name for key, outcome in local().items() if isinstance(outcome, Measured)}
    assert measured == set(metrics()) - {"containment"}  # needs another table: test_verify has it


@pytest.mark.parametrize("way", WAYS)
def test_the_kinds_of_columns_are_the_same_as_on_the_local_engine(analyses: dict[str, Analysis], way: str) -> None:
    assert [(each.label, each.kind) for each in analyses[way].schema.columns] == [
        (each.label, each.kind) for each in local().schema.columns
    ]


@pytest.mark.parametrize("way", WAYS)
def test_sketches_of_distinct_values_are_the_same_bytes(analyses: dict[str, Analysis], way: str) -> None:
    expected = _sketches(local())
    assert len(expected) >= 16
    assert _sketches(analyses[way]) == expected


def _sketches(analysis: Analysis) -> dict[MetricKey, bytes]:
    return {key: state.sketch for key, state in analysis.states.items() if isinstance(state, Distinct)}


@pytest.mark.parametrize("count", [10, 100_000], ids=["few values", "many values"])
def test_spark_reads_our_sketch_and_finds_its_own_values_in_it(spark: SparkSession, count: int) -> None:
    frame = spark.range(count).selectExpr("id * 7 as number", "concat('é-', id) as text")
    analysis = hg.analyze(frame, ["approx_count_distinct(number)", "approx_count_distinct(text)"])
    for column in ("number", "text"):
        state = analysis.states[MetricKey("distinct", (column,))]
        assert isinstance(state, Distinct)
        ours = spark.createDataFrame([(bytearray(state.sketch),)], "ours binary")
        theirs = frame.selectExpr(f"hll_sketch_agg({column}, 12) as theirs")
        alone, together = (
            ours.crossJoin(theirs)
            .selectExpr("hll_sketch_estimate(ours)", "hll_sketch_estimate(hll_union(ours, theirs))")
            .collect()[0]
        )
        assert alone == together == round(state.estimate())
        assert abs(alone - count) <= 0.05 * count
