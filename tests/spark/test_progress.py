"""While a scan runs, the caller hears how many of its tasks are done."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import DataFrame, SparkSession

import headgate as hg

TASKS = 6


def slowly(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """A task that lasts long enough to be seen running."""
    import time

    time.sleep(0.4)
    yield from batches


def slow(session: Any, tasks: int = TASKS) -> DataFrame:
    frame: DataFrame = session.range(0, 60, 1, tasks).mapInArrow(slowly, "id bigint")
    return frame


def heard(frame: DataFrame) -> list[hg.Progress]:
    steps: list[hg.Progress] = []
    assert hg.analyze(frame, ["size()"], progress=steps.append).value("size()") == 60.0
    return steps


def heard_from(session: Any) -> list[hg.Progress]:
    """What a scan says. A Connect server reports every two seconds: it may be done before the first report, or have no
    task done at it. Then more tasks follow."""
    scans = (heard(slow(session, factor * TASKS)) for factor in (1, 1, 2, 4, 8))
    return next((steps for steps in scans if any(step.done for step in steps)), [])


def assert_possible(steps: list[hg.Progress]) -> None:
    assert steps
    assert all(0 <= step.done <= step.total for step in steps)
    assert [step.done for step in steps] == sorted(step.done for step in steps)
    assert steps[-1].total >= TASKS


def test_a_classic_session_is_polled_until_all_is_done(spark: SparkSession) -> None:
    steps = heard(slow(spark))
    assert_possible(steps)
    assert steps[-1].done == steps[-1].total
    assert any(0 < step.done < step.total for step in steps)


def test_a_second_scan_under_the_callers_job_group_counts_only_its_own_tasks(spark: SparkSession) -> None:
    spark.sparkContext.setJobGroup("theirs", "their work")
    try:
        first, second = heard(slow(spark)), heard(slow(spark))
    finally:
        spark.sparkContext.setLocalProperty("spark.jobGroup.id", None)
        spark.sparkContext.setLocalProperty("spark.job.description", None)
    assert first[-1] == second[-1]


def test_a_connect_session_reports_what_its_server_says(connect: Any) -> None:
    steps = heard_from(connect)
    assert_possible(steps)
    assert any(step.done for step in steps)


def test_a_callback_is_not_called_after_the_scan(connect: Any) -> None:
    steps = heard(slow(connect))
    before = len(steps)
    connect.range(0, 10, 1, 4).mapInArrow(slowly, "id bigint").collect()
    assert len(steps) == before


@pytest.mark.parametrize("kind", ["spark", "connect"])
def test_an_error_of_the_callback_does_not_lose_the_scan(request: pytest.FixtureRequest, kind: str) -> None:
    session = request.getfixturevalue(kind)

    def broken(_: hg.Progress) -> None:
        raise RuntimeError("no terminal")

    assert hg.analyze(session.range(10), ["size()"], progress=broken).value("size()") == 10.0


@pytest.mark.parametrize("kind", ["spark", "connect"])
def test_the_stage_is_told_and_by_a_server_the_bytes(request: pytest.FixtureRequest, kind: str) -> None:
    steps = heard_from(request.getfixturevalue(kind))
    assert all(re.fullmatch(r"stage \d+ of \d+", step.stage) for step in steps)
    assert {step.rows for step in steps} == {None}
    assert all((step.bytes is not None) == (kind == "connect") for step in steps)
