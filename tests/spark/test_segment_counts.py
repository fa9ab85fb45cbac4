"""Counts by segment on Spark: one job, the same counts as in this process, on classic and on Connect."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from headgate.engine.segment_counts import count_segments
from headgate.engine.segment_plan import SegmentColumn, Target
from headgate.values.errors import EngineError
from tests.engine.test_segment_counts import HOUR, a_table, assert_equal, counts_of
from tests.spark.conftest import CountJobs

FILE, TASK = SegmentColumn(kind="file"), SegmentColumn(kind="task")
TARGETS = (
    Target("distance", edges=(20.0, 50.0)),
    Target("fare", edges=(4.5,)),
    Target("at", edges=(1_794_614_400.0,)),
    Target("page", labels=("Home", "HOME")),
    Target("page", patterns=("[a-z]",)),
    Target("page", edges=(4.5,), of="length"),
)
BY = ("carrier", "gate", "late", "day", HOUR)


@pytest.fixture(params=["classic", "connect"])
def session(request: pytest.FixtureRequest, spark: SparkSession, connect: Any) -> Any:
    return spark if request.param == "classic" else connect


def read(session: Any, spark: SparkSession, folder: Path) -> Any:
    """The files. Connect would infer their schema in a job of its own."""
    return session.read.schema(spark.read.parquet(str(folder)).schema).parquet(str(folder))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The rows as three files."""
    folder = tmp_path_factory.mktemp("flights")
    table = a_table()
    for at in range(3):
        pq.write_table(table.slice(at * 170, 170), folder / f"part-{at}.parquet")
    return folder


def test_one_described_job_counts_what_the_local_engine_counts(
    session: Any, spark: SparkSession, folder: Path, jobs: CountJobs
) -> None:
    data = read(session, spark, folder)
    with jobs() as started:
        counts = count_segments(data, TARGETS, BY, pairs=[("carrier", "late")])
    assert started == ["headgate: segments of 6 columns by 6 others"]
    assert_equal(counts, count_segments(a_table(), TARGETS, BY, pairs=[("carrier", "late")]))


def test_the_source_file_and_the_partition_are_counted_in_the_same_job(
    session: Any, spark: SparkSession, folder: Path, jobs: CountJobs
) -> None:
    data = read(session, spark, folder)
    with jobs() as started:
        counts = count_segments(data, TARGETS[:1], ["carrier"], hidden=True)
    assert len(started) == 1
    names = [str(value).rpartition("/")[2] for (value,) in counts_of(counts, FILE).values]
    assert names == ["part-0.parquet", "part-1.parquet", "part-2.parquet"]
    assert counts_of(counts, FILE).counts[0].sum(1).tolist() == [170, 170, 160]
    assert counts_of(counts, TASK).counts[0].sum() == 500


def test_rows_without_a_file_have_none(session: Any, jobs: CountJobs) -> None:
    data = session.range(0, 100, 1, 4).selectExpr("id % 3 AS kind", "id AS amount")
    with jobs() as started:
        counts = count_segments(data, [Target("amount", edges=(50.0,))], ["kind"], hidden=True)
    assert len(started) == 1
    assert [table.columns for table in counts.tables] == [(), (SegmentColumn("kind"),), (TASK,)]
    assert counts_of(counts, TASK).counts[-1].tolist() == [[25]] * 4
    assert counts.tables[0].counts[0].tolist() == [[50, 50, 0, 0]]


def test_names_that_repeat_or_contain_anything_are_counted_by_position(session: Any) -> None:
    data = session.range(4).selectExpr("id AS `a.b`", "id % 2 AS `x``y`", "id % 2 = 0 AS `a.b`")
    counts = count_segments(data, [Target("a.b", edges=(2.0,))], ["x`y", "a.b#2"])
    assert counts_of(counts, "x`y").counts[0].tolist() == [[1, 1, 0, 0], [1, 1, 0, 0]]
    assert counts_of(counts, "a.b#2").values == (("false",), ("true",))


def test_places_inside_nested_columns_divide_the_rows(session: Any) -> None:
    data = session.range(6).selectExpr("named_struct('city', concat('c', id % 2)) AS address", "id AS amount")
    counts = count_segments(data, [Target("amount", edges=(3.0,))], ["address.city"])
    assert counts_of(counts, "address.city").counts[0].tolist() == [[2, 1, 0, 0], [1, 2, 0, 0]]


def test_counts_without_a_column_count_rows(session: Any) -> None:
    assert count_segments(session.range(0, 10, 1, 2), [], []).rows == 10
    assert count_segments(session.range(0), [], ["id"]).rows == 0


def test_a_column_with_too_many_values_in_all_tasks_is_dropped(session: Any) -> None:
    data = session.range(0, 1_500, 1, 4).selectExpr("id", "id % 2 AS kind")
    counts = count_segments(data, [], ["id", "kind"])
    assert counts.dropped == ((SegmentColumn("id"),),)
    assert counts_of(counts, "kind").counts[0].tolist() == [[750], [750]]


def test_a_batch_that_cannot_be_read_is_an_error_of_the_engine(session: Any) -> None:
    data = session.range(0, 10, 1, 2).where("1 / (id - 5) > -9")
    with pytest.raises(EngineError, match="segments could not be counted"):
        count_segments(data, [], ["id"])


def test_an_adaptive_query_of_the_callers_own_is_counted(session: Any) -> None:
    data = session.range(0, 1_000, 1, 4).selectExpr("id % 10 AS kind", "id").groupBy("kind").sum("id")
    counts = count_segments(data, [], ["kind"], hidden=True)
    assert counts.rows == 10


def test_the_table_of_arrow_and_of_spark_give_one_result(session: Any) -> None:
    table = pa.table({"kind": ["a", None, "ä"], "amount": [1.5, float("nan"), -0.0]})
    data = session.createDataFrame([("a", 1.5), (None, float("nan")), ("ä", -0.0)], "kind string, amount double")
    targets = [Target("amount", edges=(0.0,))]
    assert_equal(count_segments(data, targets, ["kind", "amount"]), count_segments(table, targets, ["kind", "amount"]))
