"""`python -m benchmarks.patterns.speed`: milliseconds to infer a rule from 1,000 values on one core."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from benchmarks.patterns import corpus, indexes
from benchmarks.patterns.baselines.potters_wheel import METHOD as POTTERS_WHEEL
from benchmarks.patterns.learners import PAPER
from benchmarks.timing import in_turn, versions
from headgate.learn.patterns.infer import infer
from headgate.learn.patterns.settings import InferenceSettings

VALUES = 1_000
COLUMNS = 500
ROUNDS = 5
SEED = 7


def main() -> None:
    os.sched_setaffinity(0, {0})
    pa.set_cpu_count(1)
    found = measure()
    path = Path(__file__).parent / "results" / "speed.json"
    path.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    print(json.dumps(found, indent=1))


def measure() -> dict[str, Any]:
    lake = indexes.whole()
    columns = drawn()
    settings = {name: InferenceSettings.of(method) for name, method in {**PAPER, "Headgate": "headgate"}.items()}
    spent: dict[str, list[list[float]]] = {name: [] for name in [*settings, POTTERS_WHEEL.name]}
    for column in columns:
        steps = {
            name: (lambda column=column, each=each: infer(column, lake, lake.total, each))
            for name, each in settings.items()
        }
        texts = column.to_pylist()
        steps[POTTERS_WHEEL.name] = lambda texts=texts: POTTERS_WHEEL.infer(texts)
        for name, taken in in_turn(steps, rounds=ROUNDS).items():
            spent[name].append(taken)
    return {
        "values": VALUES,
        "columns": len(columns),
        "rounds": ROUNDS,
        "patterns": len(lake.index),
        "bytes": lake.index.path.stat().st_size,
        "versions": versions("numpy", "pyarrow"),
        "milliseconds": {name: quantiles(np.array(taken)) for name, taken in spent.items()},
    }


def quantiles(taken: Any) -> dict[str, float]:
    """Of the medians over rounds of each column."""
    each = 1_000 * np.median(taken, axis=1)
    points = {"median": 0.5, "p90": 0.9, "p99": 0.99, "most": 1.0}
    found = {name: round(float(np.quantile(each, point)), 2) for name, point in points.items()}
    return found | {"mean": round(float(each.mean()), 2)}


def drawn() -> list[pa.Array]:
    """Columns of 500 values, twice over: the corpus holds no more of any."""
    table = corpus.corpus()
    long = np.flatnonzero(pc.greater_equal(pc.list_value_length(table["values"]), VALUES // 2).to_numpy())
    rows = np.random.default_rng(SEED).choice(long, COLUMNS, replace=False)
    lists = table["values"].take(pa.array(np.sort(rows))).to_pylist()
    return [pa.array((values[: VALUES // 2]) * 2, pa.string()) for values in lists]


if __name__ == "__main__":
    main()
