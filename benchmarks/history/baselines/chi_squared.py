"""The chi-squared test of a batch's values against those of the one before."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.stats import chi2

from benchmarks.history.baselines.method import BOTH, counted, tens, values
from benchmarks.history.columns import Floats

_KEPT = 512.0  # values that a summary tells apart


class ChiSquared:
    """-log10 of the p-value that the batch and the last of the history have the same shares of values.

    The statistic is 2nm / (n + m) times the symmetric distance of the shares, which is exact where both have as many
    values; the degrees of freedom are the distinct values of the richer batch less one.
    """

    name = "chi-squared"
    groups = BOTH
    usual = 1.3  # p = 0.05
    every = 1

    def scores(self, history: Floats, tests: Floats, names: Sequence[str]) -> Floats:
        now, before = values(names, tests), values(names, history[-1])
        size, last = counted(now), counted(before)
        statistic = np.nan_to_num(now["value_chi_squared"]) * 2 * size * last / np.maximum(size + last, 1.0)
        distinct = np.fmax(now["approx_count_distinct"], before["approx_count_distinct"])
        freedom = np.clip(np.rint(np.nan_to_num(distinct)), 2.0, _KEPT) - 1.0
        return tens(chi2.logsf(statistic, freedom))
