"""Runs in memory: as many in full as are learned from, and of the others the numbers."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
from msgspec.structs import replace

import headgate as hg
from headgate.gate.run_cache import RunCache
from headgate.learn.drift import ANCHOR_RUNS
from headgate.values.outcome import Distribution, Measured
from headgate.values.run import Run


def make_run(number: int) -> Run:
    found = hg.analyze(pa.table({"page": ["home", "cart", f"page {number}"]}))
    return Run(
        dataset="clicks",
        partition=f"day {number}",
        fingerprint=str(number),
        schema=found.schema,
        outcomes=found.outcomes,
        states=found.states,
    )


def test_of_old_runs_that_are_asked_for_only_the_numbers_are_kept() -> None:
    cache, runs = RunCache(2), [make_run(number) for number in range(14)]
    for run in runs:
        cache.add(run)
    assert cache.find(runs[-1].attempt) is runs[-1]
    assert cache.find(runs[0].attempt) is None
    assert cache.find_numbers(runs[0].attempt) is None
    cache.add_numbers(runs[0])
    old = cache.find_numbers(runs[0].attempt)
    assert old is not None
    assert not old.states
    assert old.outcomes[hg.MetricKey("size")] == Measured(3.0)
    assert not any(isinstance(each.value, Distribution) for each in old.outcomes.values() if isinstance(each, Measured))


def test_a_run_that_is_asked_for_stays() -> None:
    cache, runs = RunCache(2), [make_run(number) for number in range(14)]
    cache.add(runs[0])
    for run in runs[1:]:
        cache.add(run)
        assert cache.find(runs[0].attempt) is runs[0]


def test_numbers_that_nobody_asked_for_at_last_are_forgotten() -> None:
    cache, runs = RunCache(2), [make_run(number) for number in range(5)]
    for run in runs:
        cache.add_numbers(run)
    cache.keep_numbers([runs[1].attempt, runs[3].attempt, "unknown"])
    assert len(cache) == 2
    assert cache.find_numbers(runs[3].attempt) is not None
    assert cache.find_numbers(runs[0].attempt) is None


def test_it_does_not_grow_without_end() -> None:
    cache, run = RunCache(2), make_run(0)
    for number in range(1_000):
        cache.add(replace(run, attempt=str(number)))
    assert len(cache) == 2 + 8
    for number in range(1_000):
        cache.add_numbers(replace(run, attempt=str(number)))
    assert len(cache) == 2 + 8 + 320


def test_a_gate_keeps_no_run_that_it_does_not_learn_from(tmp_path: Path) -> None:
    """But for the few that drift is measured from."""
    gate = hg.Gate("clicks", store=hg.open_store(f"sqlite:///{tmp_path}/dq.db"), runs=5, mode="observe")
    kept = []
    for number in range(40):
        gate.judge(pa.table({"clicks": [number % 7, 4, 9]}), f"{number:02}")
        kept.append(len(gate.history._cache))
    assert max(kept) <= 5 + 8 + ANCHOR_RUNS + 1
    assert kept[-1] == kept[25]
    gate.store.close()
