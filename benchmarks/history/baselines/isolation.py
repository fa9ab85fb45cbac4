"""How few random cuts it takes to part a batch from its history."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from benchmarks.history.baselines.method import BOTH, complete
from benchmarks.history.columns import Floats

TREES = 100
_TRIED = 4  # metrics that a cut tries until one of them tells the batches of a node apart
_EULER = 0.5772156649


class Isolation:
    """Liu et al. (2008) with 100 trees of the whole history, all grown at once; every third history.

    scikit-learn's forest gives nearly the same scores and takes some 25 times as long. Trees need no scale. They cannot
    cut a metric that never moved, so a change of such a one is not seen.
    """

    name = "isolation forest"
    groups = BOTH
    usual = 0.5
    every = 3

    def scores(self, history: Floats, tests: Floats, names: Sequence[str]) -> Floats:
        past, now = complete(history, tests)
        moved = np.ptp(past, axis=0) > 0
        if not moved.any():
            return np.zeros(len(tests))
        return isolation(past[:, moved], now[:, moved], np.random.default_rng(0))


def isolation(past: Floats, now: Floats, rng: np.random.Generator, trees: int = TREES) -> Floats:
    """2^(-E[h(x)] / c(n)) of each new row: above a half, it is parted sooner than most."""
    count = len(past)
    rows = np.concatenate([past, now])
    forest = np.arange(trees)[:, None]
    node, depth = np.zeros((2, trees, len(rows)), np.int64)
    for level in range(math.ceil(math.log2(count))):
        metric, at, cut = _cuts(past, node[:, :count], 2**level, rng)
        cuts = cut[forest, node]
        right = cuts & (rows[np.arange(len(rows)), metric[forest, node]] > at[forest, node])
        node, depth = 2 * node + right, depth + cuts
    held = np.zeros((trees, int(node.max()) + 1), np.int64)
    np.add.at(held, (forest, node[:, :count]), 1)
    length = depth + _unsuccessful(held)[forest, node]
    return np.exp2(-length[:, count:].mean(axis=0) / _unsuccessful(np.array([count]))[0])


def _cuts(
    past: Floats, node: npt.NDArray[np.int64], width: int, rng: np.random.Generator
) -> tuple[npt.NDArray[np.int64], Floats, npt.NDArray[np.bool_]]:
    """For each node of each tree a metric, where to cut it, and whether there is anything to cut."""
    trees, count = node.shape
    tried = rng.integers(past.shape[1], size=(trees, width, _TRIED))
    forest = np.arange(trees)[:, None]
    seen = past[np.arange(count)[None, :, None], tried[forest, node]]
    places = ((forest * width + node)[..., None] * _TRIED + np.arange(_TRIED)).ravel()
    low, high = np.full(tried.size, np.inf), np.full(tried.size, -np.inf)
    np.minimum.at(low, places, seen.ravel())
    np.maximum.at(high, places, seen.ravel())
    differs = (high > low).reshape(tried.shape)
    first = differs.argmax(axis=2)[..., None]
    metric, least, most = (
        np.take_along_axis(each.reshape(tried.shape), first, 2)[..., 0] for each in (tried, low, high)
    )
    cut = differs.any(axis=2)
    return metric, least + rng.random(cut.shape) * np.where(cut, most - least, 0.0), cut


def _unsuccessful(count: npt.NDArray[np.int64]) -> Floats:
    """c(n), the mean path of a search that fails in a tree of n: what a leaf of n batches would add.

    >>> _unsuccessful(np.array([1, 2, 30])).round(3)
    array([0.   , 1.   , 5.956])
    """
    many = np.maximum(count, 3).astype(float)
    return np.where(count > 2, 2 * (np.log(many - 1) + _EULER) - 2 * (many - 1) / many, np.maximum(count - 1.0, 0.0))
