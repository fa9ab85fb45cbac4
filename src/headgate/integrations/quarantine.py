"""The quarantine table: rows that were kept out of a table, each with its reasons.

Tested by `tests/integrations/tables/test_quarantine.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Literal

from headgate.engine.row_rule import REASONS
from headgate.integrations.table_statements import as_publish_error, quote, quote_table, run_statement
from headgate.metrics.base.sql import add_backticks
from headgate.store.fault_points import fault_point
from headgate.values.errors import MisuseError, PublishError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Row, SparkSession

PARTITION, REVISION = "headgate_partition", "headgate_revision"
_MARKS = (PARTITION, REVISION, REASONS)
_SOURCE = "quarantine:"


class QuarantineTable:
    """The bad rows of batches that were split: the columns of the batch, and `headgate_partition`, `headgate_revision`
    and `headgate_reasons`.

    The rows of a revision are written in one commit; written again, they take the place of those before. The table is
    made when the first rows come, and gets a column more when rows have one.

    Args:
        table: The name of the table, or for Delta its path.
        form: The format of the table.
        open_session: Gives the session.
    """

    def __init__(self, table: str, form: Literal["iceberg", "delta"], open_session: Callable[[], SparkSession]) -> None:
        self.table, self.form = table, form
        self._name, self._open_session = quote_table(table), open_session

    def write(self, bad: DataFrame, partition: str, number: int) -> None:
        """Write the bad rows of a revision, with their reasons."""
        if REASONS not in bad.columns:
            raise MisuseError(f"the rows have no column {REASONS}.", hint="Pass the second part of verdict.split(df).")
        with as_publish_error(self.table):
            rows = bad.selectExpr(
                "*", f"{quote(partition)} AS {PARTITION}", f"CAST({int(number)} AS INT) AS {REVISION}"
            )
            fields = {each.name: each.dataType.simpleString() for each in rows.schema}
            columns = ", ".join(f"{add_backticks(name)} {kind}" for name, kind in fields.items())
            by = f"{PARTITION}, {REVISION}"
            fault_point("quarantine.create")
            self._run(f"CREATE TABLE IF NOT EXISTS {self._name} ({columns}) USING {self.form} PARTITIONED BY ({by})")
            known = {each.lower(): each for each in self._read_all().columns}
            added = {name: kind for name, kind in fields.items() if name.lower() not in known}
            if added:
                told = ", ".join(f"{add_backticks(name)} {kind}" for name, kind in added.items())
                self._run(f"ALTER TABLE {self._name} ADD COLUMNS ({told})")
            lacking = [name for low, name in known.items() if low not in {each.lower() for each in fields}]
            whole = rows.selectExpr("*", *(f"NULL AS {add_backticks(name)}" for name in lacking))
            fault_point("quarantine.write")
            whole.select(*map(add_backticks, self._read_all().columns)).writeTo(self._name).overwritePartitions()
            fault_point("quarantine.written")

    def read(self, partition: str, number: int | None = None) -> DataFrame:
        """The rows of a batch with their reasons: of a revision, or of the newest one that has some."""
        number = self.find_revision(partition) if number is None else number
        with as_publish_error(self.table):
            return self._read_all().where(_is_of(partition, number))

    def find_revision(self, partition: str) -> int:
        """The newest revision of a batch that has rows here; 0 if none has."""
        if not self._exists():
            return 0
        rows = self._run(f"SELECT max({REVISION}) AS number FROM {self._name} WHERE {PARTITION} = {quote(partition)}")
        return int(rows[0]["number"] or 0)

    def identify(self, partition: str) -> str:
        """What identifies the newest rows of a batch; empty if there are none."""
        number = self.find_revision(partition)
        return f"{_SOURCE}{number}" if number else ""

    def has_rows(self, partition: str, number: int) -> bool:
        """Whether the rows of a revision are here."""
        return self._exists() and bool(
            self._run(f"SELECT 1 FROM {self._name} WHERE {_is_of(partition, number)} LIMIT 1")
        )

    def require_rows(self, partition: str, number: int) -> None:
        """Raise if the rows of a revision are not here: then its good rows must not be published."""
        if not self.has_rows(partition, number):
            raise PublishError(
                f"{self.table} has no rows of {partition}, revision {number}.",
                hint="Write them: publisher.stage_parts(verdict.revision, good, bad).",
            )

    def _exists(self) -> bool:
        try:
            self._read_all()
        except PublishError as error:
            if "TABLE_OR_VIEW_NOT_FOUND" in str(error) or "DELTA_MISSING_DELTA_TABLE" in str(error):
                return False
            raise
        return True

    def _read_all(self) -> DataFrame:
        with as_publish_error(self.table):
            rows = self._open_session().table(self._name)
            rows.schema  # noqa: B018  # a lazy frame of Connect says only now that there is no table
            return rows

    def _run(self, statement: str) -> list[Row]:
        return run_statement(self._open_session(), statement, self.table)


def drop_marks(rows: DataFrame) -> DataFrame:
    """Rows of a quarantine table as rows of the batch."""
    return rows.drop(*_MARKS)


def _is_of(partition: str, number: int) -> str:
    return f"{PARTITION} = {quote(partition)} AND {REVISION} = {int(number)}"
