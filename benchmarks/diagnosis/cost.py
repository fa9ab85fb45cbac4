"""What naming a fault costs: seconds of a held batch of many columns, without and with the scan for its rows.

And what it costs to keep states of segments: seconds and bytes of a judged batch, with and without them.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

import headgate as hg
from benchmarks.diagnosis.protocol import BUDGET, HISTORY
from benchmarks.gate.good_batches import judge_and_accept
from benchmarks.timing import versions
from benchmarks.values_mode import open_memory
from headgate.gate import batch_judge
from headgate.store.record import make_record

KINDS = 5  # of columns: numbers, whole numbers, categories, texts, times
CITIES = ("Lisboa", "Porto", "Ottawa", "Zürich", "Århus")
SEGMENT, WARM = "c02", 8
STEPS = {"diagnose_batch": "from states", "locate_faults": "rows"}


def measure_cost(columns: int, rows: int, rounds: int) -> dict[str, Any]:
    """Medians of seconds by fault: of naming it from states, and of one more scan for its rows; then of segments."""
    gate = hg.Gate("wide", store=open_memory(), false_alarms=BUDGET)
    for day in range(HISTORY):
        judge_and_accept(gate, f"{day:03}", _make_batch(day, columns, rows))
    good = _make_batch(HISTORY, columns, rows)
    found = {}
    for name, batch in _break_batch(good).items():
        taken: list[dict[str, float]] = []
        for at in range(rounds):
            with _time_steps() as seconds:
                verdict = gate.judge(batch, f"{HISTORY + at:03}")
            gate.reject(f"{HISTORY + at:03}", number=verdict.revision.number)
            taken.append(seconds)
        medians = {step: statistics.median(each.get(step, 0.0) for each in taken) for step in STEPS.values()}
        found[name] = {**medians, "headline": str(verdict.headline), "failed": len(verdict.failures)}
    return {
        "columns": columns,
        "rows": rows,
        "runs": HISTORY,
        "rounds": rounds,
        "faults": found,
        "segments": _measure_segments(columns, rows, rounds),
        "versions": versions("pyarrow", "numpy"),
    }


def _measure_segments(columns: int, rows: int, rounds: int) -> dict[str, Any]:
    """Medians of seconds and CPU seconds of a judgement, and the bytes of its states, for a column of five values."""
    gates = {
        name: hg.Gate("wide", store=open_memory(), false_alarms=BUDGET, segments=by)
        for name, by in {"without": (), "with": (SEGMENT,)}.items()
    }
    taken: dict[str, list[tuple[float, float]]] = {name: [] for name in gates}
    for day in range(rounds + WARM):
        batch = _make_batch(day, columns, rows)
        for name, gate in gates.items():
            start, cpu = time.perf_counter(), time.process_time()
            judge_and_accept(gate, f"{day:03}", batch)
            if day >= WARM:
                taken[name].append((time.perf_counter() - start, time.process_time() - cpu))
    found: dict[str, Any] = {}
    for name, gate in gates.items():
        (newest,) = gate.store.last("wide", 1)
        states = make_record(gate.store.run(newest), None).states
        wall, cpus = (statistics.median(each) for each in zip(*taken[name], strict=True))
        found[name] = {"seconds": wall, "cpu": cpus, "bytes": sum(map(len, states.values()))}
    return {**found, "by": SEGMENT, "values": len(CITIES)}


@contextmanager
def _time_steps() -> Iterator[dict[str, float]]:
    """The seconds of each step of a diagnosis."""
    seconds: dict[str, float] = {}
    kept = {name: getattr(batch_judge, name) for name in STEPS}

    def time_step(name: str) -> Any:
        def call(*args: Any, **given: Any) -> Any:
            start = time.perf_counter()
            result = kept[name](*args, **given)
            seconds[STEPS[name]] = time.perf_counter() - start
            return result

        return call

    for name in STEPS:
        setattr(batch_judge, name, time_step(name))
    try:
        yield seconds
    finally:
        for name, function in kept.items():
            setattr(batch_judge, name, function)


def _make_batch(day: int, columns: int, rows: int) -> pa.Table:
    chance = np.random.default_rng(day)
    return pa.table({f"c{at:02}": _make_column(at, day, rows, chance) for at in range(columns)})


def _make_column(at: int, day: int, rows: int, chance: np.random.Generator) -> pa.Array:
    match at % KINDS:
        case 0:
            return pa.array(np.round(chance.lognormal(3.0 + at / 20, 0.5, rows), 2))
        case 1:
            return pa.array(chance.integers(50, 900 + at, rows))
        case 2:
            return pa.array(chance.choice(CITIES, rows, p=(0.4, 0.3, 0.15, 0.1, 0.05)).tolist())
        case 3:
            return pa.array([f"A{number:06}" for number in chance.integers(0, 999_999, rows)])
    begin = np.datetime64("2026-01-01", "us") + np.timedelta64(day, "D")
    return pa.array(begin + chance.integers(0, 86_400, rows).astype("timedelta64[s]"))


def _break_batch(batch: pa.Table) -> dict[str, pa.Table]:
    """A batch with a fault of one column, of a fifth of the rows, of all rows, and of half of the columns."""
    names = batch.column_names

    def change(table: pa.Table, at: int, values: pa.Array) -> pa.Table:
        return table.set_column(at, names[at], values)

    scaled = pc.multiply(batch[names[0]], 1.609344)
    in_lisboa = pc.equal(batch[names[2]], CITIES[0])
    many = batch
    for at in range(len(names) // 2):
        if at % KINDS == 0:
            many = change(many, at, pc.multiply(batch[names[at]], 100.0))
        elif at % KINDS == 1:
            many = change(many, at, pc.if_else(in_lisboa, None, batch[names[at]]))
    return {
        "one column multiplied": change(batch, 0, scaled),
        "one column multiplied in a segment": change(batch, 0, pc.if_else(in_lisboa, scaled, batch[names[0]])),
        "all rows twice": pa.concat_tables([batch, batch]),
        "many columns multiplied or null": many,
    }
