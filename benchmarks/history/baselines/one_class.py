"""Whether a batch lies outside of the smooth border round its history."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from sklearn import config_context
from sklearn.svm import OneClassSVM

from benchmarks.history.baselines.method import BOTH, standardised
from benchmarks.history.columns import Floats

INSIDE = 0.05  # the share of the history that may lie outside


class OneClass:
    """Schoelkopf et al. (2001), scikit-learn's with an RBF kernel, of metrics in deviations (as for LOF).

    The score is 1 less the ratio to the border: above 0 is outside, and 1 is far from all.
    """

    name = "one-class SVM"
    groups = BOTH
    usual = 0.0
    every = 1

    def scores(self, history: Floats, tests: Floats, names: Sequence[str]) -> Floats:
        past, now = standardised(history, tests)
        if not past.any():
            return (np.abs(now) > 1e-6).any(axis=1).astype(float)
        with config_context(assume_finite=True, skip_parameter_validation=True):
            model = OneClassSVM(nu=INSIDE, gamma="scale").fit(past)
            return 1.0 - model.score_samples(now) / model.offset_[0]
