"""Detects whether a series has a season, and its period."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from headgate.learn.anomaly.extra import import_statistics
from headgate.learn.anomaly.regression import regress
from headgate.learn.anomaly.series import Floats

# Quarters and working days; days of a week; months; hours of a day; days of a month; weeks of a year; hours of a week.
CANDIDATES = (4, 5, 7, 12, 24, 30, 52, 168)
SIGNIFICANCE = 0.02


class GroupTest(NamedTuple):
    """The BIC of a model with group means, and the p-value of the F-test that the means are equal (`chance`)."""

    bic: float
    chance: float


def find_period(
    values: Floats, candidates: Sequence[int] = CANDIDATES, significance: float = SIGNIFICANCE
) -> int | None:
    """The period of the series, or None if no candidate passes the test.

    Values are grouped by their position in the period, and an F-test compares the groups' means. Of the candidates of
    at most a third of the series, the one with the least BIC on first differences is tested, at `significance` divided
    by the number of candidates. It must pass on the first differences, whose test is valid if the level wanders, and
    also on the values around their line or their moving average, whose test is valid if it does not. A missing value
    is left out of its group and still counts as a position, so that the season stays in phase.

    >>> find_period(np.tile([5.0, 5, 5, 5, 5, 1, 1], 6)), find_period(np.arange(40.0) ** 0.5)
    (7, None)
    """
    present = values[~np.isnan(values)]
    largest = float(np.abs(present).max(initial=0.0))
    fitting = [period for period in candidates if 3 * period <= len(present)]
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
    """The mean of a whole period around each value; NaN at both ends, where the period is incomplete.

    >>> _moving_average(np.array([1.0, 2.0, 6.0, 4.0]), 3)
    array([nan,  3.,  4., nan])
    """
    half = period // 2
    window = np.ones(2 * half + 1)
    if period % 2 == 0:
        window[[0, -1]] = 0.5
    present = ~np.isnan(values)
    sums = np.convolve(np.where(present, values, 0.0), window, "valid")
    counts = np.convolve(present.astype(np.float64), window, "valid")
    inside = np.divide(sums, counts, out=np.full(len(sums), np.nan), where=counts > 0)
    return np.pad(inside, half, constant_values=np.nan)


def _test_groups(values: Floats, period: int, fitted: float = 0) -> GroupTest:
    """The F-test of equal means by position in the period, after `fitted` parameters were estimated from the values."""
    present = np.flatnonzero(~np.isnan(values))
    values = values[present]
    _, group, sizes = np.unique(present % period, return_inverse=True, return_counts=True)
    freedom = len(values) - len(sizes) - fitted
    if freedom < 1 or len(sizes) < 2:
        return GroupTest(math.inf, 1.0)
    means = np.bincount(group, weights=values) / sizes
    total = float(((values - values.mean()) ** 2).sum())
    # A smaller residual is rounding: candidates that explain everything then differ only by their period.
    residual = max(float(((values - means[group]) ** 2).sum()), len(values) * 1e-28)
    bic = len(values) * math.log(residual / len(values)) + len(sizes) * math.log(len(values))
    ratio = max(total - residual, 0.0) / (len(sizes) - 1) / (residual / freedom)
    return GroupTest(bic, float(import_statistics("scipy.special").fdtrc(len(sizes) - 1, freedom, ratio)))
