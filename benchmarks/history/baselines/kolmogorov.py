"""The Kolmogorov-Smirnov test of a batch against the one before."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from benchmarks.history.baselines.method import counted, tens, values
from benchmarks.history.columns import NUMERIC, Floats


class Kolmogorov:
    """-log10 of the p-value of D between the batch and the last of the history, from D and how many values each has.

    By Kolmogorov's limit 2 sum (-1)^(k-1) exp(-2 k^2 z^2), z = D sqrt(nm / (n + m)). Of the history only the last batch
    counts: no test tells what difference is usual.
    """

    name = "KS"
    groups = frozenset({NUMERIC})
    usual = 1.3  # p = 0.05
    every = 1

    def scores(self, history: Floats, tests: Floats, names: Sequence[str]) -> Floats:
        now, before = values(names, tests), values(names, history[-1])
        size, last = counted(now), counted(before)
        z = np.nan_to_num(now["ks_dist"]) * np.sqrt(size * last / np.maximum(size + last, 1.0))
        return tens(log_significance(z))


def log_significance(z: Floats) -> Floats:
    """The logarithm of the probability that Kolmogorov's statistic is at least z.

    >>> np.exp(log_significance(np.array([0.0, 1.0, 2.0]))).round(4)
    array([1.0e+00, 2.7e-01, 7.0e-04])
    """
    k = np.arange(2, 20)[:, None]
    large = np.maximum(z, 1.0)
    # the first term apart, so that none underflows: all others are small beside it
    rest = (np.where(k % 2, 1.0, -1.0) * np.exp(-2.0 * (k**2 - 1) * large**2)).sum(axis=0)
    tail = math.log(2.0) - 2.0 * large**2 + np.log1p(rest)
    odd = np.arange(1, 20, 2)[:, None]
    small = np.clip(z, 0.04, 1.0)
    body = 1.0 - math.sqrt(2 * math.pi) / small * np.exp(-((odd * math.pi / small) ** 2) / 8).sum(axis=0)
    return np.where(z >= 1.0, tail, np.where(z < 0.04, 0.0, np.log(body)))
