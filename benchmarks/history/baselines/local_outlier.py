"""How much sparser a batch's neighbourhood is than those of its neighbours."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from sklearn import config_context
from sklearn.neighbors import LocalOutlierFactor

from benchmarks.history.baselines.method import BOTH, standardised
from benchmarks.history.columns import Floats

MOST = 20  # neighbours: scikit-learn's own number


class LocalOutlier:
    """Breunig et al. (2000), scikit-learn's, of metrics in deviations; constant ones deviate by 1e-9 of their size.

    20 neighbours, but no more than two thirds of the history.
    """

    name = "LOF"
    groups = BOTH
    usual = 1.5
    every = 1

    def scores(self, history: Floats, tests: Floats, names: Sequence[str]) -> Floats:
        past, now = standardised(history, tests)
        if not past.shape[1]:
            return np.zeros(len(tests))
        near = min(MOST, max(2, 2 * len(past) // 3))
        with config_context(assume_finite=True, skip_parameter_validation=True):
            model = LocalOutlierFactor(n_neighbors=near, novelty=True, algorithm="brute").fit(past)
            return -model.score_samples(now)
