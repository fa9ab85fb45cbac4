"""Iceberg tables: what every publisher must do, and what concerns snapshots, branches and other writers."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import msgspec
import pytest

import headgate as hg
from headgate.gate.publish.publisher import Delivery
from headgate.integrations.iceberg import Iceberg
from headgate.store.fault_points import watch
from headgate.values.errors import MisuseError, PublishError
from tests.gate.publish import test_publisher as contract
from tests.gate.publish import test_table_publisher as table_contract
from tests.gate.publish.lakes import DAY, Lake

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

ROWS = 3
_numbers = itertools.count()

for _module in (contract, table_contract):
    globals().update({name: value for name, value in vars(_module).items() if name.startswith("test_")})


class IcebergLake(Lake):
    def __init__(self, spark: SparkSession) -> None:
        self.spark = spark
        self.table = f"lake.shop.orders{next(_numbers)}"
        spark.sql(f"CREATE TABLE {self.table} (day STRING, text STRING) USING iceberg PARTITIONED BY (day)")

    @property
    def publisher(self) -> Iceberg:
        return Iceberg(self.table, "day", spark=self.spark)

    def stage(self, batch: Delivery, text: str) -> Delivery:
        self.publisher.stage(self.make(batch.partition, text), batch.partition, batch.part)
        return batch

    def make(self, partition: str, text: str) -> DataFrame:
        day = partition.removeprefix("day=")
        return self.spark.sql(f"SELECT '{day}' AS day, '{text}' AS text FROM range({ROWS})")

    def seen(self, partition: str = DAY) -> str | None:
        day = partition.removeprefix("day=")
        return self._read(f"SELECT text FROM {self.table} WHERE day = '{day}'")

    def _read(self, query: str) -> str | None:
        self.spark.sql(f"REFRESH TABLE {self.table}")
        texts = [row["text"] for row in self.spark.sql(query).collect()]
        assert len(texts) in (0, ROWS), "a part of a batch"
        assert len(set(texts)) < 2, "a mixture of batches"
        return texts[0] if texts else None

    def read_at(self, where: str) -> str:
        return self._read(f"SELECT text FROM {where} WHERE day = '{DAY.removeprefix('day=')}'") or ""

    def has(self, where: str) -> bool:
        from pyspark.errors import PySparkException

        try:
            return self._read(f"SELECT text FROM {where}") is not None
        except PySparkException:
            return False

    def of_kind(self, kind: str) -> Iceberg:
        """The publisher of a table whose column is of another type."""
        table = f"lake.shop.orders{next(_numbers)}"
        self.spark.sql(f"CREATE TABLE {table} (day {kind}, text STRING) USING iceberg PARTITIONED BY (day)")
        return Iceberg(table, "day", spark=self.spark)

    def named(self, publisher: Iceberg) -> str:
        return publisher.table

    def beside(self, name: str) -> IcebergLake:
        return IcebergLake(self.spark)


@pytest.fixture
def lake(spark: SparkSession) -> IcebergLake:
    return IcebergLake(spark)


def known(lake: IcebergLake, number: int, text: str, partition: str = DAY) -> Delivery:
    """A batch that was staged and judged: its delivery names what was staged."""
    batch = contract.delivery(number, partition)
    source = lake.publisher.stage(lake.make(partition, text), partition)
    return msgspec.structs.replace(batch, source=source)


def test_main_may_move_while_a_batch_waits(lake: IcebergLake) -> None:
    first, other = known(lake, 1, "first"), known(lake, 1, "other", "day=2026-11-15")
    lake.spark.sql(f"INSERT INTO {lake.table} VALUES ('2026-11-16', 'by somebody else')")
    lake.publisher.publish(other)
    lake.publisher.publish(first)
    assert (lake.seen(), lake.seen("day=2026-11-15")) == ("first", "other")
    theirs = lake.spark.sql(f"SELECT text FROM {lake.table} WHERE day = '2026-11-16'").collect()
    assert [row["text"] for row in theirs] == ["by somebody else"]


def test_what_another_writer_put_into_the_partition_is_not_replaced(lake: IcebergLake) -> None:
    batch = known(lake, 1, "first")
    lake.spark.sql(f"INSERT INTO {lake.table} SELECT '2026-11-14', 'theirs' FROM range({ROWS})")
    with pytest.raises(PublishError, match="somebody else changed day = 2026-11-14"):
        lake.publisher.publish(batch)
    assert lake.seen() == "theirs"
    lake.publisher.publish(known(lake, 2, "second"))
    assert lake.seen() == "second"


def test_what_another_writer_put_there_is_not_replaced_after_a_compaction(lake: IcebergLake) -> None:
    batch = known(lake, 1, "first")
    lake.spark.sql(f"INSERT INTO {lake.table} SELECT '2026-11-14', 'theirs' FROM range({ROWS})")
    name = lake.table.removeprefix("lake.")
    lake.spark.sql(f"CALL lake.system.rewrite_data_files(table => '{name}', options => map('rewrite-all', 'true'))")
    with pytest.raises(PublishError, match="somebody else changed day = 2026-11-14"):
        lake.publisher.publish(batch)
    assert lake.seen() == "theirs"


def test_a_table_that_was_partitioned_in_another_way_is_refused(lake: IcebergLake) -> None:
    table = "lake.shop.evolved"
    lake.spark.sql(f"CREATE TABLE {table} (day STRING, text STRING) USING iceberg")
    lake.spark.sql(f"INSERT INTO {table} VALUES ('2026-11-14', 'old')")
    lake.spark.sql(f"ALTER TABLE {table} ADD PARTITION FIELD day")
    with pytest.raises(PublishError, match="are partitioned in another way than day"):
        Iceberg(table, "day", spark=lake.spark).stage(lake.make(DAY, "first"), DAY)


def test_held_revisions_of_one_partition_are_released_one_after_the_other(lake: IcebergLake) -> None:
    first = known(lake, 1, "first")
    lake.publisher.hold(first)
    second = known(lake, 2, "second")
    lake.publisher.hold(second)
    lake.publisher.release(first)
    lake.publisher.release(second)
    assert lake.seen() == "second"
    with pytest.raises(PublishError, match="older than revision 2"):
        lake.publisher.release(first)


def test_a_held_batch_survives_the_expiry_of_snapshots(lake: IcebergLake) -> None:
    lake.publisher.publish(known(lake, 1, "old"))
    batch = known(lake, 2, "new")
    lake.publisher.hold(batch)
    lake.publisher.publish(known(lake, 1, "other", "day=2026-11-15"))
    now = "TIMESTAMP '2999-01-01 00:00:00'"
    name = lake.table.removeprefix("lake.")
    lake.spark.sql(f"CALL lake.system.expire_snapshots(table => '{name}', older_than => {now}, retain_last => 1)")
    assert lake.seen() == "old"
    assert lake.publisher.state(contract.delivery(1)) == "published"
    lake.publisher.release(batch)
    assert lake.seen() == "new"


def test_a_batch_without_rows_can_be_held_and_not_published(lake: IcebergLake) -> None:
    lake.publisher.publish(known(lake, 1, "first"))
    empty = lake.make(DAY, "second").limit(0)
    source = lake.publisher.stage(empty, DAY)
    batch = msgspec.structs.replace(contract.delivery(2), source=source)
    assert lake.publisher.read_staged(DAY).count() == 0
    with pytest.raises(PublishError, match="has no rows"):
        lake.publisher.publish(batch)
    lake.publisher.hold(batch)
    assert lake.publisher.state(batch) == "held"
    assert lake.seen() == "first"


def test_rows_of_another_partition_are_refused(lake: IcebergLake) -> None:
    both = lake.make(DAY, "first").union(lake.make("day=2026-11-15", "first"))
    with pytest.raises(PublishError, match="has rows of day = 2026-11-15"):
        lake.publisher.stage(both, DAY)
    assert lake.publisher.identify_staged(DAY) == ""


def test_what_is_staged_is_read_as_it_was_written(lake: IcebergLake) -> None:
    lake.publisher.publish(known(lake, 1, "first"))
    lake.publisher.publish(known(lake, 1, "other", "day=2026-11-15"))
    source = known(lake, 2, "second").source
    known(lake, 3, "third")
    read = lake.publisher.read(source, DAY)
    assert {row["text"] for row in read.collect()} == {"second"}
    assert read.count() == ROWS


def test_a_killed_stage_leaves_nothing_that_a_gate_could_judge(lake: IcebergLake) -> None:
    steps = list[str]()
    with watch(steps.append):
        known(lake.beside("clean"), 1, "first")
    for at in range(len(steps)):
        killed = lake.beside(f"killed at {at}")
        with watch(contract.kill_after(at)), pytest.raises(contract.Killed):
            known(killed, 1, "first")
        source = killed.publisher.identify_staged(DAY)
        assert not source or killed.publisher.read(source, DAY).count() == ROWS
        killed.publisher.publish(known(killed, 1, "again"))
        assert killed.seen() == "again"


def test_only_a_table_that_is_partitioned_by_the_column_alone_is_staged_into(spark: SparkSession) -> None:
    columns = "(day STRING, text STRING) USING iceberg"
    spark.sql(f"CREATE TABLE lake.shop.flat {columns}")
    spark.sql(f"CREATE TABLE lake.shop.deep {columns} PARTITIONED BY (day, bucket(4, text))")
    for table, found in (("flat", "nothing"), ("deep", "day, text_bucket")):
        with pytest.raises(MisuseError, match=f"is partitioned by {found}, not by day"):
            Iceberg(f"lake.shop.{table}", "day", spark=spark).stage(spark.sql("SELECT 'd' day, 't' text"), "d")


@pytest.mark.parametrize("name", ["orders", "shop.orders", "lake.shop.orders; DROP TABLE x", "lake..orders"])
def test_a_table_has_its_whole_name(name: str) -> None:
    with pytest.raises(MisuseError, match="is not the whole name of a table"):
        Iceberg(name, "day")


def test_what_somebody_removed_is_not_called_published(lake: IcebergLake) -> None:
    batch = known(lake, 1, "first")
    lake.publisher.publish(batch)
    lake.publisher.publish(batch)
    lake.spark.sql(f"DELETE FROM {lake.table} WHERE day = '2026-11-14'")
    with pytest.raises(PublishError, match="somebody removed it"):
        lake.publisher.publish(batch)


@pytest.mark.parametrize("kind", ["DATE", "INT", "TIMESTAMP", "BOOLEAN"])
def test_the_column_may_be_of_any_type(lake: IcebergLake, kind: str) -> None:
    values = {"DATE": "2026-11-14", "INT": "7", "TIMESTAMP": "2026-11-14 08:00:00", "BOOLEAN": "true"}
    value, orders = values[kind], lake.of_kind(kind)
    rows = lake.spark.sql(f"SELECT CAST('{value}' AS {kind}) AS day, 'first' AS text")
    source = orders.stage(rows, value)
    assert orders.read(source, value).count() == 1
    orders.publish(contract.delivery(1, value))
    second = rows.selectExpr("day", "'second' AS text")
    orders.publish(msgspec.structs.replace(contract.delivery(2, value), source=orders.stage(second, value)))
    assert [row["text"] for row in lake.spark.sql(f"SELECT text FROM {lake.named(orders)}").collect()] == ["second"]
    nothing = lake.spark.sql(f"SELECT CAST(NULL AS {kind}) AS day, 'third' AS text")
    with pytest.raises(PublishError, match="has rows of day = None"):
        orders.stage(nothing, value)


@pytest.mark.parametrize("name", ["curl secret token", "${env:HOME}", "it's \\ `odd`", "create tag x", "Zoë\nnew"])
def test_a_partition_may_have_any_name(lake: IcebergLake, name: str) -> None:
    from pyspark.sql import functions

    rows = lake.make(DAY, "first").withColumn("day", functions.lit(name))
    batch = contract.delivery(1, name)
    batch = msgspec.structs.replace(batch, source=lake.publisher.stage(rows, name))
    assert lake.publisher.read_staged(name).count() == ROWS
    lake.publisher.hold(batch)
    lake.publisher.release(batch)
    assert lake.publisher.state(batch) == "published"
    found = lake.publisher.find_published("orders", name)
    assert found == batch
    assert lake.spark.table(lake.table).where(functions.col("day") == name).count() == ROWS


def test_the_gate_publishes_and_holds(lake: IcebergLake) -> None:
    orders = lake.publisher
    gate = hg.Gate("orders", store=hg.open_store("memory:", values="plain"), publisher=orders)
    for day in range(1, 9):
        name = f"2026-11-{day:02}"
        orders.stage(lake.spark.sql(f"SELECT '{name}' AS day, CAST(id % 5 AS STRING) AS text FROM range(50)"), name)
        assert gate.judge(lambda name=name: orders.read_staged(name), name).passed
    name = "2026-11-09"
    orders.stage(lake.spark.sql(f"SELECT '{name}' AS day, CAST(NULL AS STRING) AS text FROM range(50)"), name)
    verdict = gate.judge(lambda: orders.read_staged(name), name)
    assert not verdict.passed
    days = {row["day"] for row in lake.spark.sql(f"SELECT DISTINCT day FROM {lake.table}").collect()}
    assert days == {f"2026-11-{day:02}" for day in range(1, 9)}
    gate.accept(name, who="ann", note="they stopped to send it")
    assert lake.spark.sql(f"SELECT * FROM {lake.table} WHERE day = '{name}'").count() == 50
