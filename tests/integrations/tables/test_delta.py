"""Delta tables: what concerns versions, compaction, names and paths."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import pytest

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
