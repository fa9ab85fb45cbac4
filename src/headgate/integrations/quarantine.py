"""The quarantine table: rows that were kept out of a table, each with its reasons.

Tested by `tests/integrations/tables/test_quarantine.py`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Literal

from headgate.engine.row_rule import REASONS
from headgate.integrations.table_statements import (
    CONFLICTS,
    as_publish_error,
    check_table_name,
    commit_again,
    commit_statement,
    create_table,
    quote,
    run_statement,
    write_type,
)
from headgate.metrics.base.sql import add_backticks
from headgate.store.fault_points import fault_point
from headgate.values.errors import MisuseError, PublishError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Row, SparkSession

PARTITION, REVISION = "headgate_partition", "headgate_revision"
_MARKS = (PARTITION, REVISION, REASONS)
_SOURCE, _OWNER = "quarantine:", "headgate.quarantine-of"
_ANY_NAMES = {"iceberg": "", "delta": ", 'delta.columnMapping.mode' = 'name'"}
"""The property without which columns of a table cannot have any name."""


class QuarantineTable:
    """The bad rows of batches that were split: the columns of the batch, and `headgate_partition`, `headgate_revision`
    and `headgate_reasons`.

    The rows of a revision are written in one commit; written again, they take the place of those before. The table is
    made when the first rows come, and gets a column more when rows have one. It is the quarantine of one table.

    Args:
        table: The name of the table, or for Delta its path.
        form: The format of the table.
        owner: The table that the rows were kept out of.
        open_session: Gives the session.
    """

    def __init__(
        self, table: str, form: Literal["iceberg", "delta"], owner: str, open_session: Callable[[], SparkSession]
    ) -> None:
        self.table, self.form = table, form
        self._name, self._open_session = check_table_name(table, form), open_session
        self._owner = hashlib.sha256(owner.encode()).hexdigest()[:32]  # Spark hides a property that has an address

    def write(self, bad: DataFrame, partition: str, number: int) -> None:
        """Write the bad rows of a revision, with their reasons."""
        if REASONS not in bad.columns:
            raise MisuseError(f"the rows have no column {REASONS}.", hint="Pass the second part of verdict.split(df).")
        if taken := {PARTITION, REVISION} & {each.lower() for each in bad.columns}:
            raise MisuseError(f"the rows have a column {min(taken)} already.", hint="Rename it in the batch.")
        with as_publish_error(self.table):
            rows = bad.selectExpr(
                "*", f"{quote(partition)} AS {PARTITION}", f"CAST({int(number)} AS INT) AS {REVISION}"
            )
            self._make_room(rows)
            known = self._read_all().columns
            lacking = [name for name in known if name.lower() not in {each.lower() for each in rows.columns}]
            whole = rows.selectExpr("*", *(f"NULL AS {add_backticks(name)}" for name in lacking))
            fault_point("quarantine.write")
            self._overwrite(whole.select(*map(add_backticks, known)))
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

    def delete(self, partition: str, number: int) -> None:
        """Delete the rows of a revision."""
        if self._exists():
            self._commit(f"DELETE FROM {self._name} WHERE {_is_of(partition, number)}")

    def _make_room(self, rows: DataFrame) -> None:
        """Make the table, or give it the columns that it lacks. The quarantine of another table is refused."""
        columns = {each.name: write_type(each.dataType) for each in rows.schema}
        fault_point("quarantine.create")
        statement = (
            f"CREATE TABLE IF NOT EXISTS {self._name} ({_list_columns(columns)}) USING {self.form} "
            f"PARTITIONED BY ({PARTITION}, {REVISION}) "
            f"TBLPROPERTIES ('{_OWNER}' = '{self._owner}'{_ANY_NAMES[self.form]})"
        )
        create_table(self._open_session(), statement, self.table, self.form)
        owners = {row["value"] for row in self._run(f"SHOW TBLPROPERTIES {self._name}") if row["key"] == _OWNER}
        if owners != {self._owner}:
            raise MisuseError(
                f"{self.table} is not the quarantine of this table.",
                hint="Name a table of its own for the bad rows of every table; it is made when it is first needed.",
            )
        known = {each.lower() for each in self._read_all().columns}
        added = {name: kind for name, kind in columns.items() if name.lower() not in known}
        if added:
            self._commit(f"ALTER TABLE {self._name} ADD COLUMNS ({_list_columns(added)})")

    def _overwrite(self, rows: DataFrame) -> None:
        """Put rows in the place of those of their revision."""

        def write() -> None:
            with as_publish_error(self.table):
                rows.writeTo(self._name).overwritePartitions()

        commit_again(write, CONFLICTS[self.form])

    def _exists(self) -> bool:
        try:
            self._read_all()
        except PublishError as error:
            if "TABLE_OR_VIEW_NOT_FOUND" in str(error) or "DELTA_MISSING_DELTA_TABLE" in str(error):
                return False
            raise
        return True

    def _read_all(self) -> DataFrame:
        """The rows as they are now, not as this session last saw them."""
        with as_publish_error(self.table):
            self._run(f"REFRESH TABLE {self._name}")
            rows = self._open_session().table(self._name)
            rows.schema  # noqa: B018  # a lazy frame of Connect says only now that there is no table
            return rows

    def _run(self, statement: str) -> list[Row]:
        return run_statement(self._open_session(), statement, self.table)

    def _commit(self, statement: str) -> None:
        commit_statement(self._open_session(), statement, self.table, CONFLICTS[self.form])


def drop_marks(rows: DataFrame) -> DataFrame:
    """Rows of a quarantine table as rows of the batch."""
    return rows.drop(*_MARKS)


def _list_columns(columns: Mapping[str, str]) -> str:
    return ", ".join(f"{add_backticks(name)} {kind}" for name, kind in columns.items())


def _is_of(partition: str, number: int) -> str:
    return f"{PARTITION} = {quote(partition)} AND {REVISION} = {int(number)}"
