"""Parts on Spark: all of them from one job, as the local engine has them, and views without any job."""

from __future__ import annotations

import shutil
from datetime import date
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import DataFrame, SparkSession

import headgate as hg
from headgate.engine import spark_groups
from headgate.values.errors import EngineError, MisuseError
from tests.engine.test_parts import EXACT, METRICS, a_table, assert_same
from tests.spark.conftest import CountJobs


@pytest.fixture(params=["classic", "connect"])
def session(request: pytest.FixtureRequest, spark: SparkSession, connect: Any) -> Any:
    return spark if request.param == "classic" else connect


def frame(spark: Any, table: pa.Table, tasks: int = 3) -> DataFrame:
    rows = [tuple(row.values()) for row in table.to_pylist()]
    return spark.createDataFrame(rows, "region string, day bigint, price double, name string").repartition(tasks)


def test_parts_are_those_of_the_local_engine(session: Any) -> None:
    table = a_table(300)
    found = hg.analyze(frame(session, table), [*METRICS, *EXACT], by=["region", "day"])
    local = hg.analyze(table, [*METRICS, *EXACT], by=["region", "day"])
    assert list(found) == list(local)
    for part in local:
        assert_same(found[part], local[part])
    assert_same(found.view(region="EU"), local.view(region="EU"))


def test_all_parts_are_one_job_and_a_view_is_none(session: Any, jobs: CountJobs) -> None:
    data = session.createDataFrame(
        [(at % 50, float(at), f"n{at}") for at in range(1_000)], "day int, price double, name string"
    )
    with jobs() as started:
        parts = hg.analyze(data, ["mean(price)", "uniqueness(name)"], by="day")
    assert len(parts) == 50
    assert started == ["headgate: 2 metrics of 2 columns, by day"]
    with jobs() as started:
        view = parts.view(day=range(25))
        assert (view.value("mean(price)"), view.value("uniqueness(name)")) == (487.0, 1.0)
    assert started == []


def test_keys_are_written_as_the_local_engine_writes_them(session: Any) -> None:
    rows = [(date(2026, 11, 14), True, -7, "x/y", 1.0), (None, None, None, None, 2.0)]
    data = session.createDataFrame(rows, "d date, b boolean, i smallint, s string, v double")
    parts = hg.analyze(data, ["size()"], by=["d", "b", "i", "s"])
    assert list(parts) == [(None, None, None, None), ("2026-11-14", "true", "-7", "x/y")]


def test_odd_names_may_be_keys(session: Any) -> None:
    data = session.createDataFrame([("EU", 1.0), ("US", 2.0)], "`a.b` string, `c``d` double")
    parts = hg.analyze(data, ['mean("c`d")'], by="a.b")
    assert parts.view(**{"a.b": "EU"}).value('mean("c`d")') == 1.0


def test_a_column_that_breaks_the_scan_fails_alone_in_every_part(session: Any) -> None:
    data = session.range(0, 10, 1, 2).selectExpr(
        "IF(id < 5, 'EU', 'US') AS region", "IF(id = 7, raise_error('broken'), 1) AS bad", "1.5D AS good"
    )
    parts = hg.analyze(data, ["mean(good)", "completeness(bad)"], by="region")
    assert parts["EU"].value("mean(good)") == 1.5
    assert isinstance(parts["EU"]["completeness(bad)"], hg.Failed)


def test_a_key_that_has_no_one_text_is_refused(session: Any) -> None:
    with pytest.raises(MisuseError, match="'t' is a timestamp column"):
        hg.analyze(session.sql("SELECT current_timestamp() AS t"), ["size()"], by="t")


def many(session: Any, start: int, day: str) -> DataFrame:
    """Ten thousand rows whose ids all differ, half of them those of the frame that starts 5,000 later."""
    return session.range(start, start + 10_000, 1, 3).selectExpr(
        "concat('id-', id) AS id", "id % 7 AS small", f"'{day}' AS day"
    )


LARGE = ("uniqueness(id)", "count_distinct(id)", "entropy(id)", "mutual_information(id, small)", "uniqueness(small)")


@pytest.fixture
def few_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if ten thousand groups were too many for a driver."""
    monkeypatch.setattr(spark_groups, "_TOO_LARGE", 10)


@pytest.mark.usefixtures("few_kept")
def test_large_groupings_are_kept_as_parquet_and_merged_by_spark(session: Any, jobs: CountJobs, tmp_path: Path) -> None:
    keep = str(tmp_path / "it's kept")
    with jobs() as started:
        one = hg.analyze(many(session, 0, "mon"), [*LARGE, "size()"], by="day", keep=keep)
    assert len(started) == 2
    parts = one + hg.analyze(many(session, 5_000, "tue"), [*LARGE, "size()"], by="day", keep=keep)
    with jobs() as started:
        view = parts.view()
        assert view.value("size()") == 20_000
    assert started == []
    assert "20,000 groups are kept in files; analysis.resolve(spark) merges them" in str(view["uniqueness(id)"])
    with jobs() as started:
        resolved = view.resolve(session)
    assert len(started) <= 2
    together = many(session, 0, "mon").union(many(session, 5_000, "tue"))
    assert_same(resolved, hg.analyze(together, [*LARGE, "size()"]))
    replaced = parts | hg.analyze(many(session, 0, "tue"), [*LARGE, "size()"], by="day", keep=keep)
    assert replaced.view().resolve(session).value("uniqueness(id)") == 0.0
    assert replaced.view(day="tue").resolve(session).value("uniqueness(id)") == 1.0


@pytest.mark.usefixtures("few_kept")
def test_tables_in_files_and_tables_in_states_merge(session: Any, tmp_path: Path) -> None:
    large = hg.analyze(many(session, 0, "mon"), LARGE, keep=str(tmp_path))
    small = hg.analyze(many(session, 9_999, "tue").limit(1), LARGE)
    both = hg.Analysis.from_bytes((large + small).to_bytes()).resolve(session)
    assert both.value("count_distinct(id)") == 10_000
    assert both.value("uniqueness(id)") == pytest.approx(9_999 / 10_001)


def test_an_analysis_with_nothing_in_files_is_resolved_as_it_is(session: Any) -> None:
    analysis = hg.analyze(many(session, 0, "mon"), ["uniqueness(small)"])
    assert analysis.resolve(session) is analysis


@pytest.mark.usefixtures("few_kept")
def test_tables_that_are_gone_are_told(spark: SparkSession, tmp_path: Path) -> None:
    analysis = hg.analyze(many(spark, 0, "mon"), ["uniqueness(id)"], keep=str(tmp_path / "kept"))
    shutil.rmtree(tmp_path / "kept")
    with pytest.raises(EngineError, match=r"kept could not be merged.*analyze those partitions again"):
        analysis.resolve(spark)
