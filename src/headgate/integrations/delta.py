"""Batches that are partitions of a Delta table: staged as tables beside it, published by one commit that overwrites.

Tested by `tests/integrations/tables/test_delta.py`.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from functools import cached_property
from typing import TYPE_CHECKING, Any

from headgate.engine.spark_settings import apply_settings
from headgate.gate.publish.publisher import Delivery, Part
from headgate.gate.publish.table_publisher import PartitionMarks
from headgate.gate.publish.table_refs import Ref, Refs, hash_partition, name_staged
from headgate.integrations.spark_tables import SparkTablePublisher
from headgate.integrations.table_log import DELTA_UNCHANGED
from headgate.integrations.table_statements import as_column, quote, quote_table
from headgate.store.fault_points import fault_point
from headgate.values.errors import MisuseError, PublishError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Row, SparkSession

_SOURCE, _MARK, _COLUMN_MAPPING = "delta:", "headgate", "delta.columnMapping.mode"
_NO_TABLE = ("DELTA_MISSING_DELTA_TABLE", "DELTA_TABLE_NOT_FOUND", "PATH_DOES_NOT_EXIST", "TABLE_OR_VIEW_NOT_FOUND")
_NO_STATISTICS = {"delta.dataSkippingNumIndexedCols": "0"}  # a staged batch is read whole
_DETAILS = "# Detailed Table Information"
_REDACTED = "*********(redacted)"
_NO_VARIABLES = {"spark.sql.variable.substitute": "false"}


class Delta(SparkTablePublisher):
    """The batches of one dataset as partitions of a Delta table.

    `stage` writes a batch as a small Delta table of its own into the folder `staging`: readers of the table do not see
    it. The gate judges that table. `publish` puts its rows in the place of the partition by one commit, which has the
    number of the revision as the version of its transaction: Delta drops a late commit of an older revision.

    Args:
        table: The name of the table, `shop.orders`, or its path, `s3a://lake/orders`.
        by: The column that tells the batch of a row. The name of a batch is its value: `2026-11-14`, or
            `day=2026-11-14`.
        spark: The session. Default: the active one.
        staging: The folder for staged and held batches. Default: beside the table, with `_headgate` after its name.
        quarantine: A Delta table for the bad rows of batches that are split, which is made when it is first needed.
    """

    form = "delta"

    def __init__(
        self,
        table: str,
        by: str,
        *,
        spark: SparkSession | None = None,
        staging: str | None = None,
        quarantine: str | None = None,
    ) -> None:
        if not table or "`" in table or "`" in (staging or "") or "`" in by:
            raise MisuseError(
                f"{table!r} is not the name or the path of a table.", hint="Write shop.orders, or a path."
            )
        self.table, self.by = table, by
        self._session = spark
        self._name = quote_table(table)
        self._given = None if staging is None else staging.rstrip("/")
        self._open_quarantine(quarantine)

    @property
    def staging(self) -> str:
        """The folder for staged and held batches."""
        if self._given is None:
            self._given = f"{self._find_place().rstrip('/')}_headgate"
        return self._given

    @cached_property
    def _mapping(self) -> dict[str, str]:
        """The property by which columns of the table may have any name, for tables that are made beside it."""
        found = self._read_properties(self._name)
        return {name: mode for name, mode in found.items() if name == _COLUMN_MAPPING}

    # --- the job

    def stage(self, df: DataFrame, partition: str, part: Part = "whole") -> str:
        """Write a batch where readers do not see it. It takes the place of what was staged for the partition before.

        Args:
            df: The rows, all with the same value of the column that tells their batch.
            partition: The name of the batch.
            part: `good` or `bad` for a part of a batch that is split.

        Returns:
            What identifies the batch.
        """
        before = Refs.choose(_find_refs(self._open_refs()), partition)
        place = f"{hash_partition(partition)}/{secrets.token_hex(8)}"
        begun = json.dumps({_MARK: {"main": self._find_version(), "partition": partition}})
        fault_point("delta.stage")
        with self.as_publish_error():
            writer = df.write.format("delta").option("userMetadata", begun)
            writer.options(**self._mapping, **_NO_STATISTICS).save(f"{self.staging}/{place}")
        fault_point("delta.written")
        source = f"{_SOURCE}{place}"
        self._require_partition(source, partition)
        self._add(name_staged(partition, part, source), source)
        self._let_go(*(each for each in before.all if each.kind == "staged" and each.part == part))
        return source

    def read(self, source: str, partition: str) -> DataFrame:
        """The rows of a batch that was staged, wherever it is now."""
        return self.spark.read.format("delta").option("versionAsOf", 0).load(self._find_path(source))

    # --- streams

    def append(self, df: DataFrame, stream: str, number: int) -> None:
        """Append the rows of a micro-batch by one commit. Delta drops the commit if it has that micro-batch already.

        Args:
            df: The rows.
            stream: What identifies the stream.
            number: The number of the micro-batch, which only grows.
        """
        mark = {_MARK: {"stream": stream, "number": number}}
        fault_point("delta.append")
        with self.as_publish_error():
            (
                df.writeTo(self._name)
                .option("txnAppId", f"headgate/stream/{stream}")
                .option("txnVersion", str(number))
                .option("userMetadata", json.dumps(mark))
                .append()
            )
        fault_point("delta.appended")

    def find_appended(self, stream: str) -> int:
        """The number of the last micro-batch of a stream that the table has; -1 if it has none."""
        marks = (_read_user_mark(row) for row in self._list_commits())
        return max((int(mark["number"]) for mark in marks if mark.get("stream") == stream), default=-1)

    # --- what the table keeps

    def read_marks(self, partition: str) -> PartitionMarks:
        properties = self.read_properties()
        return PartitionMarks(Refs.choose(_find_refs(properties), partition), self.find_note(partition, properties))

    def list_refs(self) -> list[Ref]:
        return _find_refs(self.read_properties())

    def add_ref(self, name: str, source: str) -> None:
        self.set_properties({name: source})

    def remove_refs(self, refs: Sequence[Ref]) -> None:
        self.unset_properties([each.name for each in refs])

    def is_shown(self, source: str) -> bool:
        return _has_published(self._list_commits(), source)

    def show(self, delivery: Delivery, source: str) -> None:
        commits = self._list_commits()
        if _has_published(commits, source):
            return
        self._require_own(delivery, source, commits)
        fault_point("delta.commit")
        try:
            self._overwrite(delivery, source)
        except PublishError:
            if not self.is_shown(source):  # otherwise another publisher was faster
                raise
            return
        if not self.is_shown(source):  # Delta dropped the commit: it has one of a newer revision
            raise PublishError(
                f"{delivery} is older than a revision that is published.",
                hint="Stage the batch again: it becomes a new revision.",
            )

    def read_properties(self) -> dict[str, str]:
        try:
            return self._read_properties(self._refs)
        except PublishError as error:
            if any(word in str(error) for word in _NO_TABLE):
                return {}
            raise

    def set_properties(self, properties: Mapping[str, str]) -> None:
        pairs = ", ".join(f"{quote(name)} = {quote(value)}" for name, value in properties.items())
        self.commit(f"ALTER TABLE {self._refs} SET TBLPROPERTIES ({pairs})")

    def unset_properties(self, names: list[str]) -> None:
        self.commit(f"ALTER TABLE {self._refs} UNSET TBLPROPERTIES IF EXISTS ({', '.join(map(quote, names))})")

    def is_kept(self, delivery: Delivery) -> bool:
        commits = self._list_commits()
        shown = [row["version"] for row in commits if _find_published(row) == delivery.source]
        restored = [
            int(row["operationParameters"].get("version") or -1)
            for row in commits
            if row["operation"] == "RESTORE" and shown and row["version"] > max(shown)
        ]
        if restored and min(restored) < max(shown):
            return False
        return (
            bool(self.list_files(delivery.partition)) or not self.read(delivery.source, delivery.partition).inputFiles()
        )

    def name_partitions(self, refs: Sequence[Ref]) -> list[str]:
        return [str(self._read_mark(each.source)["partition"]) for each in refs]

    def describe(self, ref: Ref | None) -> str:
        return self.table if ref is None else f"delta.`{self._find_path(ref.source)}`"

    # --- steps

    def _overwrite(self, delivery: Delivery, source: str) -> None:
        """Put rows in the place of their partition. Delta drops the commit if it has one of a newer revision."""
        value = self.find_value(delivery.partition)
        is_replaced = as_column(self.spark, f"`{self.by}` = {quote(value)}")
        # Delta writes the condition as SQL and reads that again, in which Spark would replace a variable
        settings = apply_settings(self.spark, _NO_VARIABLES) if "${" in value else nullcontext()
        with self.as_publish_error(), settings:
            (
                self.read(source, delivery.partition)
                .writeTo(self._name)  # saveAsTable fails on Spark 3.5
                .option("txnAppId", f"headgate/{delivery.dataset}/{delivery.partition}")
                .option("txnVersion", str(delivery.number))
                .option("userMetadata", json.dumps({_MARK: {"source": source}}))
                .overwrite(is_replaced)
            )

    def _find_place(self) -> str:
        """The path of the table."""
        if "/" in self.table:
            return self.table
        rows = self.collect(f"DESCRIBE TABLE EXTENDED {self._name}")
        names = [row["col_name"] for row in rows]
        details = names.index(_DETAILS) if _DETAILS in names else len(names)  # a column may have any name
        for row in rows[details:]:
            if row["col_name"] == "Location":
                return str(row["data_type"])
        raise PublishError(f"Spark does not say where {self.table} is.", hint="Name its path, or give staging=.")

    def _read_properties(self, table: str) -> dict[str, str]:
        """The properties of a table. Spark shows them without a job, and hides what looks like a secret."""
        shown = {row["key"]: row["value"] for row in self.collect(f"SHOW TBLPROPERTIES {table}")}
        if _REDACTED not in shown.values():
            return shown
        return dict(self.collect(f"DESCRIBE DETAIL {table}")[0]["properties"])

    @property
    def _refs(self) -> str:
        """The table without rows whose properties are the refs and the notes."""
        return f"delta.`{self.staging}/refs`"

    def _open_refs(self) -> dict[str, str]:
        """The properties of the table that keeps refs, which is made if it is not there."""
        properties = self.read_properties()
        if not properties:
            self.commit(f"CREATE TABLE IF NOT EXISTS {self._refs} (headgate STRING) USING delta")
        return properties

    def _require_partition(self, source: str, partition: str) -> None:
        """Refuse rows that would not be put in the place of the partition."""
        rows = self.read(source, partition)
        with self.as_publish_error():
            others = rows.where(f"NOT {self.is_of(partition, rows)}").select(f"`{self.by}`").distinct()
            found = sorted(str(row[0]) for row in others.limit(3).collect())
        if found:
            wanted = self.find_value(partition)
            raise PublishError(
                f"the batch {partition} has rows of {self.by} = {', '.join(found)}.",
                hint=f"Stage the rows of {self.by} = {wanted} alone, or name the batch after its rows.",
            )

    def _require_own(self, delivery: Delivery, source: str, commits: Sequence[Row]) -> None:
        """Refuse to replace rows of the partition that were not there when the batch was staged, and are not ours."""
        begun = int(self._read_mark(source)["main"])
        is_cut = min(row["version"] for row in commits) > begun + 1  # the log of that time is deleted
        foreign = [
            row
            for row in commits
            if row["version"] > begun and not _find_published(row) and row["operation"] not in DELTA_UNCHANGED
        ]
        if is_cut or any(self._changes(row, delivery.partition) for row in foreign):
            raise PublishError(
                f"somebody else changed {self.by} = {self.find_value(delivery.partition)} of {self.table} after "
                f"{delivery} was staged, or the table does not know any more who did.",
                hint="Stage the batch again, and judge it: it is a new revision.",
            )

    def _changes(self, commit: Row, partition: str) -> bool:
        """Whether a commit changes rows of a partition. One that marks rows as deleted in their files may do so."""
        if int((commit["operationMetrics"] or {}).get("numDeletionVectorsAdded", 0)):
            return True
        version = commit["version"]
        return self.list_files(partition, version) != self.list_files(partition, version - 1)

    def _read_mark(self, source: str) -> dict[str, Any]:
        """What was noted when a batch was staged: its partition, and the version of the table."""
        rows = self.collect(f"DESCRIBE HISTORY delta.`{self._find_path(source)}`")
        first = next(row for row in rows if row["version"] == 0)
        mark: dict[str, Any] = json.loads(first["userMetadata"])[_MARK]
        return mark

    def list_files(self, partition: str, version: int | None = None) -> frozenset[str]:
        """The files of a partition, now or at a version of the table."""
        at = "" if version is None else f" VERSION AS OF {version}"
        with self.as_publish_error():
            rows = self.spark.sql(f"SELECT * FROM {self._name}{at}")
            return frozenset(rows.where(self.is_of(partition, rows)).inputFiles())

    def _list_commits(self) -> list[Row]:
        return self.collect(f"DESCRIBE HISTORY {self._name}")

    def _find_version(self) -> int:
        return int(self.collect(f"DESCRIBE HISTORY {self._name} LIMIT 1")[0]["version"])

    def _find_path(self, source: str) -> str:
        return f"{self.staging}/{source.removeprefix(_SOURCE)}"


def _find_refs(properties: Mapping[str, str]) -> list[Ref]:
    refs = (Ref.parse(name, source) for name, source in properties.items())
    return [each for each in refs if each is not None]


def _has_published(commits: Sequence[Row], source: str) -> bool:
    return any(_find_published(row) == source for row in commits)


def _find_published(commit: Row) -> str:
    """What a commit of ours has published; empty if it is somebody else's."""
    return str(_read_user_mark(commit).get("source", ""))


def _read_user_mark(commit: Row) -> dict[str, Any]:
    """What we have noted in a commit; nothing if it is somebody else's."""
    try:
        told = json.loads(commit["userMetadata"] or "{}")
    except ValueError:
        return {}
    mark = told.get(_MARK) if isinstance(told, dict) else None
    return mark if isinstance(mark, dict) else {}
