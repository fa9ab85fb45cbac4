"""What an Iceberg or Delta table knows of its own commits: which files a batch has, and what the table was before.

Tested by `tests/integrations/tables/test_table_log.py`.
"""

from __future__ import annotations

import abc
import hashlib
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import msgspec

from headgate.engine.spark_faults import raise_faults
from headgate.integrations.table_statements import quote, quote_table
from headgate.metrics.base.sql import add_backticks

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Row, SparkSession

DELTA_UNCHANGED = frozenset({"OPTIMIZE", "VACUUM START", "VACUUM END", "FSCK", "REORG", "SET TBLPROPERTIES"})
"""Operations of a Delta table after which it has the same rows."""


class Snapshot(msgspec.Struct, frozen=True):
    """A table as it was: `partition` is the time of the commit, `source` what identifies it."""

    partition: str
    source: str


class TableLog(abc.ABC):
    """The commits of one table."""

    def __init__(self, table: str, session: SparkSession) -> None:
        self.table, self.spark = table, session
        self._name = quote_table(table)

    def identify_batch(self, column: str, partition: str) -> str:
        """A text that changes with the rows of a batch; empty if the table is not partitioned by the column.

        It changes with the files, so a compaction changes it, too.
        """
        files = self._list_files(column, partition)
        return "" if files is None else _hash_texts(files)

    def list_snapshots(self, form: str = "%Y-%m-%d") -> list[Snapshot]:
        """What the table was at the end of each day, or of what else `form` tells, oldest first.

        They are named by the time of their commit in UTC. Of several commits with the same name, the last one counts.
        """
        last = {f"{when:{form}}": source for when, source in self._list_commits()}
        return [Snapshot(name, source) for name, source in last.items()]

    def read_snapshot(self, snapshot: Snapshot) -> DataFrame:
        """The rows that the table had."""
        number = snapshot.source.partition(":")[2]
        with raise_faults():
            return self.spark.sql(f"SELECT * FROM {self._name} VERSION AS OF {number}")

    @abc.abstractmethod
    def _list_files(self, column: str, partition: str) -> list[str] | None:
        """The files of a batch; None if they cannot be told."""

    @abc.abstractmethod
    def _list_commits(self) -> list[tuple[datetime, str]]:
        """The time of each commit that changed rows, and what identifies the table after it, oldest first."""

    def _collect(self, statement: str) -> list[Row]:
        with raise_faults():
            return self.spark.sql(statement).collect()


class IcebergLog(TableLog):
    """The snapshots of an Iceberg table."""

    def _list_files(self, column: str, partition: str) -> list[str] | None:
        with raise_faults():
            kind: Any = self.spark.table(f"{self._name}.files").schema
        self._collect(f"REFRESH TABLE {self._name}")
        fields = kind["partition"].dataType.fieldNames() if "partition" in kind.names else []
        if column.lower() not in map(str.lower, fields):
            return None
        value = f"CAST(partition.{add_backticks(column)} AS STRING)"
        rows = self._collect(f"SELECT file_path FROM {self._name}.files WHERE {value} = {quote(partition)}")
        return [row["file_path"] for row in rows]

    def _list_commits(self) -> list[tuple[datetime, str]]:
        rows = self._collect(
            "SELECT h.snapshot_id, s.operation, unix_micros(h.made_current_at) AS micros "
            f"FROM {self._name}.history h JOIN {self._name}.snapshots s "
            "ON s.snapshot_id = h.snapshot_id ORDER BY h.made_current_at"
        )
        shown: list[Row] = []
        for row in rows:  # one that is shown again was rolled back to: what came after it does not count
            known = [each["snapshot_id"] for each in shown]
            shown = shown[: known.index(row["snapshot_id"]) + 1] if row["snapshot_id"] in known else [*shown, row]
        return [
            (datetime.fromtimestamp(row["micros"] / 1e6, UTC), f"iceberg:{row['snapshot_id']}")
            for row in shown
            if row["operation"] != "replace"
        ]


class DeltaLog(TableLog):
    """The versions of a Delta table."""

    def _list_files(self, column: str, partition: str) -> list[str] | None:
        (details,) = self._collect(f"DESCRIBE DETAIL {self._name}")
        if column.lower() not in map(str.lower, details["partitionColumns"]):
            return None
        commits = self._collect(f"DESCRIBE HISTORY {self._name}")
        # rows that are marked as deleted leave the names of the files as they are
        marked = [row["version"] for row in commits if _count_marked(row)]
        rows = self.spark.table(self._name)
        with raise_faults():
            files = rows.where(f"CAST({add_backticks(column)} AS STRING) = {quote(partition)}").inputFiles()
        return [*files, f"rows were marked as deleted in version {max(marked, default=0)}"]

    def _list_commits(self) -> list[tuple[datetime, str]]:
        rows = self._collect(f"DESCRIBE HISTORY {self._name}")
        shown: list[Row] = []
        for row in sorted(rows, key=lambda row: row["version"]):
            if row["operation"] == "RESTORE":  # what came after the version that it goes back to does not count
                back = row["operationParameters"].get("version")
                shown = [each for each in shown if back is None or each["version"] <= int(back)]
            elif row["operation"] not in DELTA_UNCHANGED and row["operationMetrics"]:
                shown.append(row)
        return [(row["timestamp"].astimezone(UTC), f"delta:{row['version']}") for row in shown]


def open_log(form: str, table: str, session: SparkSession) -> TableLog:
    """The log of a table of a format, `iceberg` or `delta`."""
    return (IcebergLog if form == "iceberg" else DeltaLog)(table, session)


def _count_marked(commit: Row) -> int:
    return int((commit["operationMetrics"] or {}).get("numDeletionVectorsAdded", 0))


def _hash_texts(texts: Iterable[str]) -> str:
    return f"files:{hashlib.sha256(chr(0).join(sorted(texts)).encode()).hexdigest()[:40]}"
