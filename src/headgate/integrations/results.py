"""Results as three Iceberg or Delta tables, which dashboards read: verdicts, metrics and causes.

Tested by `tests/integrations/tables/test_results.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Literal

from headgate.engine.spark_sources import active_session
from headgate.gate.gate import Gate
from headgate.gate.results import CAUSES, METRICS, VERDICTS, Row, list_results
from headgate.integrations.table_statements import (
    CONFLICTS,
    as_publish_error,
    as_view,
    check_table_name,
    commit_statement,
    create_table,
    quote,
    quote_table,
    run_statement,
)
from headgate.store.fault_points import fault_point
from headgate.values.errors import MisuseError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_KEY = ("dataset", "partition", "revision")


class ResultTables:
    """The tables `<name>_verdicts`, `<name>_metrics` and `<name>_causes`, which are made when they are first needed.

    They are copies of what the history has. A run is there once, however often it is written, and whoever is killed
    while it writes: its metrics and causes are written first, and the verdict says that they are there. A later
    decision replaces the row of the verdict.

    Args:
        name: The name of the tables without the last part, `lake.dq.headgate`; for Delta, also a path.
        form: The format of the tables.
        spark: The session. Default: the active one.
    """

    open_session: Callable[[], SparkSession | None] = staticmethod(active_session)
    """Gives the session, if none was passed."""

    def __init__(self, name: str, form: Literal["iceberg", "delta"], *, spark: SparkSession | None = None) -> None:
        check_table_name(name, form)
        self.name, self.form = name, form
        self._session = spark

    def locate(self, what: Literal["verdicts", "metrics", "causes"]) -> str:
        """The name of one of the tables."""
        return f"{self.name}_{what}"

    def update(self, gate: Gate) -> int:
        """Write what the history of a dataset has and the tables do not. Says how many runs that were."""
        self._create("verdicts", VERDICTS)
        self._create("metrics", METRICS)
        self._create("causes", CAUSES)
        count = 0
        for results in list_results(gate, self._find_known(gate.dataset)):
            self._merge("metrics", METRICS, (*_KEY, "metric"), results.metrics)
            self._merge("causes", CAUSES, (*_KEY, "position"), results.causes)
            self._merge("verdicts", VERDICTS, _KEY, results.verdicts)
            count += len(results.verdicts)
        return count

    @property
    def _spark(self) -> SparkSession:
        session = self._session = self._session or self.open_session()
        if session is None:
            raise MisuseError("there is no active Spark session.", hint="Pass one: spark=spark.")
        return session

    def _create(self, what: Literal["verdicts", "metrics", "causes"], columns: Mapping[str, str]) -> None:
        named = ", ".join(f"`{name}` {kind}" for name, kind in columns.items())
        table = self.locate(what)
        statement = (
            f"CREATE TABLE IF NOT EXISTS {quote_table(table)} ({named}) USING {self.form} PARTITIONED BY (dataset)"
        )
        create_table(self._spark, statement, table, self.form)

    def _find_known(self, dataset: str) -> dict[tuple[str, int], int]:
        """The runs that the tables have, with the newest commit of the history about each."""
        table = self.locate("verdicts")
        run_statement(self._spark, f"REFRESH TABLE {quote_table(table)}", table)
        statement = f"SELECT partition, revision, sequence FROM {quote_table(table)} WHERE dataset = {quote(dataset)}"
        rows = run_statement(self._spark, statement, table)
        return {(row["partition"], row["revision"]): row["sequence"] for row in rows}

    def _merge(
        self,
        what: Literal["verdicts", "metrics", "causes"],
        columns: Mapping[str, str],
        key: Sequence[str],
        rows: Sequence[Row],
    ) -> None:
        """Write rows of one dataset. One that the table has is replaced.

        Without rows to replace, Spark would append to an Iceberg table, and not see that another writer has appended
        the same.
        """
        if not rows:
            return
        table, dataset = self.locate(what), rows[0][0]
        same = " AND ".join(f"kept.{name} = new.{name}" for name in key if name != "dataset")
        with as_publish_error(table), as_view(self._spark, rows, columns) as view:
            fault_point(f"results.{what}")
            commit_statement(
                self._spark,
                f"MERGE INTO {quote_table(table)} AS kept USING {view} AS new "
                f"ON kept.dataset = {quote(dataset)} AND {same} "
                "WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *",
                table,
                CONFLICTS[self.form],
            )
            fault_point(f"results.{what}_written")
