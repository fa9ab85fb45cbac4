"""What publishers of tables do through Spark: statements, their errors, commits again after a conflict, and notes.

Tested by `tests/integrations/tables/`.
"""

from __future__ import annotations

import json
import random
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

import msgspec

from headgate.gate.publish.publisher import Delivery
from headgate.gate.publish.table_publisher import TablePublisher
from headgate.gate.publish.table_refs import hash_partition
from headgate.values.errors import HeadgateError, MisuseError, PublishError

if TYPE_CHECKING:
    from pyspark.sql import Column, Row, SparkSession
    from pyspark.sql.types import DataType

MOST_NOTES = 1_000
"""Partitions of which a table says what is published, those that were published last. The history knows of all."""
_NOTE = "headgate.published."
_WAITS = (0.05, 0.1, 0.2, 0.4, 0.8, 1.6, 3.2)
"""Seconds to wait, and up to twice as long, before a commit is tried again that another writer was faster than."""


class PublishedRevision(msgspec.Struct, frozen=True):
    """A revision that was published; `at` says in which order."""

    at: int
    delivery: Delivery


class SparkTablePublisher(TablePublisher):
    """A publisher of a table that Spark reads and writes. Properties keep the notes of what is published."""

    by: str
    conflicts: tuple[str, ...]
    """Words in the error of a commit that another writer was faster than."""
    _session: SparkSession | None

    @property
    def spark(self) -> SparkSession:
        """The session that the table is read and written with."""
        if self._session is None:
            from pyspark.sql import SparkSession

            self._session = SparkSession.getActiveSession()
        if self._session is None:
            raise MisuseError("there is no active Spark session.", hint="Pass one: spark=spark.")
        return self._session

    def read_note(self, partition: str) -> Delivery | None:
        note = self._list_notes().get(_NOTE + hash_partition(partition))
        return None if note is None else note.delivery

    def write_note(self, delivery: Delivery) -> None:
        key, notes = _NOTE + hash_partition(delivery.partition), self._list_notes()
        at = max((each.at for each in notes.values()), default=0) + 1
        self.set_properties({key: json.dumps(msgspec.to_builtins(PublishedRevision(at, delivery)))})
        old = sorted((each.at, name) for name, each in notes.items() if name != key)[: -MOST_NOTES + 1]
        if old:
            self.unset_properties([name for _, name in old])

    def _list_notes(self) -> dict[str, PublishedRevision]:
        return {
            name: msgspec.json.decode(text, type=PublishedRevision)
            for name, text in self.read_properties().items()
            if name.startswith(_NOTE)
        }

    def read_properties(self) -> dict[str, str]:
        """The properties of the table that keeps the notes."""
        raise NotImplementedError(f"{type(self).__name__} does not say where its notes are")

    def set_properties(self, properties: Mapping[str, str]) -> None:
        """Set some properties, and leave the others."""
        raise NotImplementedError(f"{type(self).__name__} does not say where its notes are")

    def unset_properties(self, names: list[str]) -> None:
        """Take some properties away; those that are gone are passed over."""
        raise NotImplementedError(f"{type(self).__name__} does not say where its notes are")

    def find_value(self, partition: str) -> str:
        """The value of the column that a batch has, as text.

        The name of a batch is its value, `2026-11-14`, or the two together, `day=2026-11-14`.
        """
        return partition.removeprefix(f"{self.by}=")

    def is_of(self, partition: str, kind: DataType) -> Column:
        """Whether a row is of a batch; `kind` is the type of the column."""
        from pyspark.sql import functions

        return functions.col(self.by) == functions.lit(self.find_value(partition)).cast(kind)

    def collect(self, statement: str) -> list[Row]:
        """Run a statement. The errors of Spark are ours."""
        with self.as_publish_error():
            return self.spark.sql(statement).collect()

    def commit(self, statement: str) -> None:
        """Run a statement that may be run again, until no other writer is faster."""
        for wait in (*_WAITS, None):
            try:
                self.collect(statement)
                return
            except PublishError as error:
                if wait is None or not any(word in str(error) for word in self.conflicts):
                    raise
                time.sleep(wait * (1.0 + random.random()))

    @contextmanager
    def as_publish_error(self) -> Iterator[None]:
        """The errors of Spark and of the format as ours."""
        try:
            yield
        except HeadgateError:
            raise
        except Exception as error:  # from Py4J, gRPC or Spark
            raise PublishError(f"{self.table}: {_shorten(error)}") from error


def quote(text: str) -> str:
    """A text as a literal of Spark SQL.

    >>> quote("it's")
    "'it\\\\'s'"
    """
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


def _shorten(error: Exception) -> str:
    """The line of an error that says what is wrong."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    told = next((line for line in lines if line.startswith(("org.", "java.", "io.", ":"))), lines[0] if lines else "")
    return f"{type(error).__name__}: {told.lstrip(': ')[:300]}"
