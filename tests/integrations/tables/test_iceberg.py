"""Iceberg tables: what concerns snapshots, branches, partition fields and compaction."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import pytest

from headgate.integrations.iceberg import Iceberg
from headgate.values.errors import MisuseError, PublishError
from tests.gate.publish.lakes import DAY
from tests.gate.publish.test_publisher import delivery
from tests.integrations.tables.lakes import ROWS, IcebergLake

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture
def lake(spark: SparkSession) -> IcebergLake:
    return IcebergLake(spark)


def test_main_may_move_while_a_batch_waits(lake: IcebergLake) -> None:
    first, other = lake.stage_known(1, "first"), lake.stage_known(1, "other", "day=2026-11-15")
    lake.spark.sql(f"INSERT INTO {lake.table} VALUES ('2026-11-16', 'by somebody else')")
    lake.publisher.publish(other)
    lake.publisher.publish(first)
    assert (lake.seen(), lake.seen("day=2026-11-15")) == ("first", "other")
    theirs = lake.spark.sql(f"SELECT text FROM {lake.table} WHERE day = '2026-11-16'").collect()
    assert [row["text"] for row in theirs] == ["by somebody else"]


def test_what_another_writer_put_there_is_not_replaced_after_a_compaction(lake: IcebergLake) -> None:
    batch = lake.stage_known(1, "first")
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


def test_a_held_batch_survives_the_expiry_of_snapshots(lake: IcebergLake) -> None:
    lake.publisher.publish(lake.stage_known(1, "old"))
    batch = lake.stage_known(2, "new")
    lake.publisher.hold(batch)
    lake.publisher.publish(lake.stage_known(1, "other", "day=2026-11-15"))
    now = "TIMESTAMP '2999-01-01 00:00:00'"
    name = lake.table.removeprefix("lake.")
    lake.spark.sql(f"CALL lake.system.expire_snapshots(table => '{name}', older_than => {now}, retain_last => 1)")
    assert lake.seen() == "old"
    assert lake.publisher.state(delivery(1)) == "published"
    lake.publisher.release(batch)
    assert lake.seen() == "new"


def test_a_batch_without_rows_can_be_held_and_not_published(lake: IcebergLake) -> None:
    lake.publisher.publish(lake.stage_known(1, "first"))
    empty = lake.make(DAY, "second").limit(0)
    source = lake.publisher.stage(empty, DAY)
    batch = msgspec.structs.replace(delivery(2), source=source)
    assert lake.publisher.read_staged(DAY).count() == 0
    with pytest.raises(PublishError, match="has no rows"):
        lake.publisher.publish(batch)
    lake.publisher.hold(batch)
    assert lake.publisher.state(batch) == "held"
    assert lake.seen() == "first"


def test_what_is_staged_is_read_as_it_was_written(lake: IcebergLake) -> None:
    lake.publisher.publish(lake.stage_known(1, "first"))
    lake.publisher.publish(lake.stage_known(1, "other", "day=2026-11-15"))
    source = lake.stage_known(2, "second").source
    lake.stage_known(3, "third")
    read = lake.publisher.read(source, DAY)
    assert {row["text"] for row in read.collect()} == {"second"}
    assert read.count() == ROWS


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


@pytest.mark.parametrize("setting", ["spark.wap.branch", "spark.wap.id"])
def test_a_session_that_writes_elsewhere_is_told_so(lake: IcebergLake, setting: str) -> None:
    batch = lake.stage_known(1, "first")
    lake.spark.sql(f"ALTER TABLE {lake.table} SET TBLPROPERTIES ('write.wap.enabled' = 'true')")
    lake.publisher.publish(batch)
    lake.spark.conf.set(setting, "audit")
    try:
        with pytest.raises(MisuseError, match=f"{setting} is set"):
            lake.stage_known(2, "second")
    finally:
        lake.spark.conf.unset(setting)
    lake.publisher.publish(lake.stage_known(2, "second"))
    assert lake.seen() == "second"


def test_a_column_that_the_table_got_after_a_batch_was_staged_is_empty_in_it(lake: IcebergLake) -> None:
    batch = lake.stage_known(1, "first")
    lake.spark.sql(f"ALTER TABLE {lake.table} ADD COLUMNS (more INT)")
    lake.publisher.publish(batch)
    rows = lake.spark.sql(f"SELECT text, more FROM {lake.table}").collect()
    assert {(row["text"], row["more"]) for row in rows} == {("first", None)}
