"""What publishers of tables do through Spark: the rows of batches, those of a batch that is split, and notes.

Tested by `tests/integrations/tables/`.
"""

from __future__ import annotations

import abc
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, ClassVar, Literal, NamedTuple

import msgspec

from headgate.engine.row_rule import REASONS
from headgate.engine.spark_sources import active_session, find_column
from headgate.gate.publish.publisher import BatchLocation, Delivery, Part
from headgate.gate.publish.table_publisher import TablePublisher
from headgate.gate.publish.table_refs import Refs, hash_partition
from headgate.integrations.quarantine import QuarantineTable, drop_marks
from headgate.integrations.table_statements import CONFLICTS, as_publish_error, commit_statement, quote, run_statement
from headgate.metrics.base.sql import add_backticks
from headgate.values.errors import MisuseError, PublishError
from headgate.values.run import Revision

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Row, SparkSession

MOST_NOTES = 1_000
"""Partitions of which a table says what is published, those that were published last. The history knows of all."""
KEPT_REVISIONS = 5
"""Revisions of a partition that a table remembers as its own."""
_NOTE = "headgate.published."


class PublishedRevision(msgspec.Struct, frozen=True):
    """A revision that was published; `at` says in which order."""

    at: int
    delivery: Delivery


class PartCounts(NamedTuple):
    """How many rows of a batch are good, and how many bad."""

    good: int
    bad: int


class SparkTablePublisher(TablePublisher):
    """A publisher of a table that Spark reads and writes. Properties keep the notes of what is published."""

    form: ClassVar[Literal["iceberg", "delta"]]
    by: str
    quarantine: QuarantineTable | None = None
    """Where the bad rows of a batch that is split go; without one, they are kept as a batch is that was held."""
    _name: str
    """The name of the table in a statement."""
    open_session: Callable[[], SparkSession | None] = staticmethod(active_session)
    """Gives the session, if none was passed: the active one, classic or Connect."""
    _session: SparkSession | None

    @property
    def spark(self) -> SparkSession:
        """The session that the table is read and written with."""
        if self._session is None:
            self._session = self.open_session()
        if self._session is None:
            raise MisuseError("there is no active Spark session.", hint="Pass one: spark=spark.")
        return self._session

    def _open_quarantine(self, table: str | None) -> None:
        if table is not None:
            self.quarantine = QuarantineTable(table, self.form, self.table, lambda: self.spark)

    @abc.abstractmethod
    def stage(self, df: DataFrame, partition: str, part: Part = "whole") -> str:
        """Write a batch where readers do not see it. Says what identifies it."""

    @abc.abstractmethod
    def list_files(self, partition: str) -> frozenset[str]:
        """The files of a partition that readers have."""

    @abc.abstractmethod
    def read(self, source: str, partition: str) -> DataFrame:
        """The rows of a batch that was staged, wherever it is now."""

    def read_staged(self, partition: str, part: Part = "whole") -> DataFrame:
        """The rows of the batch that is staged for a partition, as they were written."""
        source = self.identify_staged(partition, part)
        if not source:
            raise PublishError(f"nothing is staged for {partition} of {self.table}.", hint="Call stage(df, partition).")
        return self.read(source, partition)

    def stage_parts(self, revision: Revision, good: DataFrame, bad: DataFrame) -> PartCounts:
        """Stage the two parts of a held batch. `gate.split` then publishes the good rows.

        The bad rows go to the quarantine table, with their reasons. Without such a table they are staged without them.
        Parts that are not the whole batch together are refused.

        Args:
            revision: The revision of the batch: `verdict.revision`.
            good: The first part of `verdict.split(df)`.
            bad: The second part.

        Returns:
            How many rows each part has.
        """
        partition = revision.partition
        if self.quarantine is None:
            self.stage(bad.drop(REASONS), partition, "bad")
            kept = self.read_staged(partition, "bad")
        else:
            self.quarantine.write(bad, partition, revision.number)
            kept = self.quarantine.read(partition, revision.number)
        source = self.stage(good, partition, "good")
        with self.as_publish_error():
            counts = PartCounts(self.read(source, partition).count(), kept.count())
            whole = self.read_batch(Delivery.of(revision)).count()
        if sum(counts) != whole:
            self._unstage(source, partition)
            raise PublishError(
                f"{counts.good:,} good and {counts.bad:,} bad rows are not the {whole:,} rows of {partition}.",
                hint="Does a rule depend on the time at which it is evaluated? Write down the time instead.",
            )
        return counts

    def stage_repaired(self, rows: DataFrame, partition: str) -> str:
        """Stage the good rows of a split batch together with its bad ones, repaired, to be judged again.

        Rows that are left out are not part of the batch any more.

        Args:
            rows: The repaired rows, as the quarantine table has them or without its columns.
            partition: The name of the batch.

        Returns:
            What identifies the batch.
        """
        note = self.read_marks(partition).note
        if note is None or note.part != "good":
            raise PublishError(
                f"readers do not have a part of {partition}, to which repaired rows could be added.",
                hint="They have the batch whole, or nothing of it. Stage it whole: stage(df, partition).",
            )
        before = self.list_files(partition)
        with self.as_publish_error():
            published = self.read_published(partition)
            both = published.unionByName(drop_marks(rows), allowMissingColumns=True)
            whole = both.select(*map(add_backticks, published.columns))
        source = self.stage(whole, partition)
        if self.list_files(partition) != before:
            self._unstage(source, partition)
            raise PublishError(
                f"{self.by} = {self.find_value(partition)} of {self.table} was changed while rows were added to it.",
                hint="Stage the repaired rows again.",
            )
        return source

    def _unstage(self, source: str, partition: str) -> None:
        """Take back what was just staged."""
        self._let_go(*Refs.choose(self.list_refs(), partition).list_staged(source))

    def read_batch(self, delivery: Delivery) -> DataFrame:
        """The rows of a revision, wherever it is; those that readers have if it is published."""
        is_published = self.state(delivery) == "published"
        return (
            self.read_published(delivery.partition) if is_published else self.read(delivery.source, delivery.partition)
        )

    def read_published(self, partition: str) -> DataFrame:
        """The rows of a partition that readers have."""
        rows = self.read_table()
        return rows.where(self.is_of(partition, rows))

    def read_table(self) -> DataFrame:
        """The rows that readers have now."""
        self.collect(f"REFRESH TABLE {self._name}")
        with self.as_publish_error():
            return self.spark.table(self._name)

    # --- bad rows are where the quarantine table is

    def identify_staged(self, partition: str, part: Part = "whole") -> str:
        if part == "bad" and self.quarantine is not None:
            return self.quarantine.identify(partition)
        return super().identify_staged(partition, part)

    def hold(self, delivery: Delivery) -> str:
        if delivery.part == "bad" and self.quarantine is not None:
            self.quarantine.require_rows(delivery.partition, delivery.number)
            return self.quarantine.table
        return super().hold(delivery)

    def discard(self, delivery: Delivery) -> None:
        if delivery.part == "bad" and self.quarantine is not None:
            self.quarantine.delete(delivery.partition, delivery.number)
        else:
            super().discard(delivery)

    def locate(self, delivery: Delivery) -> str:
        if delivery.part == "bad" and self.quarantine is not None:
            return self.quarantine.table if self.state(delivery) == "held" else ""
        return super().locate(delivery)

    def state(self, delivery: Delivery) -> BatchLocation:
        if delivery.part == "bad" and self.quarantine is not None:
            return "held" if self.quarantine.has_rows(delivery.partition, delivery.number) else "absent"
        return super().state(delivery)

    # --- what is staged, and notes of what was published

    def list_staged(self) -> list[str]:
        """The partitions for which a batch is staged."""
        refs = self.list_refs()
        hashes = {each.partition for each in refs if each.kind == "staged"}
        of_partitions = [Refs(tuple(each for each in refs if each.partition == one)) for one in sorted(hashes)]
        staged = [each.find_staged("whole") for each in of_partitions]
        return self.name_partitions([each for each in staged if each is not None])

    def find_note(self, partition: str, properties: Mapping[str, str]) -> Delivery | None:
        """The newest revision of a partition that was published, by properties that were just read."""
        return max(self.find_noted(partition, properties), key=lambda each: each.number, default=None)

    def find_noted(self, partition: str, properties: Mapping[str, str]) -> list[Delivery]:
        """The newest revisions of a partition that were published, by properties that were just read."""
        begin = f"{_NOTE}{hash_partition(partition)}."
        return [each.delivery for name, each in self._find_notes(properties).items() if name.startswith(begin)]

    def write_note(self, delivery: Delivery) -> None:
        begin = f"{_NOTE}{hash_partition(delivery.partition)}."
        notes = self._find_notes(self.read_properties())
        note = PublishedRevision(max((each.at for each in notes.values()), default=0) + 1, delivery)
        # as hexadecimal digits: Spark hides properties that look like an address or a secret
        self.set_properties({f"{begin}{delivery.number}": msgspec.json.encode(note).hex()})
        own = sorted((each.delivery.number, name) for name, each in notes.items() if name.startswith(begin))
        old = [name for _, name in own[:-KEPT_REVISIONS]]
        others = sorted((each.at, name) for name, each in notes.items() if not name.startswith(begin))
        if len(others) > MOST_NOTES:
            waiting = tuple(f"{_NOTE}{each.partition}." for each in self.list_refs())
            old += [name for _, name in others[:-MOST_NOTES] if not name.startswith(waiting)]
        if old:
            self.unset_properties(old)

    def _find_notes(self, properties: Mapping[str, str]) -> dict[str, PublishedRevision]:
        found = {name: text for name, text in properties.items() if name.startswith(_NOTE)}
        try:
            return {
                name: msgspec.json.decode(bytes.fromhex(text), type=PublishedRevision) for name, text in found.items()
            }
        except (ValueError, msgspec.DecodeError) as error:
            raise PublishError(
                f"a property of {self.table} that begins with {_NOTE} is damaged.",
                hint="Remove it: its partition then counts as not published.",
            ) from error

    @abc.abstractmethod
    def read_properties(self) -> dict[str, str]:
        """The properties of the table that keeps the notes."""

    @abc.abstractmethod
    def set_properties(self, properties: Mapping[str, str]) -> None:
        """Set some properties, and leave the others."""

    @abc.abstractmethod
    def unset_properties(self, names: list[str]) -> None:
        """Take some properties away; those that are gone are passed over."""

    def find_value(self, partition: str) -> str:
        """The value of the column that a batch has, as text.

        The name of a batch is its value, `2026-11-14`, or the two together, `day=2026-11-14`.
        """
        return partition.removeprefix(f"{self.by}=")

    def is_of(self, partition: str, rows: DataFrame, column: str = "") -> str:
        """Whether a row is of a batch, as a condition of Spark SQL. A row without a value is of none.

        It is a text, since columns of a classic session and of a Connect session are not of one kind.

        Args:
            partition: The name of the batch.
            rows: Rows of the table, which tell the type of the column.
            column: The column as it is written in SQL; by default the one that the table is partitioned by.
        """
        kind = rows.schema[find_column(rows, self.by)].dataType.simpleString()
        wanted = f"CAST({quote(self.find_value(partition))} AS {kind})"
        return f"COALESCE({column or f'`{self.by}`'} = {wanted}, FALSE)"

    def collect(self, statement: str) -> list[Row]:
        """Run a statement. The errors of Spark are ours."""
        return run_statement(self.spark, statement, self.table)

    def commit(self, statement: str) -> None:
        """Run a statement that may be run again, until no other writer is faster."""
        commit_statement(self.spark, statement, self.table, CONFLICTS[self.form])

    def as_publish_error(self) -> AbstractContextManager[None]:
        """The errors of Spark and of the format as ours."""
        return as_publish_error(self.table)
