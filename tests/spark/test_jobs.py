"""What an analysis asks of a Spark session: one job that says whose it is, and nothing left behind."""

from __future__ import annotations

from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

import headgate as hg
from headgate.engine.plan import make_plan
from headgate.engine.spark import batch_settings
from headgate.values.errors import EngineError
from headgate.values.outcome import Measured
from headgate.values.schema import Schema
from tests.spark.conftest import CountJobs

COLUMNS = 40
ADAPTIVE = "spark.sql.adaptive.enabled"
ROWS_AT_ONCE = "spark.sql.execution.arrow.maxRecordsPerBatch"
DESCRIPTION = "spark.job.description"
OF_NUMBERS = ("completeness", "mean", "max", "approx_count_distinct", "median")
OF_TEXTS = ("completeness", "str_len", "pattern_distribution", "approx_count_distinct", "index_of_peculiarity")


def wide(session: SparkSession) -> DataFrame:
    """Twenty columns of numbers and twenty of text."""
    numbers = [f"(id * {at + 1}) % 1000 as n{at}" for at in range(COLUMNS // 2)]
    texts = [f"concat('v-', (id + {at}) % 97) as s{at}" for at in range(COLUMNS // 2)]
    return session.range(0, 2_000, 1, 4).selectExpr(*numbers, *texts)


def scan_metrics() -> list[str]:
    numbers = [f"{name}(n{at})" for at in range(COLUMNS // 2) for name in OF_NUMBERS]
    return numbers + [f"{name}(s{at})" for at in range(COLUMNS // 2) for name in OF_TEXTS]


def grouping_metrics() -> list[str]:
    return ["uniqueness(n0)", "uniqueness(n0, s1)", "entropy(s2)", "mutual_information(n1, s3)"]


@pytest.fixture(params=["classic", "connect"])
def session(request: pytest.FixtureRequest, spark: SparkSession, connect: Any) -> Any:
    return spark if request.param == "classic" else connect


def measured(analysis: hg.Analysis) -> int:
    return sum(isinstance(outcome, Measured) for outcome in analysis.values())


def test_two_hundred_scan_metrics_over_forty_columns_are_one_described_job(session: Any, jobs: CountJobs) -> None:
    with jobs() as started:
        analysis = hg.analyze(wide(session), scan_metrics())
    assert len(analysis) == measured(analysis) == 200
    assert started == ["headgate: 200 metrics of 40 columns"]


def test_groupings_are_folded_into_the_same_job(session: Any, jobs: CountJobs) -> None:
    asked = [*grouping_metrics(), *scan_metrics()[:20], 'mean(n0) where "n1 > 5"', 'compliance(predicate="n2 < 500")']
    with jobs() as started:
        analysis = hg.analyze(wide(session), asked)
    assert measured(analysis) == len(asked)
    assert len(started) == 1


def test_a_frame_with_a_shuffle_of_its_own_is_measured(session: Any, jobs: CountJobs) -> None:
    frame = session.range(0, 1_000, 1, 4).selectExpr("id % 10 as key", "id").groupBy("key").sum("id")
    with jobs() as started:
        analysis = hg.analyze(frame, ["size()", 'sum("sum(id)")', "uniqueness(key)"])
    assert [analysis.value(key) for key in analysis] == [10.0, 499_500.0, 1.0]
    assert all(text.startswith("headgate: ") for text in started)


def broken(session: SparkSession) -> DataFrame:
    """A frame that cannot be read to its end: division by zero is an error under ANSI."""
    return session.range(0, 10, 1, 2).where("1 / (id - 5) > -9")


each_end = pytest.mark.parametrize("breaks", [False, True], ids=["after a scan", "after a scan that broke"])


@each_end
def test_settings_are_as_before_whether_the_caller_made_them_or_not(session: Any, breaks: bool) -> None:
    names = [ADAPTIVE, DESCRIPTION, *batch_settings(make_plan(Schema(), ["size()"]))]
    session.conf.set(ROWS_AT_ONCE, "777")
    try:
        before = {name: session.conf.get(name, None) for name in names}
        analyze_perhaps_broken(session, breaks)
        assert {name: session.conf.get(name, None) for name in names} == before
        assert before[ROWS_AT_ONCE] == "777"
        assert before[ADAPTIVE] is before[DESCRIPTION] is None
    finally:
        session.conf.unset(ROWS_AT_ONCE)


@each_end
def test_adaptive_execution_that_the_caller_switched_on_stays_on(spark: SparkSession, breaks: bool) -> None:
    spark.conf.set(ADAPTIVE, "true")
    try:
        analyze_perhaps_broken(spark, breaks)
        assert spark.conf.get(ADAPTIVE) == "true"
    finally:
        spark.conf.unset(ADAPTIVE)


@each_end
def test_the_callers_job_group_and_description_are_as_before(spark: SparkSession, breaks: bool) -> None:
    context = spark.sparkContext
    context.setJobGroup("theirs", "their work")
    try:
        analyze_perhaps_broken(spark, breaks, progress=lambda _: None)
        assert context.getLocalProperty("spark.jobGroup.id") == "theirs"
        assert context.getLocalProperty(DESCRIPTION) == "their work"
    finally:
        context.setLocalProperty("spark.jobGroup.id", None)
        context.setLocalProperty(DESCRIPTION, None)


def analyze_perhaps_broken(session: Any, breaks: bool, progress: Any = None) -> None:
    if not breaks:
        hg.analyze(session.range(5), ["size()"], progress=progress)
        return
    with pytest.raises(EngineError):
        hg.analyze(broken(session), ["completeness(id)"], progress=progress)
