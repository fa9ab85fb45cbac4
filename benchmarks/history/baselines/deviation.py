"""How many robust deviations a metric lies from its median."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from benchmarks.history.baselines.method import BOTH, complete, floored
from benchmarks.history.columns import Floats

_OF_MEDIAN = 1.4826  # times the median absolute deviation, and
_OF_MEAN = 1.2533  # times the mean one: the standard deviation of normal numbers


class Deviation:
    """Hampel's X84 (Hellerstein 2008): max over metrics of |x - median| / (1.4826 MAD).

    More than half of a history is often one number, and MAD 0. Then the mean absolute deviation stands for it, as
    Iglewicz and Hoaglin (1993) advise; of a constant metric, 1e-9 of its size.
    """

    name = "MAD"
    groups = BOTH
    usual = 3.5
    every = 1

    def scores(self, history: Floats, tests: Floats, names: Sequence[str]) -> Floats:
        past, now = complete(history, tests)
        median = np.median(past, axis=0)
        apart = np.abs(past - median)
        robust = _OF_MEDIAN * np.median(apart, axis=0)
        scale = floored(np.where(robust > 0, robust, _OF_MEAN * apart.mean(axis=0)), median)
        return (np.abs(now - median) / scale).max(axis=1, initial=0.0)
