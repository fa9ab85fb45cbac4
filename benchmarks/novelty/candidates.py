"""The seven detectors of novelty that the paper chooses from (its Table 1), with thresholds from the history."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from sklearn import config_context
from sklearn.ensemble import IsolationForest
from sklearn.neighbors import BallTree
from sklearn.svm import OneClassSVM

from benchmarks.history.baselines.neighbours import apart
from benchmarks.novelty.protocol import scaled
from benchmarks.novelty.vectors import Floats

CONTAMINATION = 0.01
NEAR = 5
SEED = 42
BAGS = 10
FIELD = 20  # neighbours of a local outlier factor
BINS = 10

Labels = npt.NDArray[np.bool_]


class Scores(NamedTuple):
    """How strange each batch of the history is beside the others, and each new batch beside the history."""

    history: Floats
    tests: Floats

    def outliers(self, contamination: float = CONTAMINATION) -> Labels:
        """New batches beyond the percentile of the history that contamination leaves (the paper's Algorithm 1)."""
        return self.tests > np.percentile(self.history, 100 * (1 - contamination))


Detector = Callable[[Floats, Floats], Scores]


def labels(detector: Detector, history: Floats, tests: Floats) -> Labels:
    """Which of the tests a detector calls outliers; vectors are scaled on the history."""
    with config_context(assume_finite=True):
        return detector(*scaled(history, tests)).outliers()


def average_neighbours(past: Floats, now: Floats) -> Scores:
    """The mean distance to the 5 nearest batches; none of the history is its own neighbour."""
    within, beyond = _distances(past, now)
    return Scores(within.mean(axis=1), beyond.mean(axis=1))


def farthest_neighbour(past: Floats, now: Floats) -> Scores:
    """The distance to the fifth nearest batch (Ramaswamy et al. 2000)."""
    within, beyond = _distances(past, now)
    return Scores(within.max(axis=1), beyond.max(axis=1))


def _distances(past: Floats, now: Floats, near: int = NEAR) -> tuple[Floats, Floats]:
    tree = BallTree(past)
    near = min(near, len(past) - 1)
    own = tree.query(past, near + 1)[0][:, 1:]  # the nearest is the batch itself, or one just like it
    return own, tree.query(now, near)[0]


def one_class(past: Floats, now: Floats) -> Scores:
    """Schoelkopf et al. (2000) with half of the history inside the border, which PyOD takes where nothing is said."""
    model = OneClassSVM(nu=0.5, gamma="auto").fit(past)
    return Scores(-model.decision_function(past), -model.decision_function(now))


def isolation_forest(past: Floats, now: Floats) -> Scores:
    """Liu et al. (2008), 100 trees."""
    model = IsolationForest(n_estimators=100, random_state=SEED).fit(past)
    return Scores(-model.score_samples(past), -model.score_samples(now))


def feature_bagging(past: Floats, now: Floats) -> Scores:
    """Lazarevic and Kumar (2005): the mean local outlier factor over 10 draws of half to all of the statistics."""
    rng = np.random.default_rng(SEED)
    width = past.shape[1]
    own, other = np.zeros(len(past)), np.zeros(len(now))
    for _ in range(BAGS):
        bag = rng.choice(width, size=rng.integers(width // 2, width, endpoint=True), replace=False)
        found = local_outliers(past[:, bag], now[:, bag])
        own, other = own + found.history / BAGS, other + found.tests / BAGS
    return Scores(own, other)


def local_outliers(past: Floats, now: Floats, near: int = FIELD) -> Scores:
    """LOF (Breunig et al. 2000) with 20 neighbours; scikit-learn's gives the same and takes longer for so few runs."""
    near = min(near, len(past) - 1)
    within, beyond = apart(past, past), apart(now, past)
    np.fill_diagonal(within, np.inf)
    reach = np.partition(within, near - 1, axis=1)[:, near - 1]
    own, other = (np.argsort(each, axis=1)[:, :near] for each in (within, beyond))
    density = _density(within, own, reach)
    return Scores(density[own].mean(axis=1) / density, density[other].mean(axis=1) / _density(beyond, other, reach))


def _density(distances: Floats, near: npt.NDArray[np.int64], reach: Floats) -> Floats:
    """One over the mean distance to the nearest, each at least as far as its own neighbours reach."""
    return 1.0 / (np.maximum(np.take_along_axis(distances, near, 1), reach[near]).mean(axis=1) + 1e-10)


def histograms(past: Floats, now: Floats) -> Scores:
    """HBOS (Goldstein and Dengel 2012): sum over statistics of log(1 / height), 10 bins each, the highest of height 1.

    A value outside of all bins is given the height that an empty bin is.
    """
    low, high = past.min(axis=0), past.max(axis=0)
    width = np.where(high > low, (high - low) / BINS, 1.0)
    columns = np.arange(past.shape[1])
    places = np.clip(((past - low) / width).astype(int), 0, BINS - 1)
    height = np.zeros((BINS, past.shape[1]))
    np.add.at(height, (places, columns), 1.0)
    rarity = -np.log(height / height.max(axis=0) + 0.1)
    at = np.clip(((now - low) / width).astype(int), 0, BINS - 1)
    outside = (now < low) | (now > high)
    return Scores(rarity[places, columns].sum(axis=1), np.where(outside, -np.log(0.1), rarity[at, columns]).sum(axis=1))


def angles(past: Floats, now: Floats, near: int = NEAR) -> Scores:
    """FastABOD (Kriegel et al. 2008): less the variance of angles between pairs of nearest batches, by distance."""
    tree, near = BallTree(past), min(max(near, 2), len(past) - 1)
    own = tree.query(past, near + 1)[1][:, 1:]
    other = tree.query(now, near)[1]
    return Scores(-_angle_variance(past, past[own]), -_angle_variance(now, past[other]))


def _angle_variance(points: Floats, around: Floats) -> Floats:
    arms = around - points[:, None, :]
    squares = np.maximum((arms**2).sum(axis=2), 1e-24)
    one, two = np.array(list(combinations(range(arms.shape[1]), 2))).T
    dots = (arms[:, one] * arms[:, two]).sum(axis=2)
    angle, weight = dots / (squares[:, one] * squares[:, two]), 1 / np.sqrt(squares[:, one] * squares[:, two])
    total = weight.sum(axis=1)
    mean = (weight * angle).sum(axis=1) / total
    return (weight * angle**2).sum(axis=1) / total - mean**2


CANDIDATES: dict[str, Detector] = {
    "one-class SVM": one_class,
    "ABOD": angles,
    "FBLOF": feature_bagging,
    "HBOS": histograms,
    "isolation forest": isolation_forest,
    "kNN": farthest_neighbour,
    "average kNN": average_neighbours,
}
