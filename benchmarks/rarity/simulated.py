"""`python -m benchmarks.rarity.simulated`: how often good batches of made-up tables exceed the limit of their columns.

Tables have 10, 50 or 200 columns of four metrics each. Columns are independent of each other or share half of their
noise. A history of K runs is replayed, and the next runs are judged; each is accepted. A second part has tables that
are twice as rare as the feeds, for 1,000 runs.
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from headgate.learn.history.forecast import MIN_RUNS
from headgate.learn.history.rarity import NOTABLE, RANKS, TYPICAL_COLUMNS, Rarities
from headgate.learn.metric_traits import traits_of
from headgate.learn.past import DEFAULT_RUNS, Past
from headgate.learn.pooled_rates import load_pooled_rates
from headgate.learn.rarity_limit import find_limit, find_working_budget
from headgate.learn.remembered_rarity import FADES_AFTER, MOST_SURPRISES, limit_rarity, remember_batch
from headgate.stats.intervals import wilson
from headgate.values.key import MetricKey
from headgate.values.rarity_memory import NOTHING_REMEMBERED, BatchRarity, Part, RarityMemory
from headgate.values.schema import Schema

RESULTS = Path(__file__).parent / "results" / "simulated.json"
COLUMNS = (10, 50, 200)
RUNS = (7, 14, 30, 60)
BUDGETS = (0.003, 0.01, 0.05)
NEXT = 5
"""Runs after K that are judged."""
METRICS = ("mean", "median", "sum", "str_len")
SERIES_AT_ONCE = 8_000
ONCE_IN = 100
Floats = npt.NDArray[np.float64]
Random = np.random.Generator
Row = dict[str, Any]


def _jump(rng: Random, runs: int, tables: int, columns: int) -> Floats:
    """In one of a hundred runs, all metrics of a column jump by 20 deviations."""
    jumps = (rng.random((runs, tables, columns, 1)) < 1 / ONCE_IN) * rng.choice([-20.0, 20.0], (1, tables, columns, 1))
    return rng.normal(size=(runs, tables, columns, len(METRICS))) + jumps


def _change(rng: Random, runs: int, tables: int, columns: int) -> Floats:
    """A constant that is another one after about a hundred runs, and stays so; then all metrics of the column."""
    steps = (rng.random((runs, tables, columns, 1)) < 1 / ONCE_IN) * rng.normal(0, 30, (runs, tables, columns, 1))
    return np.broadcast_to(steps.cumsum(axis=0), (runs, tables, columns, len(METRICS))).copy()


KINDS: dict[str, Callable[[Random, int, int, int], Floats]] = {
    "smooth": lambda rng, runs, tables, columns: rng.normal(size=(runs, tables, columns, len(METRICS))),
    "heavy-tailed": lambda rng, runs, tables, columns: rng.standard_t(3, (runs, tables, columns, len(METRICS))),
    "jumping": _jump,
    "changing constants": _change,
}


class Cell(NamedTuple):
    """One kind of table at one length and budget: how many runs were judged, and how many held."""

    kind: str
    columns: int
    is_correlated: bool
    runs: int
    budget: float
    judged: int
    held: int

    @property
    def upper(self) -> float:
        """The upper end of the 99% interval of the realised rate."""
        return wilson(self.held, self.judged, 0.98)[1]


def make_values(rng: Random, kind: str, runs: int, tables: int, columns: int, is_correlated: bool) -> Floats:
    """The values of all metrics, about 1,000 with a deviation of 3%; shape (runs, tables, columns, metrics)."""
    noise = KINDS[kind](rng, runs, tables, columns)
    if is_correlated:
        shared = KINDS[kind](rng, runs, tables, 1)[..., :1]
        noise = math.sqrt(0.5) * noise + math.sqrt(0.5) * shared
    values: Floats = 1_000.0 + 30.0 * noise
    return values


class Tables:
    """Many tables of the same form at once, with what each remembers."""

    def __init__(self, tables: int, columns: int) -> None:
        self.shape = (tables, columns, len(METRICS))
        names = [f"t{table}c{column}" for table in range(tables) for column in range(columns)]
        keys = [MetricKey(metric, (name,)) for name in names for metric in METRICS]
        self.metrics = tuple(map(traits_of, keys))
        self.keys = [str(each) for each in keys]
        self.surprises: dict[str, tuple[tuple[float, int], ...]] = {}
        self.memories = {budget: [NOTHING_REMEMBERED] * tables for budget in BUDGETS}
        self.seen = 0.0

    def judge(self, values: Floats, row: int) -> dict[float, int]:
        """How many tables each budget holds at a row; all are accepted and remembered."""
        before = values[max(0, row - DEFAULT_RUNS) : row].reshape(-1, len(self.metrics))
        names = tuple(map(str, range(len(before))))
        past = Past(names, self.metrics, before, (Schema(),) * len(before), {})
        rates = load_pooled_rates()
        rarities = Rarities.of(past, rates, RarityMemory(self.seen, surprises=self.surprises))
        batch = values[row].reshape(-1)
        found = rarities.measure(batch)
        of_columns = np.sort(found.reshape(self.shape), axis=-1)[..., ::-1][..., : len(RANKS)] @ RANKS
        rarest = np.fmax(of_columns.max(axis=1) - math.log(self.shape[1] / TYPICAL_COLUMNS), 0.0)
        self._remember(rarities, batch, found)
        return self._count_held(rarest, len(before))

    def _count_held(self, rarest: Floats, runs: int) -> dict[float, int]:
        prior = load_pooled_rates().batch_rates(Part.COLUMNS, runs)
        held = dict.fromkeys(BUDGETS, 0)
        for budget, memories in self.memories.items():
            for table, rarity in enumerate(rarest.tolist()):
                limit = find_limit(prior, memories[table], Part.COLUMNS, find_working_budget(budget, memories[table]))
                batch = BatchRarity({Part.COLUMNS: rarity})
                if limit is not None:
                    held[budget] += rarity > limit.rarity
                    batch = limit_rarity(batch, {Part.COLUMNS: limit.rarity})
                memories[table] = remember_batch(memories[table], batch, prior)
        return held

    def _remember(self, rarities: Rarities, batch: Floats, found: Floats) -> None:
        surprises = np.fmin(rarities.forecast.surprise(batch), rarities.grid[-1])
        for at in np.flatnonzero(found > NOTABLE).tolist():
            key = self.keys[at]
            self.surprises[key] = (*self.surprises.get(key, ()), (float(surprises[at]), 0))[-MOST_SURPRISES:]
        self.seen = min(self.seen + 1.0, FADES_AFTER)


def simulate(kind: str, columns: int, is_correlated: bool, tables: int, seed: int = 0) -> list[Cell]:
    """The cells of a kind of table, at all lengths and budgets."""
    at_once = max(1, min(tables, SERIES_AT_ONCE // (columns * len(METRICS))))
    counts: dict[tuple[int, float], list[int]] = {(runs, budget): [0, 0] for runs in RUNS for budget in BUDGETS}
    for start in range(0, tables, at_once):
        rng = np.random.default_rng([seed, list(KINDS).index(kind), columns, is_correlated, start])
        group = Tables(min(at_once, tables - start), columns)
        values = make_values(rng, kind, max(RUNS) + NEXT, group.shape[0], columns, is_correlated)
        for row in range(MIN_RUNS, len(values)):
            held = group.judge(values, row)
            for runs in RUNS:
                if runs <= row < runs + NEXT:
                    for budget in BUDGETS:
                        counts[runs, budget][0] += group.shape[0]
                        counts[runs, budget][1] += held[budget]
    return [Cell(kind, columns, is_correlated, *key, *found) for key, found in counts.items()]


def simulate_wild(budget: float, tables: int, seed: int = 0) -> tuple[int, int]:
    """How many batches were judged and held of tables that are twice as rare as the feeds, from run 200 of 1,000 on.

    The rarity of a batch is twice one that is drawn from the shares of other tables.
    """
    prior = load_pooled_rates().batch_rates(Part.COLUMNS, DEFAULT_RUNS)
    rng, shares = np.random.default_rng([seed, int(1e6 * budget)]), np.array(prior.shares)
    judged = held = 0
    for _ in range(tables):
        memory = NOTHING_REMEMBERED
        drawn = 2.0 * 0.25 * np.searchsorted(-shares, -rng.random(1_000))
        for run, rarity in enumerate(drawn.tolist()):
            limit = find_limit(prior, memory, Part.COLUMNS, find_working_budget(budget, memory))
            batch = BatchRarity({Part.COLUMNS: rarity})
            if limit is not None:
                held += run >= 200 and rarity > limit.rarity
                batch = limit_rarity(batch, {Part.COLUMNS: limit.rarity})
            judged += run >= 200
            memory = remember_batch(memory, batch, prior)
    return judged, held


def _job(job: tuple[str, int, bool, int]) -> list[Cell]:
    return simulate(*job)


def run_all(tables: Sequence[int], workers: int) -> Iterator[Cell]:
    """All cells; `tables` are as many tables of each number of columns."""
    jobs = [
        (kind, columns, is_correlated, count)
        for columns, count in zip(COLUMNS, tables, strict=True)
        for kind in KINDS
        for is_correlated in (False, True)
    ]
    with ProcessPoolExecutor(workers, get_context("spawn")) as pool:
        for job, cells in zip(jobs, pool.map(_job, jobs), strict=True):
            print(*job, flush=True)
            yield from cells


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", type=int, nargs=3, default=(600, 300, 100), help="of 10, 50 and 200 columns")
    parser.add_argument("--workers", type=int, default=2)
    given = parser.parse_args()
    cells = [{**each._asdict(), "upper": each.upper} for each in run_all(given.tables, given.workers)]
    wild = {str(budget): simulate_wild(budget, 40) for budget in BUDGETS}
    RESULTS.write_text(json.dumps({"cells": cells, "wild": wild}, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
