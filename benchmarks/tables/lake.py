"""A table of one format, jobs that stage days of it, and gates that judge them."""

from __future__ import annotations

import itertools
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.values_mode import open_memory
from headgate.checks.check import Check
from headgate.gate.gate import Gate
from headgate.integrations.delta import Delta
from headgate.integrations.iceberg import Iceberg
from headgate.store.port import HistoryStore
from tests.integrations.tables.session import build_session

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

ROWS = 40
FORMATS = ("iceberg", "delta")
BAD = "bad"
"""The text of the rows of a batch that must not be seen."""
_numbers = itertools.count()


def start_session() -> SparkSession:
    """A session with the jars that HEADGATE_TABLE_JARS names, which `.ci/tables` fetches."""
    session = build_session(Path(tempfile.mkdtemp(prefix="headgate-tables-"))).getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    return session


class TableLake:
    """One table with a history of its own. A row has the day, a number, a price, and the text of its batch."""

    def __init__(self, spark: SparkSession, form: str) -> None:
        self.spark, self.form = spark, form
        number = next(_numbers)
        self.table = f"lake.shop.jobs{number}" if form == "iceberg" else f"jobs{number}"
        self.store: HistoryStore = open_memory()
        spark.sql(
            f"CREATE TABLE {self.table} (day STRING, id BIGINT, price DOUBLE, text STRING) "
            f"USING {form} PARTITIONED BY (day)"
        )

    def open_publisher(self) -> Iceberg | Delta:
        """A publisher as a new process has it."""
        return (Iceberg if self.form == "iceberg" else Delta)(self.table, "day", spark=self.spark)

    def open_gate(self) -> Gate:
        """A gate as a new process has it, which holds a batch with missing prices."""
        check = Check("orders").is_complete("price")
        return Gate("orders", store=self.store, checks=[check], learn=[], publisher=self.open_publisher())

    def make(self, day: str, text: str) -> DataFrame:
        """The rows of a day; those of a bad one have no price."""
        price = "CAST(NULL AS DOUBLE)" if text.startswith(BAD) else "CAST(id AS DOUBLE)"
        return self.spark.sql(f"SELECT '{day}' AS day, id, {price} AS price, '{text}' AS text FROM range({ROWS})")

    def run_job(self, day: str, text: str) -> None:
        """Stage a day and judge it, as a job does."""
        gate, publisher = self.open_gate(), self.open_publisher()
        publisher.stage(self.make(day, text), day)
        gate.judge(lambda: publisher.read_staged(day), day)

    def read_shown(self, spark: SparkSession | None = None) -> dict[str, tuple[int, tuple[str, ...]]]:
        """What a reader sees of each day: the number of rows and their texts."""
        session = self.spark if spark is None else spark
        if self.form == "iceberg":
            session.sql(f"REFRESH TABLE {self.table}")
        rows = session.sql(f"SELECT day, count(*) AS n, collect_set(text) AS texts FROM {self.table} GROUP BY day")
        return {row["day"]: (row["n"], tuple(sorted(row["texts"]))) for row in rows.collect()}


def name_day(number: int) -> str:
    """The name of a day: the number of it after the first of a year."""
    return f"2026-{number // 28 + 1:02}-{number % 28 + 1:02}"
