"""Tables of both formats, as the tests of every publisher use them."""

from __future__ import annotations

import abc
import itertools
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from headgate.gate.publish.publisher import Delivery
from headgate.integrations.delta import Delta
from headgate.integrations.iceberg import Iceberg
from headgate.integrations.spark_tables import SparkTablePublisher
from tests.gate.publish.lakes import DAY, Lake
from tests.gate.publish.test_publisher import delivery

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

ROWS = 3
_numbers = itertools.count()


class SparkLake(Lake):
    """A table of a format, partitioned by the day; `table` is its name in a statement."""

    spark: SparkSession
    table: str

    @property
    @abc.abstractmethod
    def publisher(self) -> SparkTablePublisher:
        """A publisher as a new process opens it."""

    @abc.abstractmethod
    def of_kind(self, kind: str) -> SparkTablePublisher:
        """The publisher of a table whose column is of another type."""

    @abc.abstractmethod
    def named(self, publisher: SparkTablePublisher) -> str:
        """The table of a publisher in a statement."""

    @abc.abstractmethod
    def roll_back(self, commits: int) -> None:
        """Make the table what it was before its last commits that readers saw."""

    def stage(self, batch: Delivery, text: str) -> Delivery:
        self.publisher.stage(self.make(batch.partition, text), batch.partition, batch.part)
        return batch

    def stage_known(self, number: int, text: str, partition: str = DAY) -> Delivery:
        """A batch that was staged and judged: its delivery names what was staged."""
        source = self.publisher.stage(self.make(partition, text), partition)
        return msgspec.structs.replace(delivery(number, partition), source=source)

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


class IcebergLake(SparkLake):
    def __init__(self, spark: SparkSession) -> None:
        self.spark = spark
        self.table = f"lake.shop.orders{next(_numbers)}"
        spark.sql(f"CREATE TABLE {self.table} (day STRING, text STRING) USING iceberg PARTITIONED BY (day)")

    @property
    def publisher(self) -> Iceberg:
        return Iceberg(self.table, "day", spark=self.spark)

    def read_at(self, where: str) -> str:
        return self._read(f"SELECT text FROM {where} WHERE day = '{DAY.removeprefix('day=')}'") or ""

    def has(self, where: str) -> bool:
        from pyspark.errors import PySparkException

        try:
            return self._read(f"SELECT text FROM {where}") is not None
        except PySparkException:
            return False

    def of_kind(self, kind: str) -> Iceberg:
        table = f"lake.shop.orders{next(_numbers)}"
        self.spark.sql(f"CREATE TABLE {table} (day {kind}, text STRING) USING iceberg PARTITIONED BY (day)")
        return Iceberg(table, "day", spark=self.spark)

    def named(self, publisher: SparkTablePublisher) -> str:
        return publisher.table

    def beside(self, name: str) -> IcebergLake:
        return IcebergLake(self.spark)

    def roll_back(self, commits: int) -> None:
        rows = self.spark.sql(f"SELECT snapshot_id FROM {self.table}.history ORDER BY made_current_at").collect()
        name, snapshot = self.table.removeprefix("lake."), rows[-1 - commits]["snapshot_id"]
        self.spark.sql(f"CALL lake.system.rollback_to_snapshot('{name}', {snapshot})")


class DeltaLake(SparkLake):
    def __init__(self, spark: SparkSession, root: Path) -> None:
        self.spark, self.root = spark, root
        self.path = str(root / f"orders{next(_numbers)}")
        self.table = f"delta.`{self.path}`"
        spark.sql(f"CREATE TABLE {self.table} (day STRING, text STRING) USING delta PARTITIONED BY (day)")

    @property
    def publisher(self) -> Delta:
        return Delta(self.path, "day", spark=self.spark)

    def read_at(self, where: str) -> str:
        name = self.table if where == self.path else where
        return self._read(f"SELECT text FROM {name} WHERE day = '{DAY.removeprefix('day=')}'") or ""

    def has(self, where: str) -> bool:
        return any(self.publisher.describe(ref) == where for ref in self.publisher.list_refs())

    def of_kind(self, kind: str) -> Delta:
        path = str(self.root / f"orders{next(_numbers)}")
        self.spark.sql(f"CREATE TABLE delta.`{path}` (day {kind}, text STRING) USING delta PARTITIONED BY (day)")
        return Delta(path, "day", spark=self.spark)

    def named(self, publisher: SparkTablePublisher) -> str:
        return f"delta.`{publisher.table}`"

    def beside(self, name: str) -> DeltaLake:
        return DeltaLake(self.spark, self.root)

    def roll_back(self, commits: int) -> None:
        last = self.spark.sql(f"DESCRIBE HISTORY {self.table} LIMIT 1").collect()[0]["version"]
        self.spark.sql(f"RESTORE TABLE {self.table} TO VERSION AS OF {last - commits}")
