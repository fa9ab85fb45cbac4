"""The paper's Figures 3 and 4: what is found of each error at each magnitude, and month by month.

The paper's statistics are numbers, which a store keeps as they are, so it does not matter whether it hides values.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.novelty.candidates import average_neighbours, labels
from benchmarks.novelty.data import FLIGHTS, RETAIL
from benchmarks.novelty.errors import ERRORS, MAGNITUDES
from benchmarks.novelty.grid import Grid, daily_feeds, grid
from benchmarks.novelty.protocol import Confusion
from benchmarks.novelty.vectors import Floats, Vectors
from headgate.learn.metric_traits import traits_of
from headgate.learn.novelty.features import PAPER_FEATURES
from headgate.learn.novelty.model import Novelty
from headgate.learn.past import Past
from headgate.values.outcome import Undefined

Flags = npt.NDArray[np.bool_]
Method = Callable[[Vectors, int, Floats], Flags]
OTHERS = "other feeds"


def average_knn(clean: Vectors, at: int, tests: Floats) -> Flags:
    """The paper's: learned from all batches before."""
    return labels(average_neighbours, clean.values[:at], tests)


def headgates_novelty(clean: Vectors, at: int, tests: Floats) -> Flags:
    """Headgate's form over the same statistics, with its own threshold."""
    measures = tuple(map(traits_of, clean.keys))
    past = Past(clean.partitions[:at], measures, clean.values[:at], schemas=(), states={})
    model = Novelty.learn(past, features=PAPER_FEATURES)
    if isinstance(model, Undefined):
        return np.zeros(len(tests), np.bool_)
    return model.scores_of(model.features.scale_rows(tests)) > model.threshold


METHODS: dict[str, Method] = {"average kNN": average_knn, "Headgate's novelty": headgates_novelty}


class Labelled:
    """One grid judged by one method: the labels of its spots as they are, and of everything done to them."""

    def __init__(self, found: Grid, method: Method) -> None:
        self.grid = found
        self.clean: dict[int, bool] = {}
        self.broken = np.zeros(len(found.at), np.bool_)
        for at in np.unique(found.at).tolist():
            rows = found.at == at
            flags = method(found.clean, at, np.vstack([found.clean.values[at], found.values[rows]]))
            self.clean[at], self.broken[rows] = bool(flags[0]), flags[1:]

    def confusion(self, rows: Flags) -> Confusion:
        """Of some of what was done, each beside the batch that it was done to."""
        return Confusion.of(
            (self.clean[at], flag) for at, flag in zip(self.grid.at[rows], self.broken[rows], strict=True)
        )

    def cell(self, error: str, magnitude: float | None = None, month: str | None = None) -> Confusion:
        rows = self.grid.error == error
        if magnitude is not None:
            rows &= self.grid.magnitude == magnitude
        if month is not None:
            rows &= self.months == month
        return self.confusion(rows)

    @property
    def months(self) -> npt.NDArray[np.str_]:
        return np.array([partition[:7] for partition in self.grid.clean.partitions])[self.grid.at]


def curves() -> dict[str, Any]:
    """Of Online Retail, of the flights, and of the other feeds together: each error at each magnitude, by method."""
    found: dict[str, Any] = {"magnitudes": MAGNITUDES, "feeds": {}, "curves": {}, "months": {}}
    judged = {
        feed.title: {name: Labelled(grid(feed), each) for name, each in METHODS.items()} for feed in daily_feeds()
    }
    for title, by_method in judged.items():
        found["feeds"][title] = _feed(by_method)
        print(title, found["feeds"][title], flush=True)
    groups = {RETAIL: [RETAIL], FLIGHTS: [FLIGHTS], OTHERS: [each for each in judged if each not in (RETAIL, FLIGHTS)]}
    for group, titles in groups.items():
        found["curves"][group] = {
            name: {error: _curve([judged[title][name] for title in titles], error) for error in ERRORS}
            for name in METHODS
        }
    for title in (RETAIL, FLIGHTS):
        found["months"][title] = {error: _months(judged[title]["average kNN"], error) for error in ERRORS}
    return found


def _feed(by_method: dict[str, Labelled]) -> dict[str, Any]:
    held = next(iter(by_method.values())).grid
    told: dict[str, Any] = {"runs": len(held.clean.partitions), "broken_days": len(np.unique(held.at))}
    everything = np.ones(len(held.at), np.bool_)
    for name, each in by_method.items():
        told[name] = {"flagged": sum(each.clean.values()), "auc": round(each.confusion(everything).auc, 4)}
    return told


def _curve(judged: Iterable[Labelled], error: str) -> list[dict[str, float]]:
    cells = [[each.cell(error, magnitude) for each in judged] for magnitude in MAGNITUDES]
    return [Confusion(*map(sum, zip(*row, strict=True))).told() for row in cells]


def _months(judged: Labelled, error: str) -> dict[str, float]:
    months = np.unique(judged.months).tolist()
    return {month: round(judged.cell(error, month=month).auc, 4) for month in months}
