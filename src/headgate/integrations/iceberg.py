"""Batches that are partitions of an Iceberg table: staged as snapshots that readers do not see, published by a commit.

Tested by `tests/integrations/tables/test_iceberg.py`.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from headgate.gate.publish.publisher import Delivery, Part
from headgate.gate.publish.table_publisher import PartitionMarks
from headgate.gate.publish.table_refs import EMPTY, Ref, Refs, name_staged
from headgate.integrations.spark_tables import SparkTablePublisher
from headgate.integrations.table_statements import quote
from headgate.store.fault_points import fault_point
from headgate.values.errors import MisuseError, PublishError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Row, SparkSession

RETAINED_DAYS = 90
"""Days for which a staged or held batch is kept, unless it is published or discarded before."""
_SOURCE, _COPY_OF, _PARTITION = "iceberg:", "headgate-copy-of", "headgate-partition"
_STREAM, _NUMBER = "headgate.stream", "headgate.micro-batch"
_ORIGINS = ("source-snapshot-id", _COPY_OF)
"""Where the summary of a snapshot says which staged snapshot it shows."""
_PART = re.compile(r"[\w-]+")


class Iceberg(SparkTablePublisher):
    """The batches of one dataset as partitions of an Iceberg table.

    `stage` writes a batch into a snapshot that only a tag keeps: readers of the table do not see it. The gate judges
    that snapshot. `publish` puts it in the place of its partition by one commit, `cherrypick_snapshot`, which Iceberg
    refuses if the partition has changed since. The table must be partitioned by one column, by its values.

    Args:
        table: The name of the table with its catalogue: `lake.shop.orders`.
        by: The column that the table is partitioned by. The name of a batch is its value: `2026-11-14`, or
            `day=2026-11-14`.
        spark: The session. Default: the active one.
        retained_days: Days for which a staged or held batch is kept.
        quarantine: An Iceberg table for the bad rows of batches that are split, which is made when it is first needed.
    """

    form = "iceberg"

    def __init__(
        self,
        table: str,
        by: str,
        *,
        spark: SparkSession | None = None,
        retained_days: int = RETAINED_DAYS,
        quarantine: str | None = None,
    ) -> None:
        parts = table.split(".")
        if len(parts) < 3 or not all(map(_PART.fullmatch, parts)) or "`" in by:
            raise MisuseError(
                f"{table!r} is not the whole name of a table.", hint="Write catalogue.schema.table: lake.shop.orders."
            )
        self.table, self.by, self.retained_days = table, by, retained_days
        self._session = spark
        quoted = [f"`{part}`" for part in parts]
        self._name, self._catalogue, self._rest = ".".join(quoted), quoted[0], ".".join(quoted[1:])
        self._open_quarantine(quarantine)

    # --- the job

    def stage(self, df: DataFrame, partition: str, part: Part = "whole") -> str:
        """Write a batch where readers do not see it. It takes the place of what was staged for the partition before.

        Args:
            df: The rows, all with the same value of the column that the table is partitioned by.
            partition: The name of the batch.
            part: `good` or `bad` for a part of a batch that is split.

        Returns:
            What identifies the batch.
        """
        self._require_partitioning()
        self._refuse_other_branch()
        heads = self._list_snapshots()
        before = Refs.choose(_find_refs(heads), partition)
        if "main" not in heads:
            self._begin_main()
        branch = f"headgate-writing-{secrets.token_hex(8)}"
        fault_point("iceberg.branch")
        self._alter(f"CREATE BRANCH `{branch}` RETAIN 1 DAYS")
        source = self._write(df, branch, partition)
        self._add(name_staged(partition, part, source), source)
        self._alter(f"DROP BRANCH IF EXISTS `{branch}`")
        self._let_go(*(each for each in before.all if each.kind == "staged" and each.part == part))
        return source

    def read(self, source: str, partition: str) -> DataFrame:
        """The rows of a batch that was staged, wherever it is now."""
        with self.as_publish_error():
            rows = self.spark.sql(f"SELECT * FROM {self._name} VERSION AS OF {_find_id(source)}")
        is_of = "false" if source.endswith(EMPTY) else self.is_of(partition, rows)
        return rows.where(is_of)

    # --- streams

    def append(self, df: DataFrame, stream: str, number: int) -> None:
        """Append the rows of a micro-batch by one commit, which names it.

        Args:
            df: The rows.
            stream: What identifies the stream.
            number: The number of the micro-batch, which only grows.
        """
        self._refuse_other_branch()
        fault_point("iceberg.append")
        with self.as_publish_error():
            (
                df.writeTo(self._name)
                .option(f"snapshot-property.{_STREAM}", stream)
                .option(f"snapshot-property.{_NUMBER}", str(number))
                .append()
            )
        fault_point("iceberg.appended")

    def find_appended(self, stream: str) -> int:
        """The number of the last micro-batch of a stream that the table has; -1 if it has none."""
        rows = self._read(
            f"SELECT max(CAST(summary['{_NUMBER}'] AS BIGINT)) AS number FROM {self._name}.snapshots "
            f"WHERE summary['{_STREAM}'] = {quote(stream)}"
        )
        return -1 if rows[0]["number"] is None else int(rows[0]["number"])

    # --- what the table keeps

    def read_marks(self, partition: str) -> PartitionMarks:
        refs = Refs.choose(self.list_refs(), partition)  # first: whoever removes a ref has noted the revision before
        return PartitionMarks(refs, self.find_note(partition, self._read_properties()))

    def list_refs(self) -> list[Ref]:
        return _find_refs(self._list_snapshots())

    def add_ref(self, name: str, source: str) -> None:
        retained = f"RETAIN {self.retained_days} DAYS"
        self._alter(f"CREATE TAG IF NOT EXISTS `{name}` AS OF VERSION {_find_id(source)} {retained}")

    def remove_refs(self, refs: Sequence[Ref]) -> None:
        for each in refs:
            self._alter(f"DROP TAG IF EXISTS `{each.name}`")
            fault_point("iceberg.tag_dropped")

    def is_shown(self, source: str) -> bool:
        wanted = str(_find_id(source))
        shown = {
            row["snapshot_id"]
            for row in self._read(f"SELECT snapshot_id FROM {self._name}.history WHERE is_current_ancestor")
        }
        rows = self.collect(f"SELECT snapshot_id, summary FROM {self._name}.snapshots")
        return any(
            row["snapshot_id"] in shown and wanted in (str(row["snapshot_id"]), *map(row["summary"].get, _ORIGINS))
            for row in rows
        )

    def show(self, delivery: Delivery, source: str) -> None:
        if self.is_shown(source):
            return
        self._require_own(delivery, source)
        try:
            self._read(f"CALL {self._catalogue}.system.cherrypick_snapshot('{self._rest}', {_find_id(source)})")
        except PublishError:
            if not self.is_shown(source):  # otherwise another publisher was faster
                self._copy_over(delivery, source)

    def read_properties(self) -> dict[str, str]:
        self._refresh()
        return self._read_properties()

    def set_properties(self, properties: Mapping[str, str]) -> None:
        self._alter(
            f"SET TBLPROPERTIES ({', '.join(f'{quote(name)} = {quote(properties[name])}' for name in properties)})"
        )

    def unset_properties(self, names: list[str]) -> None:
        self._alter(f"UNSET TBLPROPERTIES IF EXISTS ({', '.join(map(quote, names))})")

    def is_kept(self, delivery: Delivery) -> bool:
        rows = self._read(f"SELECT snapshot_id, summary FROM {self._name}.snapshots")
        wanted = str(_find_id(delivery.source))
        made = [row for row in rows if wanted in (str(row["snapshot_id"]), *map(row["summary"].get, _ORIGINS))]
        return bool(self.list_files(delivery.partition)) and (not made or self.is_shown(delivery.source))

    def name_partitions(self, refs: Sequence[Ref]) -> list[str]:
        rows = self._read(f"SELECT snapshot_id, summary FROM {self._name}.snapshots") if refs else []
        names = {row["snapshot_id"]: row["summary"].get(_PARTITION) for row in rows}
        return [names[_find_id(each.source)] for each in refs]

    def describe(self, ref: Ref | None) -> str:
        return self.table if ref is None else f"{self.table}.`tag_{ref.name}`"

    # --- steps

    def _begin_main(self) -> None:
        """Give a table without any snapshot an empty one, which those of the batches follow."""
        branch = f"headgate-first-{secrets.token_hex(8)}"
        self._alter(f"CREATE BRANCH `{branch}`")
        try:
            self._read(f"CALL {self._catalogue}.system.fast_forward('{self._rest}', 'main', '{branch}')")
        except PublishError:
            if self._find_snapshot("main") is None:  # otherwise another job was faster
                raise
        self._alter(f"DROP BRANCH IF EXISTS `{branch}`")

    def _write(self, df: DataFrame, branch: str, partition: str) -> str:
        """Write a batch to a branch. Says what identifies it."""
        target, base = f"{self._name}.`branch_{branch}`", self._find_snapshot(branch)
        with self.as_publish_error():
            df.writeTo(target).option(f"snapshot-property.{_PARTITION}", partition).overwritePartitions()
            fault_point("iceberg.written")
            snapshot = self._find_snapshot(branch)
            if snapshot == base:  # a batch without rows
                df.limit(0).writeTo(target).option(f"snapshot-property.{_PARTITION}", partition).append()
                return f"{_SOURCE}{self._find_snapshot(branch)}{EMPTY}"
        try:
            self._require_one_partition(snapshot, partition)
        except PublishError:
            self._alter(f"DROP BRANCH IF EXISTS `{branch}`")
            raise
        return f"{_SOURCE}{snapshot}"

    def _require_one_partition(self, snapshot: int | None, partition: str) -> None:
        """Refuse rows of other partitions, and a table whose other files are partitioned in another way."""
        rows = self._read(
            f"SELECT DISTINCT CAST(data_file.partition.`{self.by}` AS STRING) AS value "
            f"FROM {self._name}.entries VERSION AS OF {snapshot} "
            f"WHERE snapshot_id = {snapshot} AND status = 1 AND NOT {self._is_of_partition(partition)} LIMIT 3"
        )
        if rows:
            found, wanted = ", ".join(sorted(str(row["value"]) for row in rows)), self.find_value(partition)
            raise PublishError(
                f"the batch {partition} has rows of {self.by} = {found}.",
                hint=f"Stage the rows of {self.by} = {wanted} alone, or name the batch after its rows.",
            )
        specs = self.collect(f"SELECT DISTINCT spec_id FROM {self._name}.files VERSION AS OF {snapshot}")
        if len(specs) > 1:
            raise PublishError(
                f"some files of {self.table} are partitioned in another way than {self.by}.",
                hint="Rewrite them: a batch could not take the place of rows in such files.",
            )

    def _is_of_partition(self, partition: str) -> str:
        """Whether an entry of the metadata is of a batch, as a condition of Spark SQL."""
        with self.as_publish_error():
            rows = self.spark.table(self._name)
        return self.is_of(partition, rows, f"data_file.partition.`{self.by}`")

    def _copy_over(self, delivery: Delivery, source: str) -> None:
        """Write the rows of a batch once more, to main: its partition has changed since it was staged.

        That is done only if the change was a revision of ours. What somebody else wrote is not replaced.
        """
        main = self._find_snapshot("main")
        self._require_own(delivery, source)
        self._require_taken(delivery)  # after main was read: what is published from now on makes the copy fail
        fault_point("iceberg.copy")
        with self.as_publish_error():
            (
                self.read(source, delivery.partition)
                .writeTo(self._name)
                .option(f"snapshot-property.{_COPY_OF}", str(_find_id(source)))
                .option("isolation-level", "serializable")
                .option("validate-from-snapshot-id", str(main))
                .overwritePartitions()
            )
        if not self.is_shown(source):
            raise PublishError(f"{self.table} did not take {delivery}.", hint="Is spark.wap.id set? Unset it.")

    def _require_own(self, delivery: Delivery, source: str) -> None:
        """Refuse to replace a partition that somebody else has changed after the batch was staged."""
        heads = self._list_snapshots()
        rows = self.collect(f"SELECT snapshot_id, parent_id, operation, summary FROM {self._name}.snapshots")
        snapshots = {row["snapshot_id"]: row for row in rows}
        taken = [each for each in Refs.choose(_find_refs(heads), delivery.partition).all if each.kind == "taken"]
        noted = self.find_noted(delivery.partition, self._read_properties())
        sources = [*(each.source for each in noted), *(each.source for each in taken)]
        own = set(map(str, map(_find_id, sources)))
        if (staged := snapshots.get(_find_id(source))) is None:
            raise PublishError(f"the snapshot of {delivery} has expired.", hint="Stage the batch again, and judge it.")
        begun, at = staged["parent_id"], heads.get("main")
        while at != begun:
            row = snapshots.get(at)
            if row is None:  # expired, so nobody knows who changed what
                is_foreign = not self._is_unchanged(delivery.partition, source)
                at = begun
            else:
                ids = {str(at), row["summary"].get("source-snapshot-id"), row["summary"].get(_COPY_OF)}
                is_foreign = row["operation"] != "replace" and not ids & own and self._changes(at, delivery.partition)
                at = row["parent_id"]
            if is_foreign:
                raise PublishError(
                    f"somebody else changed {self.by} = {self.find_value(delivery.partition)} of {self.table} after "
                    f"{delivery} was staged.",
                    hint="Stage the batch again, and judge it: it is a new revision.",
                )

    def _changes(self, snapshot: int | None, partition: str) -> bool:
        """Whether a snapshot adds or removes files of a partition."""
        return bool(
            self._read(
                f"SELECT 1 FROM {self._name}.entries VERSION AS OF {snapshot} "
                f"WHERE snapshot_id = {snapshot} AND status > 0 AND {self._is_of_partition(partition)} LIMIT 1"
            )
        )

    def _is_unchanged(self, partition: str, source: str) -> bool:
        """Whether main has the files of a partition that it had when a batch was staged."""
        staged = _find_id(source)
        replaced = self._read(
            f"SELECT data_file.file_path AS path FROM {self._name}.entries VERSION AS OF {staged} "
            f"WHERE status = 2 AND snapshot_id = {staged}"
        )
        return {row["path"] for row in replaced} == self.list_files(partition)

    def list_files(self, partition: str) -> frozenset[str]:
        """The files of a partition that readers have."""
        rows = self._read(
            f"SELECT data_file.file_path AS path FROM {self._name}.entries "
            f"WHERE status < 2 AND {self._is_of_partition(partition)}"
        )
        return frozenset(row["path"] for row in rows)

    def _require_partitioning(self) -> None:
        with self.as_publish_error():
            fields = self.spark.table(f"{self._name}.partitions").schema
        kind: Any = fields["partition"].dataType if "partition" in fields.names else None
        found = [] if kind is None else kind.fieldNames()
        if [each.lower() for each in found] != [self.by.lower()]:
            raise MisuseError(
                f"{self.table} is partitioned by {', '.join(found) or 'nothing'}, not by {self.by}.",
                hint="A batch takes the place of one partition: partition the table by that column, and by no other.",
            )

    def _refuse_other_branch(self) -> None:
        """Refuse a session whose settings send all writes to this table to a branch or a snapshot of their own."""
        found = [name for name in ("spark.wap.branch", "spark.wap.id") if self.spark.conf.get(name, None)]
        if found and self.read_properties().get("write.wap.enabled", "").lower() == "true":
            raise MisuseError(
                f"{found[0]} is set, so {self.table} would be written elsewhere.",
                hint=f"Unset it in this session: batches are staged where readers do not see them without {found[0]}.",
            )

    def _find_snapshot(self, ref: str) -> int | None:
        """The snapshot that a branch or tag names; None if there is none."""
        return self._list_snapshots().get(ref)

    def _list_snapshots(self) -> dict[str, int]:
        """The snapshots of all branches and tags, by name."""
        rows = self._read(f"SELECT name, snapshot_id FROM {self._name}.refs")
        return {row["name"]: row["snapshot_id"] for row in rows}

    def _read_properties(self) -> dict[str, str]:
        """The properties of the table as this session last saw it."""
        return {row["key"]: row["value"] for row in self.collect(f"SHOW TBLPROPERTIES {self._name}")}

    def _alter(self, what: str) -> None:
        """Change refs or properties."""
        self._refresh()
        self.commit(f"ALTER TABLE {self._name} {what}")

    def _read(self, statement: str) -> list[Row]:
        """Run a statement on the table as it is now, not as this session last saw it."""
        self._refresh()
        return self.collect(statement)

    def _refresh(self) -> None:
        self.collect(f"REFRESH TABLE {self._name}")


def _find_refs(snapshots: Mapping[str, int]) -> list[Ref]:
    refs = (Ref.parse(name, f"{_SOURCE}{snapshot}") for name, snapshot in snapshots.items())
    return [each for each in refs if each is not None]


def _find_id(source: str) -> int:
    return int(source.removeprefix(_SOURCE).removesuffix(EMPTY))
