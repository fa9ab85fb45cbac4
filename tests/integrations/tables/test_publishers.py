"""What every publisher of a table does, on real tables of both formats."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import pytest

import headgate as hg
from headgate.store.fault_points import watch
from headgate.values.errors import PublishError
from tests.gate.publish import test_publisher as contract
from tests.gate.publish import test_table_publisher as table_contract
from tests.gate.publish.lakes import DAY
from tests.gate.publish.test_publisher import Killed, delivery, kill_after
from tests.integrations.tables.lakes import ROWS, DeltaLake, IcebergLake, SparkLake

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

for _module in (contract, table_contract):
    globals().update({name: value for name, value in vars(_module).items() if name.startswith("test_")})


@pytest.fixture(params=["iceberg", "delta"])
def lake(request: pytest.FixtureRequest, spark: SparkSession, tmp_path: Path) -> SparkLake:
    return IcebergLake(spark) if request.param == "iceberg" else DeltaLake(spark, tmp_path)


def test_held_revisions_of_one_partition_are_released_one_after_the_other(lake: SparkLake) -> None:
    first = lake.stage_known(1, "first")
    lake.publisher.hold(first)
    second = lake.stage_known(2, "second")
    lake.publisher.hold(second)
    lake.publisher.release(first)
    lake.publisher.release(second)
    assert lake.seen() == "second"
    with pytest.raises(PublishError, match="older than revision 2"):
        lake.publisher.release(first)


def test_rows_of_another_partition_are_refused(lake: SparkLake) -> None:
    both = lake.make(DAY, "first").union(lake.make("day=2026-11-15", "first"))
    with pytest.raises(PublishError, match="has rows of day = 2026-11-15"):
        lake.publisher.stage(both, DAY)
    assert lake.publisher.identify_staged(DAY) == ""


def test_a_killed_stage_leaves_nothing_that_a_gate_could_judge(lake: SparkLake) -> None:
    steps = list[str]()
    with watch(steps.append):
        lake.beside("clean").stage_known(1, "first")
    for at in range(len(steps)):
        killed = lake.beside(f"killed at {at}")
        with watch(kill_after(at)), pytest.raises(Killed):
            killed.stage_known(1, "first")
        source = killed.publisher.identify_staged(DAY)
        assert not source or killed.publisher.read(source, DAY).count() == ROWS
        killed.publisher.publish(killed.stage_known(1, "again"))
        assert killed.seen() == "again"


def test_what_somebody_removed_is_not_called_published(lake: SparkLake) -> None:
    batch = lake.stage_known(1, "first")
    lake.publisher.publish(batch)
    lake.publisher.publish(batch)
    lake.spark.sql(f"DELETE FROM {lake.table} WHERE day = '2026-11-14'")
    with pytest.raises(PublishError, match="somebody removed it"):
        lake.publisher.publish(batch)


@pytest.mark.parametrize("kind", ["DATE", "INT", "TIMESTAMP", "BOOLEAN"])
def test_the_column_may_be_of_any_type(lake: SparkLake, kind: str) -> None:
    values = {"DATE": "2026-11-14", "INT": "7", "TIMESTAMP": "2026-11-14 08:00:00", "BOOLEAN": "true"}
    value, orders = values[kind], lake.of_kind(kind)
    rows = lake.spark.sql(f"SELECT CAST('{value}' AS {kind}) AS day, 'first' AS text")
    source = orders.stage(rows, value)
    assert orders.read(source, value).count() == 1
    orders.publish(delivery(1, value))
    second = rows.selectExpr("day", "'second' AS text")
    orders.publish(msgspec.structs.replace(delivery(2, value), source=orders.stage(second, value)))
    assert [row["text"] for row in lake.spark.sql(f"SELECT text FROM {lake.named(orders)}").collect()] == ["second"]
    nothing = lake.spark.sql(f"SELECT CAST(NULL AS {kind}) AS day, 'third' AS text")
    with pytest.raises(PublishError, match="has rows of day = None"):
        orders.stage(nothing, value)


@pytest.mark.parametrize("name", ["curl secret token", "${env:HOME}", "it's \\ `odd`", "create tag x", "Zoë\nnew"])
def test_a_partition_may_have_any_name(lake: SparkLake, name: str) -> None:
    from pyspark.sql import functions

    rows = lake.make(DAY, "first").withColumn("day", functions.lit(name))
    batch = delivery(1, name)
    batch = msgspec.structs.replace(batch, source=lake.publisher.stage(rows, name))
    assert lake.publisher.read_staged(name).count() == ROWS
    lake.publisher.hold(batch)
    lake.publisher.release(batch)
    assert lake.publisher.state(batch) == "published"
    found = lake.publisher.find_published("orders", name)
    assert found == batch
    assert lake.spark.table(lake.table).where(functions.col("day") == name).count() == ROWS


def test_the_gate_publishes_and_holds(lake: SparkLake) -> None:
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


def test_what_another_writer_put_into_the_partition_is_not_replaced(lake: SparkLake) -> None:
    batch = lake.stage_known(1, "first")
    lake.spark.sql(f"INSERT INTO {lake.table} SELECT '2026-11-14', 'theirs' FROM range({ROWS})")
    with pytest.raises(PublishError, match="somebody else changed day = 2026-11-14"):
        lake.publisher.publish(batch)
    assert lake.seen() == "theirs"
    lake.publisher.publish(lake.stage_known(1, "other", "day=2026-11-15"))
    with pytest.raises(PublishError, match="somebody else changed day = 2026-11-14"):
        lake.publisher.publish(batch)
    assert lake.seen() == "theirs"
    lake.publisher.publish(lake.stage_known(2, "second"))
    assert lake.seen() == "second"


def test_a_batch_that_the_table_was_rolled_back_from_is_not_called_published(lake: SparkLake) -> None:
    lake.publisher.publish(lake.stage_known(1, "first"))
    batch = lake.stage_known(2, "second")
    lake.publisher.publish(batch)
    lake.roll_back(1)
    assert lake.seen() == "first"
    with pytest.raises(PublishError, match="somebody removed it"):
        lake.publisher.publish(batch)
    lake.publisher.publish(lake.stage_known(3, "third"))
    assert lake.seen() == "third"


def test_the_notes_of_old_partitions_are_dropped_unless_a_batch_of_theirs_waits(
    lake: SparkLake, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("headgate.integrations.spark_tables.MOST_NOTES", 2)
    days = [f"day=2026-11-{number:02}" for number in range(1, 6)]
    for day in days[:2]:
        lake.publisher.publish(lake.stage_known(1, "first", day))
    lake.publisher.hold(lake.stage_known(2, "second", days[0]))
    for day in days[2:]:
        lake.publisher.publish(lake.stage_known(1, "first", day))
    noted = {day: lake.publisher.find_published("orders", day) for day in days}
    assert noted[days[1]] is None
    assert all(noted[day] is not None for day in (days[0], *days[2:]))
