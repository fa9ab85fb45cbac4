"""Delta tables: what every publisher must do, and what concerns versions and other writers."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import pytest

import headgate as hg
from headgate.gate.publish.publisher import Delivery
from headgate.integrations.delta import Delta
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


class DeltaLake(Lake):
    def __init__(self, spark: SparkSession, root: Path) -> None:
        self.spark, self.root = spark, root
        self.path = str(root / f"orders{next(_numbers)}")
        self.table = f"delta.`{self.path}`"
        spark.sql(f"CREATE TABLE {self.table} (day STRING, text STRING) USING delta PARTITIONED BY (day)")

    @property
    def publisher(self) -> Delta:
        return Delta(self.path, "day", spark=self.spark)

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
        texts = [row["text"] for row in self.spark.sql(query).collect()]
        assert len(texts) in (0, ROWS), "a part of a batch"
        assert len(set(texts)) < 2, "a mixture of batches"
        return texts[0] if texts else None

    def read_at(self, where: str) -> str:
        name = self.table if where == self.path else where
        return self._read(f"SELECT text FROM {name} WHERE day = '{DAY.removeprefix('day=')}'") or ""

    def has(self, where: str) -> bool:
        return any(self.publisher.describe(ref) == where for ref in self.publisher.list_refs())

    def of_kind(self, kind: str) -> Delta:
        """The publisher of a table whose column is of another type."""
        path = str(self.root / f"orders{next(_numbers)}")
        self.spark.sql(f"CREATE TABLE delta.`{path}` (day {kind}, text STRING) USING delta PARTITIONED BY (day)")
        return Delta(path, "day", spark=self.spark)

    def named(self, publisher: Delta) -> str:
        return f"delta.`{publisher.table}`"

    def beside(self, name: str) -> DeltaLake:
        return DeltaLake(self.spark, self.root)


@pytest.fixture
def lake(spark: SparkSession, tmp_path: Path) -> DeltaLake:
    return DeltaLake(spark, tmp_path)


def known(lake: DeltaLake, number: int, text: str, partition: str = DAY) -> Delivery:
    """A batch that was staged and judged: its delivery names what was staged."""
    batch = contract.delivery(number, partition)
    source = lake.publisher.stage(lake.make(partition, text), partition)
    return msgspec.structs.replace(batch, source=source)


def test_the_table_may_move_while_a_batch_waits(lake: DeltaLake) -> None:
    first, other = known(lake, 1, "first"), known(lake, 1, "other", "day=2026-11-15")
    lake.spark.sql(f"INSERT INTO {lake.table} VALUES ('2026-11-16', 'by somebody else')")
    lake.publisher.publish(other)
    lake.publisher.publish(first)
    lake.spark.sql(f"OPTIMIZE {lake.table}")
    lake.publisher.publish(known(lake, 2, "second"))
    assert (lake.seen(), lake.seen("day=2026-11-15")) == ("second", "other")
    theirs = lake.spark.sql(f"SELECT text FROM {lake.table} WHERE day = '2026-11-16'").collect()
    assert [row["text"] for row in theirs] == ["by somebody else"]


def test_what_another_writer_put_into_the_partition_is_not_replaced(lake: DeltaLake) -> None:
    batch = known(lake, 1, "first")
    lake.spark.sql(f"INSERT INTO {lake.table} SELECT '2026-11-14', 'theirs' FROM range({ROWS})")
    with pytest.raises(PublishError, match="somebody else changed day = 2026-11-14"):
        lake.publisher.publish(batch)
    assert lake.seen() == "theirs"
    lake.publisher.publish(known(lake, 1, "other", "day=2026-11-15"))
    with pytest.raises(PublishError, match="somebody else changed day = 2026-11-14"):
        lake.publisher.publish(batch)
    assert lake.seen() == "theirs"
    lake.publisher.publish(known(lake, 2, "second"))
    assert lake.seen() == "second"


def test_held_revisions_of_one_partition_are_released_one_after_the_other(lake: DeltaLake) -> None:
    first = known(lake, 1, "first")
    lake.publisher.hold(first)
    second = known(lake, 2, "second")
    lake.publisher.hold(second)
    lake.publisher.release(first)
    lake.publisher.release(second)
    assert lake.seen() == "second"
    with pytest.raises(PublishError, match="older than revision 2"):
        lake.publisher.release(first)


def test_a_late_commit_of_an_older_revision_is_dropped_by_the_table(lake: DeltaLake) -> None:
    first = known(lake, 1, "first")
    second = known(lake, 2, "second")
    lake.publisher.publish(second)
    with pytest.raises(PublishError, match="older than a revision that is published"):
        lake.publisher.show(first, first.source)
    assert lake.seen() == "second"


def test_a_batch_without_rows_empties_its_partition(lake: DeltaLake) -> None:
    lake.publisher.publish(known(lake, 1, "first"))
    source = lake.publisher.stage(lake.make(DAY, "second").limit(0), DAY)
    batch = msgspec.structs.replace(contract.delivery(2), source=source)
    assert lake.publisher.read_staged(DAY).count() == 0
    lake.publisher.publish(batch)
    assert lake.seen() is None
    assert lake.publisher.state(batch) == "published"


def test_rows_of_another_partition_are_refused(lake: DeltaLake) -> None:
    both = lake.make(DAY, "first").union(lake.make("day=2026-11-15", "first"))
    with pytest.raises(PublishError, match="has rows of day = 2026-11-15"):
        lake.publisher.stage(both, DAY)
    assert lake.publisher.identify_staged(DAY) == ""


def test_a_killed_stage_leaves_nothing_that_a_gate_could_judge(lake: DeltaLake) -> None:
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


def test_a_table_may_be_named(spark: SparkSession) -> None:
    spark.sql("CREATE TABLE named (day STRING, text STRING) USING delta PARTITIONED BY (day)")
    orders = Delta("named", "day", spark=spark)
    for day in ("2026-11-14", "2026-11-15"):
        orders.stage(spark.sql(f"SELECT '{day}' AS day, 'first' AS text"), day)
        orders.publish(contract.delivery(partition=day))
    assert sorted(row["day"] for row in spark.table("named").collect()) == ["2026-11-14", "2026-11-15"]


@pytest.mark.parametrize("name", ["", "x`; DROP TABLE y"])
def test_a_name_that_is_none_is_refused(name: str) -> None:
    with pytest.raises(MisuseError, match="is not the name or the path of a table"):
        Delta(name, "day")


def test_what_somebody_removed_is_not_called_published(lake: DeltaLake) -> None:
    batch = known(lake, 1, "first")
    lake.publisher.publish(batch)
    lake.publisher.publish(batch)
    lake.spark.sql(f"DELETE FROM {lake.table} WHERE day = '2026-11-14'")
    with pytest.raises(PublishError, match="somebody removed it"):
        lake.publisher.publish(batch)


@pytest.mark.parametrize("kind", ["DATE", "INT", "TIMESTAMP", "BOOLEAN"])
def test_the_column_may_be_of_any_type(lake: DeltaLake, kind: str) -> None:
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
def test_a_partition_may_have_any_name(lake: DeltaLake, name: str) -> None:
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


def test_the_gate_publishes_and_holds(lake: DeltaLake) -> None:
    orders = lake.publisher
    gate = hg.Gate("orders", store=hg.open_store("memory:", values="plain"), publisher=orders)
    for day in range(1, 9):
        name = f"2026-11-{day:02}"
        orders.stage(lake.spark.sql(f"SELECT '{name}' AS day, CAST(id % 5 AS STRING) AS text FROM range(50)"), name)
        assert gate.judge(lambda name=name: orders.read_staged(name), name).passed
    name = "2026-11-09"
    orders.stage(lake.spark.sql(f"SELECT '{name}' AS day, CAST(NULL AS STRING) AS text FROM range(50)"), name)
    assert not gate.judge(lambda: orders.read_staged(name), name).passed
    days = {row["day"] for row in lake.spark.sql(f"SELECT DISTINCT day FROM {lake.table}").collect()}
    assert days == {f"2026-11-{day:02}" for day in range(1, 9)}
    gate.accept(name, who="ann", note="they stopped to send it")
    assert lake.spark.sql(f"SELECT * FROM {lake.table} WHERE day = '{name}'").count() == 50
