"""Delta tables: what concerns versions, compaction, names and paths."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import pyspark
import pytest

import headgate as hg
from headgate.integrations.delta import Delta
from headgate.values.errors import MisuseError, PublishError
from tests.gate.publish.lakes import DAY
from tests.gate.publish.test_publisher import delivery
from tests.integrations.tables.lakes import DeltaLake

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture
def lake(spark: SparkSession, tmp_path: Path) -> DeltaLake:
    return DeltaLake(spark, tmp_path)


def test_the_table_may_move_while_a_batch_waits(lake: DeltaLake) -> None:
    first, other = lake.stage_known(1, "first"), lake.stage_known(1, "other", "day=2026-11-15")
    lake.spark.sql(f"INSERT INTO {lake.table} VALUES ('2026-11-16', 'by somebody else')")
    lake.publisher.publish(other)
    lake.publisher.publish(first)
    lake.spark.sql(f"OPTIMIZE {lake.table}")
    lake.publisher.publish(lake.stage_known(2, "second"))
    assert (lake.seen(), lake.seen("day=2026-11-15")) == ("second", "other")
    theirs = lake.spark.sql(f"SELECT text FROM {lake.table} WHERE day = '2026-11-16'").collect()
    assert [row["text"] for row in theirs] == ["by somebody else"]


def test_a_late_commit_of_an_older_revision_is_dropped_by_the_table(lake: DeltaLake) -> None:
    first = lake.stage_known(1, "first")
    second = lake.stage_known(2, "second")
    lake.publisher.publish(second)
    with pytest.raises(PublishError, match="older than a revision that is published"):
        lake.publisher.show(first, first.source)
    assert lake.seen() == "second"


def test_a_batch_without_rows_empties_its_partition(lake: DeltaLake) -> None:
    lake.publisher.publish(lake.stage_known(1, "first"))
    source = lake.publisher.stage(lake.make(DAY, "second").limit(0), DAY)
    batch = msgspec.structs.replace(delivery(2), source=source)
    assert lake.publisher.read_staged(DAY).count() == 0
    lake.publisher.publish(batch)
    assert lake.seen() is None
    assert lake.publisher.state(batch) == "published"


def test_a_table_may_be_named(spark: SparkSession) -> None:
    spark.sql("CREATE TABLE named (day STRING, text STRING) USING delta PARTITIONED BY (day)")
    orders = Delta("named", "day", spark=spark)
    for day in ("2026-11-14", "2026-11-15"):
        orders.stage(spark.sql(f"SELECT '{day}' AS day, 'first' AS text"), day)
        orders.publish(delivery(partition=day))
    assert sorted(row["day"] for row in spark.table("named").collect()) == ["2026-11-14", "2026-11-15"]


@pytest.mark.parametrize("name", ["", "x`; DROP TABLE y"])
def test_a_name_that_is_none_is_refused(name: str) -> None:
    with pytest.raises(MisuseError, match="is not the name or the path of a table"):
        Delta(name, "day")


def test_rows_that_break_a_constraint_of_the_table_are_not_published(lake: DeltaLake) -> None:
    lake.spark.sql(f"ALTER TABLE {lake.table} ADD CONSTRAINT no_third CHECK (text <> 'third')")
    lake.publisher.publish(lake.stage_known(1, "first"))
    batch = lake.stage_known(2, "third")
    with pytest.raises(PublishError, match="condition or constraint"):
        lake.publisher.publish(batch)
    assert lake.seen() == "first"
    lake.publisher.hold(batch)
    assert lake.publisher.state(batch) == "held"


@pytest.mark.skipif(pyspark.__version__.startswith("3."), reason="SQL of Delta 3 has no generated columns")
def test_generated_columns_are_filled_when_a_batch_is_published(spark: SparkSession) -> None:
    spark.sql(
        "CREATE TABLE generated (day STRING, text STRING, month STRING GENERATED ALWAYS AS (substring(day, 1, 7))) "
        "USING delta PARTITIONED BY (day)"
    )
    orders = Delta("generated", "day", spark=spark)
    orders.stage(spark.sql("SELECT '2026-11-14' AS day, 'first' AS text"), "2026-11-14")
    orders.publish(delivery(partition="2026-11-14"))
    assert [row["month"] for row in spark.table("generated").collect()] == ["2026-11"]


def test_columns_may_be_mapped_and_have_any_name(spark: SparkSession) -> None:
    spark.sql(
        "CREATE TABLE mapped (day STRING, `unit price` DOUBLE) USING delta PARTITIONED BY (day) "
        "TBLPROPERTIES ('delta.columnMapping.mode' = 'name')"
    )
    orders = Delta("mapped", "day", spark=spark, quarantine="mapped_bad")
    gate = hg.Gate(
        "orders",
        store=hg.open_store("memory:"),
        checks=[hg.Check("orders").is_non_negative("unit price")],
        learn=[],
        publisher=orders,
    )
    rows = spark.sql("SELECT '2026-11-14' AS day, if(id = 3, -1.0D, 1.0D) AS `unit price` FROM range(9)")
    orders.stage(rows, "2026-11-14")
    verdict = gate.judge(lambda: orders.read_staged("2026-11-14"), "2026-11-14")
    assert verdict.can_split
    orders.stage_parts(verdict.revision, *verdict.split(orders.read_batch(verdict.delivery)))
    gate.split("2026-11-14", lambda: orders.read_staged("2026-11-14", "good"))
    assert spark.table("mapped").count() == 8
    assert [row["unit price"] for row in spark.table("mapped_bad").collect()] == [-1.0]


def test_rows_that_another_writer_marks_as_deleted_are_noticed(spark: SparkSession) -> None:
    spark.sql(
        "CREATE TABLE marked (day STRING, id BIGINT) USING delta PARTITIONED BY (day) "
        "TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')"
    )
    orders, day = Delta("marked", "day", spark=spark), "2026-11-14"
    rows = spark.sql(f"SELECT '{day}' AS day, id FROM range(100)")
    orders.stage(rows, day)
    orders.publish(delivery(1, day))
    source = orders.stage(rows.where("id > 10"), day)
    spark.sql("DELETE FROM marked WHERE id = 50")
    assert spark.table("marked").count() == 99
    with pytest.raises(PublishError, match="somebody else changed"):
        orders.publish(msgspec.structs.replace(delivery(2, day), source=source))
