"""A hundred days through the gate, ten of them bad, while a reader looks at the table all the time."""

from __future__ import annotations

import threading
import time
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from benchmarks.tables.lake import BAD, ROWS, TableLake, name_day

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PAUSE = 0.1  # seconds between two looks


def watch_days(spark: SparkSession, form: str, days: int = 100) -> dict[str, Any]:
    """Every tenth day is bad, and every seventh is delivered twice. Says what the reader saw."""
    lake = TableLake(spark, form)
    seen: list[dict[str, tuple[int, tuple[str, ...]]]] = []
    errors: list[str] = []
    ended = threading.Event()

    def look() -> None:
        session = spark.newSession()
        while not ended.is_set():
            try:
                seen.append(lake.read_shown(session))
            except Exception as error:
                errors.append(type(error).__name__)
            time.sleep(PAUSE)

    reader = threading.Thread(target=look)
    reader.start()
    began = time.perf_counter()
    try:
        for number in range(days):
            day = name_day(number)
            lake.run_job(day, BAD if number % 10 == 9 else "first")
            if number % 7 == 6 and number % 10 != 9:
                lake.run_job(day, "second")
    finally:
        ended.set()
        reader.join()
    shown = lake.read_shown()
    wanted = {
        name_day(number): (ROWS, ("second" if number % 7 == 6 else "first",))
        for number in range(days)
        if number % 10 != 9
    }
    looks = [each for look in seen for each in look.values()]
    return {
        "days": days,
        "bad": days // 10,
        "looks": len(seen),
        "failed_looks": len(errors),
        "days_seen": len(looks),
        "bad_seen": sum(BAD in texts for _, texts in looks),
        "half_seen": sum(count != ROWS or len(texts) != 1 for count, texts in looks),
        "gone_again": sum(bool(before.keys() - after.keys()) for before, after in pairwise(seen)),
        "right_at_the_end": shown == wanted,
        "seconds": round(time.perf_counter() - began),
    }
