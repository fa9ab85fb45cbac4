"""`headgate.yml` and the command line on Iceberg and Delta tables: staged, published, held, and learned from."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlparse

import pyarrow as pa
import pytest

from headgate.integrations.delta import Delta
from headgate.integrations.iceberg import Iceberg
from headgate.project.project import Project
from headgate.values.key import MetricKey
from headgate.values.outcome import Measured
from tests.cli.lake import called, document
from tests.gate.orders import dearer, named, orders
from tests.spark.jobs import count_jobs

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

DAYS = 12
_numbers = itertools.count()
FORMATS = {"iceberg": ("lake.shop", Iceberg), "delta": ("default", Delta)}


class Shop:
    """A folder with a `headgate.yml` that names a table of a format."""

    def __init__(self, spark: SparkSession, classic: SparkSession, form: str) -> None:
        schema, self.kind = FORMATS[form]
        self.classic = classic
        self.spark, self.form, self.table = spark, form, f"{schema}.shop_orders{next(_numbers)}"

    def configure(self, more: str = "", where: str = """, where: "day = '{partition}'\"""") -> None:
        source = f"{{table: {self.table}, format: {self.form}{where}}}"
        Path("headgate.yml").write_text(
            f"store: file:history\ndatasets:\n  orders:\n    source: {source}\n    learn: [history]\n{more}"
        )

    def publish(self) -> None:
        self.configure(f"    publish: {{to: {self.form}}}\n")

    def rows(self, *days: int, broken: bool = False) -> DataFrame:
        made = [dearer(orders(day)) if broken else orders(day) for day in days]
        named_days = [
            each.append_column("day", pa.array([named(day)] * len(each))) for day, each in zip(days, made, strict=True)
        ]
        return self.spark.createDataFrame(pa.concat_tables(named_days).to_pandas())

    def create(self, *days: int) -> None:
        self.rows(*days).write.format(self.form).partitionBy("day").saveAsTable(self.table)

    @property
    def publisher(self) -> Iceberg | Delta:
        return self.kind(self.table, "day", spark=self.spark)

    def count(self, day: int) -> int:
        self.spark.sql(f"REFRESH TABLE {self.table}")
        return self.spark.table(self.table).where(f"day = '{named(day)}'").count()


@pytest.fixture(params=list(FORMATS))
def shop(
    request: pytest.FixtureRequest,
    spark: SparkSession,
    classic: SparkSession,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[Shop]:
    monkeypatch.chdir(tmp_path)
    made = Shop(spark, classic, request.param)
    yield made
    spark.sql(f"DROP TABLE IF EXISTS {made.table}")


def test_the_command_line_publishes_and_holds_what_is_staged(shop: Shop) -> None:
    shop.publish()
    shop.create(*range(DAYS))
    assert called("learn", "orders").stdout.startswith(f"orders: {DAYS} batches judged")
    assert called("run", "orders").stdout.startswith("orders: nothing waits")
    shop.publisher.stage(shop.rows(DAYS), named(DAYS))
    shop.publisher.stage(shop.rows(DAYS + 1, broken=True), named(DAYS + 1))
    run = document("run", "orders")
    assert [(each["partition"], each["verdict"]["action"]) for each in run["batches"]] == [
        (named(DAYS), "publish"),
        (named(DAYS + 1), "hold"),
    ]
    assert (shop.count(DAYS), shop.count(DAYS + 1)) == (len(orders(DAYS)), 0)
    with Project.open(
        "headgate.yml", spark=shop.spark
    ) as project:  # the held rows can be looked at, and those of the first days
        assert project.dataset("orders").read(named(DAYS + 1)).count() == len(orders(DAYS + 1))
        assert project.dataset("orders").read(named(0)).count() == len(orders(0))
    assert called("accept", "orders", named(DAYS + 1), "--note", "prices in cents", "--yes").exit_code == 0
    assert shop.count(DAYS + 1) == len(orders(DAYS + 1))
    shop.publisher.stage(shop.rows(DAYS + 1), named(DAYS + 1))  # and yet it was wrong: the day once more
    assert [each["verdict"]["action"] for each in document("run", "orders")["batches"]] == ["publish"]


def test_sixty_days_of_a_table_are_learned_from_in_one_job(shop: Shop) -> None:
    shop.configure()
    shop.create(*range(60))
    with Project.open("headgate.yml", spark=shop.spark) as project:
        dataset = project.dataset("orders")
        with count_jobs(shop.classic) as jobs:
            verdicts = dataset.learn().verdicts
        assert len(verdicts) == 60
        assert len([each for each in jobs if each.startswith("headgate:")]) == 1
        assert all(each.startswith("Delta:") for each in jobs if not each.startswith("headgate:")), "of its own log"
        assert len(jobs) <= 3
        shop.rows(60).write.format(shop.form).mode("append").saveAsTable(shop.table)
        assert dataset.waiting() == (named(60),)
        assert dataset.judge(named(60)).passed


def test_a_batch_that_was_repaired_in_the_table_waits_again(shop: Shop) -> None:
    shop.configure()
    shop.create(*range(DAYS))
    shop.rows(DAYS, broken=True).write.format(shop.form).mode("append").saveAsTable(shop.table)
    assert called("learn", "orders", "--since", named(0)).exit_code == 0
    shop.spark.sql(f"DELETE FROM {shop.table} WHERE day = '{named(DAYS)}'")
    with Project.open("headgate.yml", spark=shop.spark) as project:
        assert project.dataset("orders").waiting() == ()  # it was observed, and nobody asked for more
    shop.rows(DAYS + 1, broken=True).write.format(shop.form).mode("append").saveAsTable(shop.table)
    assert document("run", "orders")["summary"]["held"] == 1
    with Project.open("headgate.yml", spark=shop.spark) as project:
        dataset = project.dataset("orders")
        assert dataset.waiting() == ()
        with count_jobs(shop.classic) as jobs:
            assert not dataset.judge(named(DAYS + 1)).passed
        assert len(jobs) <= 2, "it was scanned again"
        shop.rows(DAYS + 2).write.format(shop.form).mode("append").saveAsTable(shop.table)
        assert dataset.waiting() == (named(DAYS + 2),), "another batch does not change it"
        shop.spark.sql(f"DELETE FROM {shop.table} WHERE day = '{named(DAYS + 1)}'")
        shop.rows(DAYS + 1).write.format(shop.form).mode("append").saveAsTable(shop.table)
        assert dataset.waiting() == (named(DAYS + 1), named(DAYS + 2))
        assert dataset.judge(named(DAYS + 1)).passed


def test_a_table_that_is_replaced_is_learned_from_its_snapshots(shop: Shop) -> None:
    shop.configure('    time: "%Y-%m-%dT%H:%M:%S.%f"\n', where="")
    shop.create(0)
    for day in range(1, 4):
        shop.rows(day).write.format(shop.form).mode("overwrite").saveAsTable(shop.table)
    with Project.open("headgate.yml", spark=shop.spark) as project:
        verdicts = project.dataset("orders").learn(from_snapshots=True).verdicts
        sizes = [each.run.outcomes[MetricKey("size")] for each in verdicts]
        assert sizes == [Measured(float(len(orders(day)))) for day in range(4)]
        assert all("T" in each.partition for each in verdicts)
        assert project.dataset("orders").learn(from_snapshots=True) == ([], {})


def test_a_table_whose_files_are_gone_is_learned_from_the_snapshots_that_are_left(shop: Shop) -> None:
    shop.configure('    time: "%Y-%m-%dT%H:%M:%S.%f"\n', where="")
    shop.create(0)
    files = shop.spark.table(shop.table).inputFiles()
    if shop.form == "iceberg":
        files = [row["file_path"] for row in shop.spark.sql(f"SELECT file_path FROM {shop.table}.files").collect()]
    assert files
    shop.rows(1).write.format(shop.form).mode("overwrite").saveAsTable(shop.table)
    for each in files:
        Path(unquote(urlparse(each).path)).unlink()
    with Project.open("headgate.yml", spark=shop.spark) as project:
        verdicts, unread = project.dataset("orders").learn(from_snapshots=True)
        assert len(unread) == 1
        assert [each.run.outcomes[MetricKey("size")] for each in verdicts] == [Measured(float(len(orders(1))))]


def test_a_column_may_be_written_in_capital_letters(shop: Shop) -> None:
    shop.configure(f"    publish: {{to: {shop.form}}}\n", where=""", where: "DAY = '{partition}'\"""")
    shop.create(*range(3))
    with Project.open("headgate.yml", spark=shop.spark) as project:
        dataset = project.dataset("orders")
        assert len(dataset.learn().verdicts) == 3
        shop.kind(shop.table, "DAY", spark=shop.spark).stage(shop.rows(3), named(3))
        assert dataset.waiting() == (named(3),)
        assert dataset.judge(named(3)).passed
    assert shop.count(3) == len(orders(3))


def test_a_held_batch_is_split_by_one_command(shop: Shop) -> None:
    bad = f"{shop.table}_bad"
    shop.configure(f"    publish: {{to: {shop.form}, quarantine: {bad}}}\n    checks: [{{is_non_negative: price}}]\n")
    shop.create(*range(3))
    called("learn", "orders")
    wrong = shop.rows(3).selectExpr("*", "row_number() OVER (ORDER BY id) AS at")
    rows = wrong.selectExpr("* EXCEPT (at, price)", "if(at <= 2, -1.0D, price) AS price")
    shop.publisher.stage(rows.select(*shop.rows(3).columns), named(3))
    assert document("run", "orders")["summary"]["held"] == 1
    done = document("split", "orders", named(3), "--note", "two prices below zero", "--who", "ann")
    whole = len(orders(3))
    assert (done["published"], done["kept"], done["location"]) == (whole - 2, 2, bad)
    assert shop.count(3) == whole - 2
    reasons = [row["headgate_reasons"][0] for row in shop.spark.table(bad).collect()]
    assert {each["rule"] for each in reasons} == {"is_non_negative(price)"}
    assert {each["value"] for each in reasons} == {None}, "values are hidden"
    again = called("split", "orders", named(3))
    assert again.exit_code == 2
    assert "was split already" in again.stderr
    shop.spark.sql(f"DROP TABLE {bad}")


def test_a_batch_that_no_single_row_is_to_blame_for_is_not_split(shop: Shop) -> None:
    shop.publish()
    shop.create(*range(DAYS))
    called("learn", "orders")
    shop.publisher.stage(shop.rows(DAYS, broken=True), named(DAYS))
    assert document("run", "orders")["summary"]["held"] == 1
    refused = called("split", "orders", named(DAYS))
    assert refused.exit_code == 2
    assert "not all that failed" in refused.stderr
    assert shop.count(DAYS) == 0


def test_a_held_batch_is_repaired_staged_and_published(shop: Shop) -> None:
    shop.publish()
    shop.create(*range(DAYS))
    assert called("learn", "orders").exit_code == 0
    shop.publisher.stage(shop.rows(DAYS, broken=True), named(DAYS))
    assert document("run", "orders")["exit_code"] == 1
    dry = document("repair", "orders", named(DAYS), "--dry-run")
    assert (dry["would_pass"], dry["repairs"]) == (True, ["price is divided by 100"])
    assert (shop.count(DAYS), shop.publisher.identify_staged(named(DAYS))) == (0, "")
    done = document("repair", "orders", named(DAYS))
    assert (done["exit_code"], done["location"]) == (0, shop.table)
    assert done["batch"]["verdict"]["repaired"] == ["price is divided by 100"]
    shop.spark.sql(f"REFRESH TABLE {shop.table}")
    [total] = shop.spark.table(shop.table).where(f"day = '{named(DAYS)}'").selectExpr("sum(price)").first()  # type: ignore[misc]
    assert total == pytest.approx(sum(orders(DAYS)["price"].to_pylist()))
    assert "was published" in called("repair", "orders", named(DAYS), "--revision", "2").stderr
    refused = called("repair", "orders", named(DAYS), "--revision", "1")
    assert "readers have a newer revision of it" in refused.stderr
    assert shop.count(DAYS) == len(orders(DAYS))
