"""How long a warm gate takes to judge a batch of 50 columns and 10,000 rows with 30 runs of history, part by part."""

from __future__ import annotations

import json
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

import headgate as hg
from benchmarks.timing import versions
from benchmarks.values_mode import VALUES, open_memory

COLUMNS, ROWS, RUNS, ROUNDS = 50, 10_000, 30, 7
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


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    begun = time.perf_counter()
    found = work()
    return time.perf_counter() - begun, found


def measured() -> dict[str, Any]:
    """Medians over batches that were not judged before; analysing alone and judging take turns."""
    store = open_memory()
    gate = hg.Gate("orders", store=store)
    for day in range(RUNS):
        gate.judge(batch(day), partition=f"{day:04}")
    parts: dict[str, list[float]] = {
        "states alone": [],
        "prepare": [],
        "judge, prepared": [],
        "judge, not prepared": [],
    }
    for round_ in range(ROUNDS):
        day = RUNS + 2 * round_
        one, two = batch(day), batch(day + 1)
        parts["states alone"].append(timed(lambda one=one: hg.analyze(one))[0])
        parts["prepare"].append(timed(gate.prepare)[0])
        parts["judge, prepared"].append(timed(lambda one=one, day=day: gate.judge(one, partition=f"{day:04}"))[0])
        took, verdict = timed(lambda two=two, day=day: gate.judge(two, partition=f"{day + 1:04}"))
        parts["judge, not prepared"].append(took)
    return {
        "values": VALUES,
        "columns": COLUMNS,
        "rows": ROWS,
        "runs": RUNS,
        "rounds": ROUNDS,
        "milliseconds": {name: round(1000 * statistics.median(times), 1) for name, times in parts.items()},
        "every": {name: [round(1000 * each, 1) for each in times] for name, times in parts.items()},
        "learners": dict(verdict.account.learners),
        "versions": versions("numpy", "pyarrow", "datasketches"),
    }


if __name__ == "__main__":
    RESULT.parent.mkdir(parents=True, exist_ok=True)
    RESULT.write_text(json.dumps(measured(), indent=1) + "\n", encoding="utf-8")
    print(RESULT.read_text(encoding="utf-8"))
