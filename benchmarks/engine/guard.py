"""The guard of the engine's speed: what scans cost beside work that any engine must do, on a small fixed table.

`python -m benchmarks.engine.guard` prints it. A ratio divides the least CPU seconds of some rounds by the least of the
reference, so that other work on the machine, which only adds to both, moves it little. A test holds it to `LIMITS`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

import headgate as hg
from benchmarks.engine import data
from benchmarks.timing import measure_in_turn, session
from headgate.engine.spark_files import SWITCH

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

ROWS, COLUMNS = 300_000, 20
LOCAL_ROWS = 50_000
ROUNDS, WARM = 4, 2
TRIES = 3

READ_BY_TASKS = "files read by tasks, by Spark's plain scan"
ROWS_FROM_SPARK = "rows from Spark, by Spark's plain scan"
LOCAL = "local engine, by counting the values of each column in Arrow"
LIMITS: Mapping[str, float] = {READ_BY_TASKS: 2.4, ROWS_FROM_SPARK: 5.5, LOCAL: 3.5}
"""About 1.6 times what was measured when they were set."""


def measure_spark(spark: SparkSession) -> dict[str, float]:
    """How many times the CPU seconds of a plain scan the default metrics take, for both ways to read files."""
    frame = spark.read.parquet(str(data.mixed(ROWS, COLUMNS)))
    steps: dict[str, Callable[[], object]] = {
        "scan": lambda: frame.write.format("noop").mode("overwrite").save(),
        READ_BY_TASKS: lambda: _analyze(frame, "true"),
        ROWS_FROM_SPARK: lambda: _analyze(frame, "false"),
    }
    try:
        return _divide_by("scan", steps)
    finally:
        spark.conf.unset(SWITCH)


def measure_local() -> dict[str, float]:
    """The same of the local engine, beside a count of the values of each column."""
    table = data.mixed_chunk(np.random.default_rng(26), LOCAL_ROWS, COLUMNS)
    steps: dict[str, Callable[[], object]] = {
        "count": lambda: _count_values(table),
        LOCAL: lambda: hg.analyze(table).outcomes,
    }
    return _divide_by("count", steps)


def find_excess(ratios: Mapping[str, float]) -> list[str]:
    """The ratios that are above their limits, in words."""
    return [f"{name}: {ratio:.2f}" for name, ratio in ratios.items() if ratio > LIMITS[name]]


def is_within_limits(measure: Callable[[], Mapping[str, float]]) -> bool:
    """Whether one try of three keeps to the limits. What does not is printed."""
    for _ in range(TRIES):
        excess = find_excess(measure())
        if not excess:
            return True
        print(*excess, sep="\n")
    return False


def _divide_by(reference: str, steps: Mapping[str, Callable[[], object]]) -> dict[str, float]:
    least = {name: min(each.cpu for each in spent) for name, spent in measure_in_turn(steps, ROUNDS, WARM).items()}
    return {name: seconds / least[reference] for name, seconds in least.items() if name != reference}


def _analyze(frame: DataFrame, reads_files: str) -> None:
    frame.sparkSession.conf.set(SWITCH, reads_files)
    hg.analyze(frame).outcomes  # noqa: B018


def _count_values(table: pa.Table) -> None:
    for column in table.columns:
        pc.value_counts(column)


def main() -> None:
    for name, ratio in {**measure_local(), **measure_spark(session())}.items():
        print(f"{name}: {ratio:.2f} (limit {LIMITS[name]})")


if __name__ == "__main__":
    main()
