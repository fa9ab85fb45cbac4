"""Two gates at once, on one day and on two, and a third writer who moves the table meanwhile."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from benchmarks.tables.lake import ROWS, TableLake, name_day

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def race_gates(spark: SparkSession, form: str, rounds: int) -> dict[str, Any]:
    """In each round two jobs deliver the same day, two jobs deliver a day each, and somebody appends other days."""
    lake, refused = TableLake(spark, form), Counter[str]()
    other = "written by somebody else"
    for number in range(rounds):
        same, one, two = (name_day(3 * number + at) for at in range(3))
        jobs = [
            lambda day=same: lake.run_job(day, "left"),
            lambda day=same: lake.run_job(day, "right"),
            lambda day=one: lake.run_job(day, "one"),
            lambda day=two: lake.run_job(day, "two"),
            lambda at=number: (
                lake.make(f"2025-{at:04}", other).write.format(form).mode("append").saveAsTable(lake.table)
            ),
        ]
        errors = _run_together(jobs)
        refused.update(type(each).__name__ for each in errors)
        for day, text in ((one, "one"), (two, "two")):
            if lake.read_shown().get(day) is None:  # it was refused, and a scheduler runs it again
                lake.run_job(day, text)
        if lake.read_shown().get(same) is None:
            lake.run_job(same, "left")
        lake.open_gate().recover()
    shown = lake.read_shown()
    days = [name_day(number) for number in range(3 * rounds)]
    ours = {day: shown.get(day, (0, ())) for day in days}
    return {
        "rounds": rounds,
        "lost": sum(count == 0 for count, _ in ours.values()),
        "doubled": sum(count not in (0, ROWS) or len(texts) > 1 for count, texts in ours.values()),
        "others_rows_kept": sum(count == ROWS for day, (count, _) in shown.items() if day.startswith("2025")),
        "undecided": len(lake.open_gate().find_undecided()),
        "refused": dict(refused),
    }


def _run_together(jobs: list[Callable[[], Any]]) -> list[Exception]:
    """Run jobs in threads of their own, and wait for all. Gives the errors of those that were refused."""
    errors: list[Exception] = []

    def run(job: Callable[[], Any]) -> None:
        try:
            job()
        except Exception as error:  # of any kind: it is counted by its name
            errors.append(error)

    threads = [threading.Thread(target=run, args=[job]) for job in jobs]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    return errors
