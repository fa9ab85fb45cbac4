"""What a history of distances costs: states of 30 runs of many columns, each against the run before.

Labels are found by their hashes, so it does not matter whether a store hides values.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np

from headgate.metrics.distances import labels, numbers
from headgate.metrics.distances.registry import distances
from headgate.metrics.states.frequencies import PATTERNS, VALUES, Frequencies
from headgate.metrics.states.moments import Moments
from headgate.metrics.states.quantiles import Quantiles

RUNS = 30
COLUMNS = 40
ROWS = 20_000


def microseconds(rounds: int = 3) -> dict[str, float]:
    """For each state: the processor's time for one distance, with opening the states, in the best of some rounds."""
    random = np.random.default_rng(5)
    found = {}
    for folded, fold in _folds(random).items():
        history = [[fold() for _ in range(RUNS)] for _ in range(COLUMNS)]
        chosen = [kind("x") for kind in distances().values() if kind.folded == folded]
        found[folded] = min(_round(history, chosen) for _ in range(rounds)) * 1e6
    return found


def _round(history: list[list[Any]], chosen: list[Any]) -> float:
    for cached in (numbers.read_bins, numbers.pair_bins, labels.side_by_side):
        cached.cache_clear()
    begin = time.process_time()
    for column in history:
        for before, now in pairwise(column):
            for each in chosen:
                each.between(now, before)
    return (time.process_time() - begin) / (len(history) * (RUNS - 1) * len(chosen))


def _folds(random: np.random.Generator) -> dict[str, Callable[[], Any]]:
    def counted(capacity: int) -> Frequencies:
        values, counts = np.unique(random.zipf(1.5, ROWS) % 2_000, return_counts=True)
        return Frequencies.of(counts, lambda at: [f"label {each}" for each in values[at]], capacity)

    return {
        "quantiles": lambda: Quantiles.of(random.normal(size=ROWS)),
        "moments": lambda: Moments.of(np.sort(random.normal(size=ROWS))),
        "frequent_values": lambda: counted(VALUES),
        "frequent_patterns": lambda: counted(PATTERNS),
    }
