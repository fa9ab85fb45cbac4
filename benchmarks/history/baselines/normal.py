"""How many standard deviations a metric lies from its mean."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from benchmarks.history.baselines.method import BOTH, standardised
from benchmarks.history.columns import Floats


class Normal:
    """max over metrics of |x - mean| / deviation: three sigma. A constant metric deviates by 1e-9 of its size."""

    name = "z-score"
    groups = BOTH
    usual = 3.0
    every = 1

    def scores(self, history: Floats, tests: Floats, names: Sequence[str]) -> Floats:
        return np.abs(standardised(history, tests)[1]).max(axis=1, initial=0.0)
