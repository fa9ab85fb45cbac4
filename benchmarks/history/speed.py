"""How long a program and a verdict take, from the states of batches of 100,000 and of 10 million rows."""

from __future__ import annotations

import json
import statistics
import time
from collections.abc import Callable
from dataclasses import replace
from functools import reduce
from operator import add
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pyarrow as pa

import headgate as hg
from benchmarks.timing import cores, versions
from benchmarks.values_mode import SECRET, VALUES, hide_analysis
from headgate.engine.analysis import Analysis
from headgate.learn.past import Past
from headgate.values.schema import Schema

RUNS = 30
ROWS = 100_000
PARTS = 100
COLUMNS = 200
ROUNDS = 5


def table(rng: np.random.Generator, rows: int = ROWS) -> pa.Table:
    """Ten columns as tables have them: keys, amounts, shares, codes, categories, names, moments."""
    words = np.array([f"{kind}-{number:03d}" for kind in ("shop", "depot") for number in range(400)])
    return pa.table(
        {
            "id": rng.permutation(rows * 10)[:rows],
            "amount": np.exp(rng.normal(3, 1, rows)),
            "quantity": rng.poisson(4, rows),
            "share": rng.beta(2, 5, rows),
            "score": pa.array(rng.normal(size=rows), mask=rng.random(rows) < 0.05),
            "country": rng.choice(["DE", "FR", "IT", "ES", "PL"], rows),
            "place": rng.choice(words, rows),
            "code": pa.array(rng.integers(0, 10**8, rows)).cast(pa.string()),
            "status": pa.array(rng.choice(["open", "paid", "void"], rows), mask=rng.random(rows) < 0.01),
            "at": pa.array(rng.integers(1_700_000_000, 1_700_086_400, rows) * 10**6).cast(pa.timestamp("us")),
        }
    )


def wide(analysis: Analysis, columns: int = COLUMNS) -> Analysis:
    """The same states under the names of so many columns."""
    base = analysis.schema.columns
    copies = -(-columns // len(base))
    schema = [msgspec.structs.replace(each, label=f"{each.label}_{copy}") for copy in range(copies) for each in base]
    kept = {each.label for each in schema[:columns]}
    metrics: list[Any] = [each for each in analysis.metrics if not each.key.columns]
    states = {key: state for key, state in analysis.states.items() if not key.columns}
    for copy in range(copies):
        for metric in analysis.metrics:
            if metric.key.columns and f"{metric.key.columns[0]}_{copy}" in kept:
                metrics.append(msgspec.structs.replace(metric, column=f"{metric.key.columns[0]}_{copy}"))
        for key, state in analysis.states.items():
            if key.columns and f"{key.columns[0]}_{copy}" in kept:
                states[msgspec.structs.replace(key, columns=(f"{key.columns[0]}_{copy}",))] = state
    return Analysis(Schema(tuple(schema[:columns])), tuple(metrics), states, {})


def histories() -> tuple[list[Analysis], list[Analysis]]:
    """Runs of 100,000 rows, and of 10 million: the states of 100 batches of 100,000 rows merged."""
    small, large = [], []
    for run in range(RUNS + 1):
        parts = [hg.analyze(table(np.random.default_rng([run, part]))) for part in range(2)]
        small.append(parts[0])
        large.append(reduce(add, [parts[at % 2] for at in range(PARTS)]))
    return small, large


def timed(work: Callable[[], Any]) -> float:
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin


def measured() -> dict[str, Any]:
    """Medians of rounds that alternate between the two sizes of batches."""
    runs = dict(zip(("100,000 rows", "10,000,000 rows"), histories(), strict=True))
    found: dict[str, dict[str, list[float]]] = {}
    for columns in (1, 10, COLUMNS):
        for _ in range(ROUNDS):
            for size, analyses in runs.items():
                _measure(found.setdefault(f"{columns} columns, {size}", {}), analyses, columns)
    return {name: {what: statistics.median(times) for what, times in each.items()} for name, each in found.items()}


def _measure(found: dict[str, list[float]], analyses: list[Analysis], columns: int) -> None:
    """The past is hidden as a store keeps it; the batch comes plain, and judging it hides it."""
    recorded = [wide(hide_analysis(each), columns) for each in analyses[:-1]]
    batch = wide(analyses[-1], columns)
    box: dict[str, Any] = {}

    def note(what: str, work: Callable[[], Any]) -> None:
        found.setdefault(what, []).append(timed(work))

    note("series and distances of 30 runs", lambda: box.update(past=Past.of(recorded)))
    box["past"] = replace(box["past"], secret=SECRET)
    note("program", lambda: box.update(program=hg.learn_program(box["past"])))
    note("judging a batch", lambda: box["program"].judge(batch, box["past"]))


def main() -> None:
    found = {
        "values": VALUES,
        "cores": cores(),
        "versions": versions("numpy", "pyarrow", "datasketches"),
        "seconds": measured(),
        "rounds": ROUNDS,
        "runs": RUNS,
    }
    target = Path(__file__).with_name("results") / "speed.json"
    target.parent.mkdir(exist_ok=True)
    target.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    for name, times in found["seconds"].items():
        print(f"{name:32s}", "  ".join(f"{what} {seconds:.3f} s" for what, seconds in times.items()))


if __name__ == "__main__":
    main()
