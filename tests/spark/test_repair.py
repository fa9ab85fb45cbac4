"""Faults are undone in a DataFrame, classic or Connect, without a job until the result is used."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from headgate.diagnose.repair import repair_batch
from headgate.values.diagnosis import Diagnosis
from headgate.values.errors import MisuseError
from tests.cli.commands.test_repair import BAD, DAYS, DONE, assert_original, make_month, stage
from tests.cli.commands.test_repair import CONFIG as FOLDERS
from tests.cli.lake import called, document
from tests.diagnose.test_repair import CASES, NAMES, assert_equal, find_share, inject, make_table, set_column
from tests.gate.orders import dearer, orders
from tests.spark.conftest import CountJobs

SCALED = Diagnosis("scaled", "", ("price",), {"factor": 100.0})


@pytest.fixture(params=["classic", "connect"])
def session(request: pytest.FixtureRequest, spark: SparkSession, connect: Any) -> Any:
    return spark if request.param == "classic" else connect


class Lake:
    """Tables as Parquet files, read as they are without a job."""

    def __init__(self, folder: Path, session: Any, spark: SparkSession) -> None:
        self.folder, self.session, self.spark = folder, session, spark

    def open(self, *files: pa.Table) -> Any:
        for at, table in enumerate(files):
            pq.write_table(table, self.folder / f"part-{at}.parquet")
        schema = self.spark.read.parquet(str(self.folder)).schema  # which Connect would infer in a job of its own
        return self.session.read.schema(schema).parquet(str(self.folder))


@pytest.fixture
def lake(tmp_path: Path, session: Any, spark: SparkSession) -> Lake:
    (tmp_path / "rows").mkdir()
    return Lake(tmp_path / "rows", session, spark)


def collect(data: Any) -> pa.Table:
    return data.toArrow().sort_by("id")


def scale_inside(table: pa.Table, inside: Any) -> pa.Table:
    inside = pc.fill_null(inside, False)
    return set_column(table, "price", pc.if_else(inside, pc.multiply(table["price"], 100.0), table["price"]))


@pytest.mark.parametrize(("name", "parameters", "columns"), CASES, ids=NAMES)
def test_a_fault_is_undone_lazily(
    lake: Lake, jobs: CountJobs, name: str, parameters: Any, columns: tuple[str, ...]
) -> None:
    data = lake.open(inject(make_table(), name, parameters, columns))
    with jobs() as started:
        repaired = repair_batch(data, [Diagnosis(name, "", columns, parameters, find_share(name))])
    assert started == []
    assert [kind for _, kind in repaired.dtypes] == [kind for _, kind in data.dtypes]
    assert_equal(collect(repaired), make_table().sort_by("id"))


def test_only_the_rows_of_a_segment_are_repaired(lake: Lake, jobs: CountJobs) -> None:
    table = make_table()
    data = lake.open(scale_inside(table, pc.equal(table["carrier"], "ev")))
    with jobs() as started:
        repaired = repair_batch(
            data, [Diagnosis("scaled", "", ("price",), {"factor": 100.0}, 0.3, segment=(("carrier", "ev"),))]
        )
    assert started == []
    assert_equal(collect(repaired), table.sort_by("id"))


def test_a_segment_names_null_an_hour_and_a_source_file(lake: Lake) -> None:
    table = make_table()
    inside = pc.and_(pc.is_null(table["carrier"]), pc.is_null(table["at"]))
    by_null = Diagnosis("sign_flipped", "", ("count",), {}, 0.1, segment=(("carrier", None), ("hour of at", None)))
    counts = pc.if_else(inside, pc.negate(pa.chunked_array([pa.array(range(len(table)))])), pa.array(range(len(table))))
    data = lake.open(set_column(table, "count", counts))
    wanted = set_column(table, "count", pa.array(range(len(table))))
    assert_equal(collect(repair_batch(data, [by_null])), wanted.sort_by("id"))
    first, second = table.slice(0, 20), table.slice(20)
    data = lake.open(first, dearer_prices(second))
    [name] = [row[0] for row in data.selectExpr("input_file_name()").distinct().collect() if "part-1" in row[0]]
    by_file = Diagnosis("scaled", "", ("price",), {"factor": 100.0}, 0.6, segment=(("source file", name),))
    assert_equal(collect(repair_batch(data, [by_file])), table.sort_by("id"))


def dearer_prices(table: pa.Table) -> pa.Table:
    return set_column(table, "price", pc.multiply(table["price"], 100.0))


def test_copies_are_left_out_of_a_segment_alone(lake: Lake) -> None:
    table = make_table()
    twice = table.filter(pc.fill_null(pc.equal(table["carrier"], "ev"), False))
    data = lake.open(table, twice)
    diagnosis = Diagnosis("rows_duplicated", "", (), {"copies": 2.0}, 0.5, segment=(("carrier", "ev"),))
    assert_equal(collect(repair_batch(data, [diagnosis])), table.sort_by("id"))


def test_several_faults_are_undone_together(lake: Lake, jobs: CountJobs) -> None:
    table = make_table()
    broken = dearer_prices(table)
    data = lake.open(pa.concat_tables([broken, broken]))
    with jobs() as started:
        repaired = repair_batch(data, [SCALED, Diagnosis("rows_duplicated", "", (), {"copies": 2.0}, 0.5)])
    assert started == []
    assert_equal(collect(repaired), table.sort_by("id"))


def test_columns_with_odd_and_repeated_names_stay_as_they_are(lake: Lake) -> None:
    data = lake.open(make_table()).selectExpr("id", "price * 100 AS `a.b``c`", "city AS x", "city AS x")
    repaired = repair_batch(data, [Diagnosis("scaled", "", ("a.b`c",), {"factor": 100.0})])
    assert repaired.columns == ["id", "a.b`c", "x", "x"]
    prices = dict(zip(*make_table().select(["id", "price"]).to_pydict().values(), strict=True))
    assert all(row[1] == pytest.approx(prices[row[0]]) and row[2] == row[3] for row in repaired.collect())


def test_another_batch_than_the_judged_one_is_refused_without_a_job(lake: Lake, jobs: CountJobs) -> None:
    data = lake.open(make_table())
    with jobs() as started:
        with pytest.raises(MisuseError, match="there is no column 'gone'"):
            repair_batch(data, [Diagnosis("scaled", "", ("gone",), {"factor": 10.0})])
        with pytest.raises(MisuseError, match="have different types"):
            repair_batch(data, [Diagnosis("columns_swapped", "", ("price", "city"))])
    assert started == []


# --- the command line


@pytest.fixture
def held(spark: SparkSession, tmp_path: Path) -> Iterator[Path]:
    """Good days that are published, and one in cents, which is held."""
    folder = tmp_path / "shop"
    folder.mkdir()
    make_month(folder, FOLDERS, "lake/staging")
    with contextlib.chdir(folder):
        stage(BAD, dearer(orders(DAYS)))
        assert called("run", "--quiet", "--set", "datasets.orders.engine=spark").exit_code == 1
        yield folder


def test_the_command_stages_what_spark_writes(held: Path) -> None:
    engine = ("--set", "datasets.orders.engine=spark")
    found = document("repair", "orders", BAD, *engine)
    assert (found["exit_code"], found["repairs"]) == (0, [DONE])
    assert found["batch"]["verdict"]["repaired"] == [DONE]
    assert_original(pq.read_table(f"lake/published/{BAD}").sort_by("id").take(order_of(orders(DAYS))))


def test_the_command_writes_a_folder_with_spark(held: Path) -> None:
    engine = ("--set", "datasets.orders.engine=spark")
    assert document("repair", "orders", BAD, "--to", "repaired", *engine)["exit_code"] == 0
    assert_original(pq.read_table("repaired").sort_by("id").take(order_of(orders(DAYS))))
    again = called("repair", "orders", BAD, "--to", "repaired", *engine)
    assert again.exit_code == 2
    assert "there is something at" in again.stderr


def order_of(table: pa.Table) -> pa.Array:
    """Where each row of a table is among those sorted by id."""
    return pc.sort_indices(pc.sort_indices(table["id"]))
