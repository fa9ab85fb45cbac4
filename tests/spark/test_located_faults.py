"""The rows of a fault on Spark: a held batch is one job more, a batch that passes none."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from tests.gate.test_located_faults import DAYS, FAULTS, change, find_rows, fly, get_first, judge, make_batch
from tests.spark.conftest import CountJobs


@pytest.fixture(params=["classic", "connect"])
def session(request: pytest.FixtureRequest, spark: SparkSession, connect: Any) -> Any:
    return spark if request.param == "classic" else connect


def read(session: Any, spark: SparkSession, folder: Path, *tables: pa.Table) -> Any:
    """Tables as the files of a folder, with the time zone that the values are in."""
    for at, table in enumerate(tables):
        zoned = table.set_column(
            table.column_names.index("departure"), "departure", table["departure"].cast(pa.timestamp("us", "UTC"))
        )
        pq.write_table(zoned, folder / f"part-{at}.parquet")
    return session.read.schema(spark.read.parquet(str(folder)).schema).parquet(str(folder))


def test_a_batch_that_passes_is_one_job(session: Any, spark: SparkSession, tmp_path: Path, jobs: CountJobs) -> None:
    data = read(session, spark, tmp_path, fly(DAYS))
    with jobs() as started:
        verdict = judge(data)
    assert verdict.passed
    assert len(started) == 1


def test_a_held_batch_is_two_jobs_and_its_rows_are_named(
    session: Any, spark: SparkSession, tmp_path: Path, jobs: CountJobs
) -> None:
    seed = 20 + (session is spark)
    data = read(session, spark, tmp_path, make_batch(seed))
    with jobs() as started:
        verdict = judge(data)
    assert len(started) == 2
    assert started[1].startswith("headgate: segments of ")
    assert [each.segment for each in verdict.account.diagnoses] == [(("carrier", "EV"),)] * 2


def test_the_source_file_of_a_fault_is_named(session: Any, spark: SparkSession, tmp_path: Path) -> None:
    half = np.arange(len(fly(DAYS))) < len(fly(DAYS)) // 2
    table = change("price", FAULTS["nulls"][1], half)
    rows = int(half.sum()) + (session is spark)  # the batches of the two sessions have different rows
    data = read(session, spark, tmp_path, table.slice(0, int(half.sum())), table.slice(rows))
    found = get_first(judge(data))
    assert [label for label, _ in found.segment] == ["source file"]
    assert found.sentence == "price is empty in all rows of the source file part-0.parquet"


def test_what_spark_finds_is_what_the_local_engine_finds(session: Any, spark: SparkSession, tmp_path: Path) -> None:
    batch = change("city", FAULTS["casing"][1], find_rows("carrier", "DL"))
    near = judge(batch).account.diagnoses
    far = judge(read(session, spark, tmp_path, batch)).account.diagnoses
    assert [(each.segment, each.sentence) for each in far] == [(each.segment, each.sentence) for each in near]
