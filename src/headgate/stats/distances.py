"""How far two distributions lie apart: of numbers as weighted samples, of labels as counts side by side."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

Floats: TypeAlias = npt.NDArray[np.float64]
Numbers: TypeAlias = npt.NDArray[Any] | Sequence[float]

BINS = 10
SMOOTHING = 0.5


class EmpiricalDistribution(NamedTuple):
    """Different values in order, each with the share of the sample that is no larger.

    The first share may be zero: then the first value is a point below all others, without weight of its own.
    """

    values: Floats
    shares: Floats
    size: float

    @classmethod
    def of(cls, values: Numbers, weights: Numbers | None = None) -> EmpiricalDistribution:
        """Of values in any order, which stand for so many each.

        >>> EmpiricalDistribution.of([3.0, 1.0, 3.0, 7.0])
        EmpiricalDistribution(values=array([1., 3., 7.]), shares=array([0.25, 0.75, 1.  ]), size=4.0)
        """
        given = np.asarray(values, np.float64)
        heavy = np.ones(len(given)) if weights is None else np.asarray(weights, np.float64)
        order = np.argsort(given, kind="stable")
        ordered, up_to = given[order], np.cumsum(heavy[order])
        last = np.ones(len(ordered), np.bool_)
        np.not_equal(ordered[1:], ordered[:-1], out=last[:-1])
        size = float(up_to[-1]) if len(up_to) else 0.0
        return cls(ordered[last], up_to[last] / size if size else up_to[last], size)

    def share_up_to(self, points: Floats) -> Floats:
        """F at each point, the share of values no larger.

        >>> EmpiricalDistribution.of([1.0, 2.0, 3.0, 4.0]).share_up_to(np.array([0.0, 2.5, 9.0]))
        array([0. , 0.5, 1. ])
        """
        at = np.searchsorted(self.values, points, "right")
        return np.where(at > 0, self.shares[at - 1], 0.0)

    def bin_ends(self, bins: int = BINS) -> Floats:
        """Upper ends of bins that hold equal shares of this sample, from just below its least value to its largest.

        A value that is more frequent than a bin is wide ends one bin, so there may be fewer. What lies below or
        above all values of the sample has a bin of its own.

        >>> EmpiricalDistribution.of(np.arange(1.0, 101.0)).bin_ends(4).round(3)
        array([  1.,  25.,  50.,  75., 100.])
        >>> EmpiricalDistribution.of([7.0, 7.0]).bin_ends().tolist() == [math.nextafter(7.0, 0.0), 7.0]
        True
        """
        # a rounded share may fall short of the round number that it stands for by a few units in the last place
        at = np.searchsorted(self.shares, np.arange(1, bins) / bins - 1e-12)
        below = self.values[0] if not self.shares[0] else math.nextafter(self.values[0], -math.inf)
        ends: Floats = np.concatenate([[below], self.values[at], self.values[-1:]])
        return np.compress(np.append(True, ends[1:] != ends[:-1]), ends)

    def count_in_bins(self, ends: Floats) -> Floats:
        """How many values lie in each bin (..., end], and above the last.

        >>> EmpiricalDistribution.of([1.0, 2.0, 3.0, 4.0]).count_in_bins(np.array([0.0, 1.0, 3.0]))
        array([0., 1., 2., 1.])
        """
        return np.diff(self.share_up_to(ends), prepend=0.0, append=1.0) * self.size


class Spread(NamedTuple):
    """How many numbers there are, their mean and their sample variance."""

    size: float
    mean: float
    variance: float


class Gaps(NamedTuple):
    """F - G of two samples: every point at which one of them steps, and the difference from there to the next."""

    points: Floats
    heights: Floats

    @classmethod
    def between(cls, one: EmpiricalDistribution, two: EmpiricalDistribution) -> Gaps:
        """Of two samples.

        >>> Gaps.between(EmpiricalDistribution.of([0.0, 1.0]), EmpiricalDistribution.of([1.0, 2.0]))
        Gaps(points=array([0., 1., 2.]), heights=array([0.5, 0.5, 0. ]))
        """
        both = np.concatenate([one.values, two.values])
        order = np.argsort(both, kind="stable")  # which merges two runs that are sorted
        points = both[order]
        passed = np.cumsum(order < len(one.values))
        ranks = np.concatenate([[0.0], one.shares]), np.concatenate([[0.0], two.shares])
        heights = ranks[0][passed] - ranks[1][np.arange(1, len(both) + 1) - passed]
        last = np.ones(len(both), np.bool_)
        np.not_equal(points[1:], points[:-1], out=last[:-1])
        return cls(points[last], heights[last])


def earth_mover(gaps: Gaps) -> float:
    """The earth mover's distance, integral |F(x) - G(x)| dx (Rubner et al. 1998), in the unit of the values.

    Infinite where it is too large for a double.

    >>> earth_mover(Gaps.between(EmpiricalDistribution.of([0.0, 1.0]), EmpiricalDistribution.of([5.0, 6.0])))
    5.0
    """
    # halves first: the distance between two doubles may be too large for a double
    half = gaps.points / 2
    return float(np.abs(gaps.heights[:-1]) @ (half[1:] - half[:-1])) * 2


def kolmogorov_smirnov(gaps: Gaps) -> float:
    """The largest |F(x) - G(x)|, in [0, 1].

    >>> kolmogorov_smirnov(Gaps.between(EmpiricalDistribution.of([0.0, 1.0]), EmpiricalDistribution.of([1.0, 2.0])))
    0.5
    """
    return float(np.abs(gaps.heights).max(initial=0.0))


def kolmogorov_significance(distance: float, one: float, two: float) -> float:
    """The probability of a `kolmogorov_smirnov` distance as large between samples of one source, of these counts.

    Kolmogorov's limit (1933): 2 sum over k >= 1 of (-1)^(k-1) exp(-2 k^2 z^2) with z = D sqrt(nm / (n + m)). It is
    close for more than some 30 values each. The larger the samples, the smaller the distance that it calls significant,
    so it is no measure of how far apart two large batches are.

    >>> round(kolmogorov_significance(0.1, 500, 500), 4)
    0.0135
    >>> kolmogorov_significance(0.0, 500, 500)
    1.0
    """
    z = distance * math.sqrt(one * two / (one + two)) if one and two else 0.0
    if z < 1.0:  # the same function by its other series, which is quick where this one is slow
        if z < 0.04:
            return 1.0
        odd = np.arange(1, 20, 2)
        return 1.0 - math.sqrt(2 * math.pi) / z * float(np.exp(-((odd * math.pi / z) ** 2) / 8).sum())
    k = np.arange(1, 20)
    return 2.0 * float((np.exp(-2.0 * (k * z) ** 2) * np.where(k % 2, 1, -1)).sum())


def cohens_d(one: Spread, two: Spread) -> float:
    """|mean - mean'| / s with the pooled variance s^2 = ((n - 1) v + (n' - 1) v') / (n + n' - 2) (Cohen 1988).

    Equal means are 0 apart. Different ones without a deviation to measure by are infinitely far apart.

    >>> cohens_d(Spread(10, 5.0, 4.0), Spread(30, 8.0, 4.0))
    1.5
    >>> cohens_d(Spread(10, 5.0, 0.0), Spread(30, 8.0, 0.0))
    inf
    """
    apart = abs(one.mean - two.mean)
    if apart == 0.0:
        return 0.0
    freedom = one.size + two.size - 2
    pooled = ((one.size - 1) * one.variance + (two.size - 1) * two.variance) / freedom if freedom > 0 else 0.0
    return apart / math.sqrt(pooled) if pooled > 0 else math.inf


def l1(one: Numbers, two: Numbers) -> float:
    """sum |p - q| of the shares of two counts, in [0, 2].

    >>> l1([3, 1, 0], [2, 0, 2])
    1.0
    """
    return float(np.abs(_shares(one) - _shares(two)).sum())


def l_infinity(one: Numbers, two: Numbers) -> float:
    """max |p - q| of the shares of two counts, in [0, 1].

    >>> l_infinity([3, 1, 0], [2, 0, 2])
    0.5
    """
    return float(np.abs(_shares(one) - _shares(two)).max(initial=0.0))


def cosine(one: Numbers, two: Numbers) -> float:
    """1 - p.q / (|p| |q|), in [0, 1]; NaN where one has no counts.

    >>> cosine([3, 0], [0, 4]), cosine([3, 4], [6, 8])
    (1.0, 0.0)
    """
    p, q = np.asarray(one, np.float64), np.asarray(two, np.float64)
    norm = math.sqrt(float(p @ p)) * math.sqrt(float(q @ q))
    return min(1.0, max(0.0, 1.0 - float(p @ q) / norm)) if norm else math.nan


def chi_squared(one: Numbers, two: Numbers) -> float:
    """The symmetric chi-squared distance sum (p - q)^2 / (p + q) of the shares of two counts, in [0, 2].

    Of two samples of n each, n times this is the statistic of the chi-squared test of homogeneity. The test's p-value
    is no distance: it falls with n, and is 0 for any two large batches.

    >>> chi_squared([3, 1, 0], [2, 0, 2])
    0.8
    """
    p, q = _shares(one), _shares(two)
    both = p + q
    return float(((p - q) ** 2 / np.where(both > 0, both, 1.0)).sum())


def jensen_shannon(one: Numbers, two: Numbers) -> float:
    """The Jensen-Shannon divergence (Lin 1991) H((p + q) / 2) - (H(p) + H(q)) / 2 in bits, in [0, 1].

    >>> jensen_shannon([1, 0], [0, 1]), jensen_shannon([1, 1], [2, 2])
    (1.0, 0.0)
    """
    p, q = _shares(one), _shares(two)
    middle = (p + q) / 2
    return min(1.0, max(0.0, (_relative_entropy(p, middle) + _relative_entropy(q, middle)) / 2))


def kullback_leibler(now: Numbers, before: Numbers, smoothing: float = SMOOTHING) -> float:
    """The Kullback-Leibler divergence sum p log2(p / q) in bits, of `now` from `before`; not symmetric.

    Each count is first raised by `smoothing` (1/2: Krichevsky and Trofimov 1981), so that a label without a count in
    `before` does not make it infinite.

    >>> round(kullback_leibler([3, 1], [1, 3]), 4), kullback_leibler([5, 5, 0], [5, 5, 0])
    (0.489, 0.0)
    """
    p, q = (_shares(np.asarray(each, np.float64) + smoothing) for each in (now, before))
    return max(0.0, _relative_entropy(p, q))


def _shares(counts: Numbers) -> Floats:
    given = np.asarray(counts, np.float64)
    total = given.sum()
    return given / total if total else given


def _relative_entropy(p: Floats, q: Floats) -> float:
    """sum p log2(p / q), where p is positive."""
    there = p > 0
    return float(p @ np.log2(np.where(there, p, 1.0) / np.where(there, q, 1.0)))
