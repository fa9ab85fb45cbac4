"""Whether a series has a season, and which."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from headgate.learn.anomaly.extra import import_extra
from headgate.learn.anomaly.regression import regress
from headgate.learn.anomaly.series import Floats

# Quarters and working days; days of a week; months; hours of a day; days of a month; weeks of a year; hours of a week.
CANDIDATES = (4, 5, 7, 12, 24, 30, 52, 168)
SIGNIFICANCE = 0.02


class GroupTest(NamedTuple):
    """The BIC of group means, and the probability of such differences between them where there are none."""

    bic: float
    chance: float


def find_period(
    values: Floats, candidates: Sequence[int] = CANDIDATES, significance: float = SIGNIFICANCE
) -> int | None:
    """The period of the series, or None if no candidate passes the test.

    Values are grouped by their place in the period, and an F-test asks whether the groups' means differ. Of the
    candidates of at most a third of the series, the one with the least BIC on first differences is tested, at
    `significance` over the number of candidates. It must pass on the first differences, whose test holds where the
    level wanders, and also on the values around their line or their moving average, whose test holds where it does not.
    A missing value is left out of its group; places are counted by position, so the season stays in phase.

    >>> find_period(np.tile([5.0, 5, 5, 5, 5, 1, 1], 6)), find_period(np.arange(40.0) ** 0.5)
    (7, None)
    """
    there = values[~np.isnan(values)]
    largest = float(np.abs(there).max(initial=0.0))
    fitting = [period for period in candidates if 3 * period <= len(there)]
    if not fitting or largest == 0.0:
        return None
    values = values / largest
    changes = np.append(np.nan, np.diff(values))
    tests = {period: _test_groups(changes, period) for period in fitting}
    best = min(fitting, key=lambda period: tests[period].bic)
    limit = significance / len(fitting)
    return best if tests[best].chance < limit and _chance_in_levels(values, best) < limit else None


def _chance_in_levels(values: Floats, period: int) -> float:
    around_line = values - regress(values, 1, trend=True).fitted
    around_average = values - _moving_average(values, period)
    averages = np.count_nonzero(~np.isnan(around_average)) / period
    return min(
        _test_groups(around_line, period, fitted=1).chance, _test_groups(around_average, period, fitted=averages).chance
    )


def _moving_average(values: Floats, period: int) -> Floats:
    """The mean of a whole period around each value; NaN at the ends, where there is none.

    >>> _moving_average(np.array([1.0, 2.0, 6.0, 4.0]), 3)
    array([nan,  3.,  4., nan])
    """
    half = period // 2
    window = np.ones(2 * half + 1)
    if period % 2 == 0:
        window[[0, -1]] = 0.5
    there = ~np.isnan(values)
    sums = np.convolve(np.where(there, values, 0.0), window, "valid")
    counts = np.convolve(there.astype(np.float64), window, "valid")
    inside = np.divide(sums, counts, out=np.full(len(sums), np.nan), where=counts > 0)
    return np.pad(inside, half, constant_values=np.nan)


def _test_groups(values: Floats, period: int, fitted: float = 0) -> GroupTest:
    """The F-test of equal means by place in the period, after `fitted` numbers were estimated from the values."""
    there = np.flatnonzero(~np.isnan(values))
    values = values[there]
    _, group, sizes = np.unique(there % period, return_inverse=True, return_counts=True)
    freedom = len(values) - len(sizes) - fitted
    if freedom < 1 or len(sizes) < 2:
        return GroupTest(math.inf, 1.0)
    means = np.bincount(group, weights=values) / sizes
    whole = float(((values - values.mean()) ** 2).sum())
    # Below this, what is left is rounding: candidates that explain all of it are told apart by their length alone.
    left = max(float(((values - means[group]) ** 2).sum()), len(values) * 1e-28)
    bic = len(values) * math.log(left / len(values)) + len(sizes) * math.log(len(values))
    ratio = max(whole - left, 0.0) / (len(sizes) - 1) / (left / freedom)
    return GroupTest(bic, float(import_extra("scipy.special").fdtrc(len(sizes) - 1, freedom, ratio)))
