"""How long a warm gate takes to judge a batch of 50 columns and 10,000 rows with 30 runs of history, part by part."""

from __future__ import annotations

import json
import statistics
import time
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

import headgate as hg
from benchmarks.timing import versions
from benchmarks.values_mode import VALUES, open_memory

COLUMNS, ROWS, RUNS, ROUNDS = 50, 10_000, 30, 7
BACKTESTED, BACKTESTS = 90, 5
RESULT = Path(__file__).parent / "results" / "speed.json"


def batch(seed: int) -> pa.Table:
    """Whole numbers, numbers, categories, codes and short texts, ten columns of each."""
    rng = np.random.default_rng(seed)
    made: dict[str, Any] = {}
    for at in range(COLUMNS // 5):
        made[f"id_{at}"] = rng.integers(0, 10**6, ROWS)
        made[f"price_{at}"] = rng.lognormal(3, 0.5, ROWS)
        made[f"country_{at}"] = rng.choice(["DE", "FR", "US", "IT"], ROWS)
        made[f"order_{at}"] = [f"ORD-{number:08d}" for number in rng.integers(0, 10**8, ROWS)]
        made[f"name_{at}"] = [
            f"user {one} of {two}"
            for one, two in zip(rng.integers(0, 999, ROWS), rng.integers(0, 99, ROWS), strict=True)
        ]
    return pa.table(made)


class Taken(NamedTuple):
    """Seconds that something took: by the clock, and of the processor."""

    wall: float
    cpu: float


def timed(work: Callable[[], Any]) -> Taken:
    begun, used = time.perf_counter(), time.process_time()
    work()
    return Taken(time.perf_counter() - begun, time.process_time() - used)


def measured() -> dict[str, Any]:
    """Medians over batches that were not judged before; analysing alone and judging take turns."""
    store = open_memory()
    gate = hg.Gate("orders", store=store)
    for day in range(RUNS):
        gate.judge(batch(day), partition=f"{day:04}")
    parts: dict[str, list[Taken]] = {}

    def note(name: str, work: Callable[[], Any]) -> None:
        parts.setdefault(name, []).append(timed(work))

    for round_ in range(ROUNDS):
        day = RUNS + 2 * round_
        one, two = batch(day), batch(day + 1)
        note("states alone", partial(hg.analyze, one))
        note("prepare", gate.prepare)
        note("judge, prepared", partial(gate.judge, one, f"{day:04}"))
        note("judge, not prepared", partial(gate.judge, two, f"{day + 1:04}"))
    for day in range(RUNS + 2 * ROUNDS, BACKTESTED):
        gate.judge(batch(day), partition=f"{day:04}")
    for _ in range(BACKTESTS):
        note(f"backtest of {BACKTESTED} runs", gate.backtest)
    verdict = gate.judge(batch(BACKTESTED), partition=f"{BACKTESTED:04}")
    return {
        "values": VALUES,
        "columns": COLUMNS,
        "rows": ROWS,
        "runs": RUNS,
        "rounds": {name: len(times) for name, times in parts.items()},
        "milliseconds": {name: _find_median(each.wall for each in times) for name, times in parts.items()},
        "cpu_milliseconds": {name: _find_median(each.cpu for each in times) for name, times in parts.items()},
        "every": {name: [round(1000 * each.wall, 1) for each in times] for name, times in parts.items()},
        "learners": dict(verdict.account.learners),
        "versions": versions("numpy", "pyarrow", "datasketches"),
    }


def _find_median(seconds: Iterable[float]) -> float:
    return round(1000 * statistics.median(seconds), 1)


if __name__ == "__main__":
    RESULT.parent.mkdir(parents=True, exist_ok=True)
    RESULT.write_text(json.dumps(measured(), indent=1) + "\n", encoding="utf-8")
    print(RESULT.read_text(encoding="utf-8"))
