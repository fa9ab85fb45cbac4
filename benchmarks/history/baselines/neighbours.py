"""How far a batch lies from the batches most like it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from benchmarks.history.baselines.method import BOTH, complete
from benchmarks.history.columns import Floats

NEAR = 5


class Neighbours:
    """Redyuk et al. (2021): the mean distance to the 5 nearest batches, over the largest such distance of the history.

    Metrics are scaled to [0, 1] on the history. As in the authors' code (scikit-learn's MinMaxScaler), one that never
    moved keeps its own unit. A batch is strange above 1: they take the 99th percentile, of 30 batches the largest.
    """

    name = "average kNN"
    groups = BOTH
    usual = 1.0
    every = 1

    def scores(self, history: Floats, tests: Floats, names: Sequence[str]) -> Floats:
        past, now = complete(history, tests)
        least, span = past.min(axis=0), np.ptp(past, axis=0)
        scale = np.where(span > 0, span, 1.0)
        past, now = (past - least) / scale, (now - least) / scale
        within = apart(past, past)
        np.fill_diagonal(within, np.inf)  # no batch is its own neighbour
        usual = max(float(_nearest(within).max()), 1e-9)
        return _nearest(apart(now, past)) / usual


def apart(one: Floats, two: Floats) -> Floats:
    """The Euclidean distance of each row from each.

    >>> apart(np.array([[0.0, 0.0]]), np.array([[3.0, 4.0], [0.0, 1.0]]))
    array([[5., 1.]])
    """
    return np.sqrt(((one[:, None, :] - two[None, :, :]) ** 2).sum(axis=2))


def _nearest(distances: Floats) -> Floats:
    near = min(NEAR, distances.shape[1] - 1)
    return np.partition(distances, near - 1, axis=1)[:, :near].mean(axis=1)
