"""`python -m tests.same_verdict.judge`: judges all days of all tables with a new store, and prints what was found."""

from __future__ import annotations

import argparse
import hashlib
import json
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

import headgate as hg
from tests.same_verdict.tables import DAYS, TABLES, make_day, partition_of

_DIGITS = 9  # sums of floats differ in the last ones with the order in which parts are merged


def judge_all(
    store: hg.HistoryStore, read: Callable[[pa.Table], Any], days: int = DAYS, tables: tuple[str, ...] = tuple(TABLES)
) -> list[dict[str, str]]:
    """What the gate says of each day: its action, its program, and every judgement with its value."""
    found = []
    for table in tables:
        gate = hg.Gate(table, store=store)
        for day in range(days):
            partition = partition_of(day)
            program = str(gate.learned(before=partition).program)
            verdict = gate.judge(read(make_day(table, day)), partition=partition)
            judgements = sorted(
                f"{each.status} {each.expectation} {'' if each.value is None else format(each.value, f'.{_DIGITS}g')}"
                for each in verdict.judgements
            )
            about = {"batch": f"{table} {partition}", "action": str(verdict.action), "program": program}
            found.append({**about, "judgements": "\n".join(judgements)})
    return found


def start_spark() -> Any:
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    return builder.config("spark.sql.session.timeZone", "UTC").getOrCreate()


def read_with_spark(folder: Path, session: Any) -> Callable[[pa.Table], Any]:
    """Reads tables with Spark, from files, in other parts and another order than they were written."""

    def read(table: pa.Table) -> Any:
        file = folder / f"{hashlib.sha256(repr(table.to_pydict()).encode()).hexdigest()}.parquet"
        pq.write_table(table, file)
        return session.read.parquet(str(file)).repartition(5)

    return read


def main() -> None:
    asked = argparse.ArgumentParser(prog="python -m tests.same_verdict.judge", description=__doc__)
    asked.add_argument("--values", choices=["hidden", "plain"], default="hidden")
    asked.add_argument("--engine", choices=["local", "spark"], default="local")
    asked.add_argument("--days", type=int, default=DAYS)
    asked.add_argument("--tables", nargs="+", choices=list(TABLES), default=list(TABLES))
    given = asked.parse_args()
    store = hg.open_store("memory:", values=given.values)
    with tempfile.TemporaryDirectory() as folder:
        read = read_with_spark(Path(folder), start_spark()) if given.engine == "spark" else lambda table: table
        print(json.dumps(judge_all(store, read, given.days, tuple(given.tables))))


if __name__ == "__main__":
    main()
