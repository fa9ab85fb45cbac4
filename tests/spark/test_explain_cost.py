"""What a scan on Spark will cost: no job runs for it, and it says how the rows are read."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import headgate as hg
from headgate.engine.explain_cost import ASSUMED_ROWS
from tests.spark.conftest import CountJobs
from tests.spark.samples import sample

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture(scope="module")
def written(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("cost") / "sample"
    spark.createDataFrame(sample(500)).repartition(3).write.parquet(str(folder))
    return folder


@pytest.mark.parametrize(
    ("query", "words"),
    [
        (lambda frame: frame.where("whole > 500"), "tasks read 3 files: "),
        (
            lambda frame: frame.selectExpr("id + 1 AS next", "word"),
            "rows from Spark, because Spark computes the column",
        ),
        (lambda frame: frame.groupBy("word").count(), "rows from Spark, because the query is no plain scan of files"),
    ],
)
def test_no_job_runs(spark: SparkSession, written: Path, jobs: CountJobs, query: Any, words: str) -> None:
    frame = query(spark.read.parquet(str(written)))
    with jobs() as started:
        estimate = hg.explain_cost(frame)
        text = str(estimate)
    assert started == []
    assert (estimate.rows, estimate.knows_rows) == (ASSUMED_ROWS, False)
    assert f"Reading: {words}" in text
    assert set(estimate.by_column()) >= set(frame.columns[:1])


def test_connect_says_that_spark_reads_the_rows(connect: Any, written: Path, jobs: CountJobs) -> None:
    frame = connect.read.parquet(str(written))
    assert frame.columns
    with jobs() as started:
        assert "rows from Spark, because Spark Connect does not show which files" in str(hg.explain_cost(frame))
    assert started == []


def test_rows_from_spark_cost_more_than_files_that_tasks_read(spark: SparkSession, written: Path) -> None:
    frame = spark.read.parquet(str(written)).select("id", "double", "word")
    files, rows = hg.explain_cost(frame), hg.explain_cost(frame.limit(10))
    assert files.seconds < rows.seconds
    assert "ns a text; tasks that read files: " in rows.reading
    assert "(job)" in {item.work for item in files.items}
