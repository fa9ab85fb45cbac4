"""What all benchmarks share: a Spark session, steps that take turns, the versions a figure was measured on."""

from __future__ import annotations

import os
import platform
import statistics
import sys
import time
from collections.abc import Callable, Mapping
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

CACHE = Path(os.environ.get("HEADGATE_CACHE", Path.home() / ".cache" / "headgate"))
DATA = Path(os.environ.get("HEADGATE_DATA", Path(__file__).parents[2] / "shared" / "data"))


def seconds(step: Callable[[], Any]) -> float:
    begin = time.perf_counter()
    step()
    return time.perf_counter() - begin


class Spent(NamedTuple):
    """The seconds that a step took by the clock, and of the processors for this process and all that it started."""

    wall: float
    cpu: float


def measure_step(step: Callable[[], Any]) -> Spent:
    from benchmarks.process_tree import cpu_seconds  # reads /proc, which only Linux has

    before = cpu_seconds(os.getpid())
    wall = seconds(step)
    return Spent(wall, cpu_seconds(os.getpid()) - before)


def measure_in_turn(steps: Mapping[str, Callable[[], Any]], rounds: int, warm: int = 1) -> dict[str, list[Spent]]:
    """What each step took, round after round, so that noise meets all alike; warm-up rounds are not counted."""
    taken: dict[str, list[Spent]] = {name: [] for name in steps}
    for at in range(warm + rounds):
        for name, step in steps.items():
            spent = measure_step(step)
            if at >= warm:
                taken[name].append(spent)
    return taken


def in_turn(steps: Mapping[str, Callable[[], Any]], rounds: int, warm: int = 1) -> dict[str, list[float]]:
    """The seconds of each step, round after round, so that noise meets all alike; warm-up rounds are not counted."""
    taken: dict[str, list[float]] = {name: [] for name in steps}
    for at in range(warm + rounds):
        for name, step in steps.items():
            spent = seconds(step)
            if at >= warm:
                taken[name].append(spent)
    return taken


def medians(taken: Mapping[str, list[float]]) -> dict[str, float]:
    return {name: statistics.median(spent) for name, spent in taken.items()}


def cores() -> int:
    return os.cpu_count() or 1


def versions(*names: str) -> dict[str, str]:
    return {"python": platform.python_version(), "cores": str(cores())} | {name: version(name) for name in names}


@cache
def session() -> SparkSession:
    from pyspark.sql import SparkSession

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    return (
        SparkSession.builder.master(f"local[{cores()}]")
        .config("spark.driver.memory", "6g")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.sql.sources.parallelPartitionDiscovery.threshold", "1000")
        .getOrCreate()
    )
