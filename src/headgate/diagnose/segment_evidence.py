"""How well it explains a batch that a fault has changed the rows of some values of a column, and no others."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

Floats: TypeAlias = npt.NDArray[np.float64]
Rows: TypeAlias = Sequence[int]
Sets: TypeAlias = npt.NDArray[np.intp]
"""A set of places of values in each row, filled up with -1."""

_SMALL = 10  # rows of a value that tells something of how values differ
_ODD = 1e-3  # how often a value of a column is unlike all others by nature
_ODDLY_AFFECTED = 1e-4  # the same for a value all of whose rows are like those of the fault
_NEARLY_ALL = 0.97
_PRECISION_OF_HISTORY = 1_000.0  # of the shares of a value whose history is kept
_LEAST_WEIGHT = 1e-9  # of a group of bins, also for values without any rows
_GROUPS = 5  # of bins, by which values are compared with the whole
_RESTORED = 3.0  # standard deviations within which a batch is as expected
_SPREADS = np.linspace(0.0, 1.0, 21)


class SegmentEvidence(Protocol):
    """The evidence for the values of one table. `rows` are places of values.

    A score compares "these values are affected, no others" with "the fault is spread over all rows, or there is none",
    as a difference of log-likelihoods.
    """

    def score_sets(self, sets: Sets) -> Floats:
        """The score of each set of values."""

    def measure_explained(self, rows: Rows) -> float:
        """The part of the change in the whole batch that these values explain."""

    def explains(self, rows: Rows, least: float) -> bool:
        """Whether they explain at least this part, and the whole batch without it is as expected."""

    def is_complete(self, rows: Rows) -> bool:
        """Whether nothing is left that other values could explain."""

    def measure_rates(self, rows: Rows) -> tuple[float, float]:
        """The shares of affected rows among these values and among the others."""


class AffectedBins:
    """Evidence from bins that only affected rows have, beside the share of such rows in a good batch.

    By nature a value can have all of these good rows, so at most as many of its rows are no evidence. `rows` and
    `affected` are counts by value, `base` is the share of affected rows in a good batch, `own` that of single values.
    """

    def __init__(
        self, rows: Floats, affected: Floats, base: float, own: Sequence[float | None], weight: float, least_rate: float
    ) -> None:
        self._rows, self._affected = rows, affected
        self._total = max(float(rows.sum()), 1.0)
        self._base, self._least_rate = base, least_rate
        self._effective = 1.0 / (1.0 / self._total + 1.0 / weight)
        self._smooth = 0.5 / (weight + 1.0)
        self._excess = float(affected.sum()) - base * self._total
        self._inner, self._outer = self._compare_each(own)

    def _compare_each(self, own: Sequence[float | None]) -> tuple[Floats, Floats]:
        """The log-likelihoods that all rows of a value are affected, and none, less that of a fault in any rows."""
        count = np.maximum(self._rows, 1e-9)
        rate = self._affected / count
        spread = float(np.clip(self._excess / max(self._total * (1.0 - self._base), 1.0), self._smooth, 1.0))
        known = np.array([np.nan if each is None else each for each in own])
        most = np.where(np.isnan(known), np.minimum(1.0, self._base * self._total / count), known + 3 * self._smooth)
        good = np.where(np.isnan(known), self._base, known)
        even = good + (1.0 - good) * spread
        odd = np.clip(rate, spread, np.maximum(most + (1.0 - most) * spread, spread))
        by_nature = np.maximum(
            _log_binomial(self._affected, count, even),
            _log_binomial(self._affected, count, odd) + np.log(_ODDLY_AFFECTED) * (odd > even),
        )
        inside = np.clip((self._affected + 0.5) / (count + 0.5), self._least_rate, 1.0 - 1e-3)
        odd = np.clip(rate, np.maximum(good, self._smooth), np.maximum(most, self._smooth))
        unaffected = np.maximum(
            _log_binomial(self._affected, count, np.maximum(good, self._smooth)),
            _log_binomial(self._affected, count, odd) + np.log(_ODDLY_AFFECTED) * (odd > good),
        )
        return _log_binomial(self._affected, count, inside) - by_nature, unaffected - by_nature

    def _deviance(self, removed: Floats | float) -> Floats:
        """How far the share of affected rows is from that of a good batch, once so many are good again."""
        left = np.clip((self._affected.sum() - removed) / self._total, 0.0, 1.0)
        base = (self._base + self._smooth) / (1.0 + 2.0 * self._smooth)
        terms = _x_log_ratio(left, base) + _x_log_ratio(1.0 - left, 1.0 - base)
        return np.asarray(2.0 * self._effective * terms, np.float64)

    def _excess_of(self, rows: Rows) -> float:
        at = list(rows)
        return float(self._affected[at].sum() - self._base * self._rows[at].sum())

    def score_sets(self, sets: Sets) -> Floats:
        removed = _sum_sets(self._affected - self._base * self._rows, sets)
        likelihood = _sum_sets(self._inner - self._outer, sets) + self._outer.sum()
        return np.asarray(likelihood - 0.5 * self._deviance(removed), np.float64)

    def measure_explained(self, rows: Rows) -> float:
        return self._excess_of(rows) / self._excess if self._excess > 0 else 0.0

    def explains(self, rows: Rows, least: float) -> bool:
        share = self.measure_explained(rows)
        near = float(self._deviance(self._excess_of(rows))) <= _RESTORED**2
        return least <= share and (share <= 2.0 - least or near) and self.measure_rates(rows)[0] >= self._least_rate

    def is_complete(self, rows: Rows) -> bool:
        return self.measure_explained(rows) > _NEARLY_ALL

    def measure_rates(self, rows: Rows) -> tuple[float, float]:
        at = list(rows)
        inside, count = float(self._affected[at].sum()), float(self._rows[at].sum())
        others = self._total - count
        return inside / max(count, 1.0), (float(self._affected.sum()) - inside) / max(others, 1.0)


class UndoneBins:
    """Evidence from distributions: of the batch with the rows of the values restored, and of these rows themselves.

    `kept` and `undone` are counts of values x bins as they are, and with the fault undone. `changed` are the shares of
    the bins if the fault were in all rows. A value has about the shares of the whole batch, either good or changed;
    how much values differ by nature is estimated from the median value (a Dirichlet-multinomial distribution).
    """

    def __init__(
        self,
        kept: Floats,
        undone: Floats,
        expected: Floats,
        changed: Floats,
        own: Sequence[tuple[Floats, Floats] | None],
        weight: float,
    ) -> None:
        self._kept = kept
        self._total = max(float(kept.sum()), 1.0)
        self._effective = 1.0 / (1.0 / self._total + 1.0 / weight)
        self._weight = weight
        self._expected = self._smooth(expected)
        self._free = max(int((expected > 0).sum()) - 1, 1)
        self._change = undone - kept
        self._before = float(self._deviance(kept.sum(0), self._expected))
        self._groups = _group_bins(self._expected)
        self._learn_shares(self._smooth(changed), own)

    def _smooth(self, shares: Floats) -> Floats:
        smoothed = shares * self._weight + 0.5
        return np.asarray(smoothed / smoothed.sum(-1, keepdims=True), np.float64)

    def _deviance(self, counts: Floats, shares: Floats) -> Floats:
        terms = _x_log_ratio(counts / self._total, shares)
        return np.asarray(2.0 * self._effective * terms.sum(-1), np.float64)

    def _learn_shares(self, changed: Floats, own: Sequence[tuple[Floats, Floats] | None]) -> None:
        """The shares of good and of changed rows of each value, and of a fault that is spread over all rows."""
        groups, whole = self._groups, self._kept.sum(0)
        counts = self._kept @ groups
        mixed = [(1.0 - spread) * self._expected + spread * changed for spread in _SPREADS]
        deviances = [float(self._deviance(whole, shares)) for shares in mixed]
        best = int(np.argmin(deviances))
        chosen = dict.fromkeys((0, best, len(mixed) - 1))
        self._nulls = [(float(_SPREADS[at]), mixed[at] @ groups, deviances[at]) for at in chosen]
        good, bad = self._expected @ groups, changed @ groups
        self._precision = max(_estimate_precision(counts, good), _estimate_precision(counts, mixed[best] @ groups))
        self._goods, self._bads = np.tile(good, (len(counts), 1)), np.tile(bad, (len(counts), 1))
        self._good = good
        self._precisions = np.full(len(counts), self._precision)
        for at, known in enumerate(own):
            if known is not None:
                self._goods[at], self._bads[at] = (self._smooth(shares) @ groups for shares in known)
                self._precisions[at] = max(self._precision, _PRECISION_OF_HISTORY)

    def score_sets(self, sets: Sets) -> Floats:
        sizes = self._kept.sum(1)
        rows = np.maximum(_sum_sets(sizes, sets), 1e-9)
        shares = [_sum_sets(each * sizes[:, None], sets) / rows[:, None] for each in (self._goods, self._bads)]
        part = np.minimum(rows / self._total, 1.0 - 1e-6)[:, None]
        others = np.maximum((self._good - part * shares[0]) / (1.0 - part), 1e-6)
        inside = _sum_sets(self._kept @ self._groups, sets)
        outside = np.maximum(self._kept.sum(0) @ self._groups - inside, 0.0)
        of_rows = _FitOfCounts(inside, _sum_sets(self._precisions * sizes, sets) / rows)
        of_others = _FitOfCounts(outside, np.full(len(sets), self._precision))
        changed = self._nulls[-1][1]
        spread = [
            of_rows.measure(shares[0] + each * (shares[1] - shares[0]))
            + of_others.measure(others + each * (changed - others))
            - 0.5 * far
            for each, _, far in self._nulls
        ]
        left = 0.5 * self._deviance(self._kept.sum(0) + _sum_sets(self._change, sets), self._expected)
        affected = of_rows.measure(shares[1]) + of_others.measure(others)
        return np.asarray(affected - left - np.max(spread, axis=0), np.float64)

    def _after(self, rows: Rows) -> float:
        return float(self._deviance(self._kept.sum(0) + self._change[list(rows)].sum(0), self._expected))

    def measure_explained(self, rows: Rows) -> float:
        before, after = max(self._before - self._free, 1.0), max(self._after(rows) - self._free, 0.0)
        return 1.0 - float(np.sqrt(after / before))

    def explains(self, rows: Rows, least: float) -> bool:
        after = self._after(rows)
        if after > self._before + _RESTORED:
            return False
        return self.is_complete(rows) or self.measure_explained(rows) >= least

    def is_complete(self, rows: Rows) -> bool:
        return self._after(rows) <= self._free + _RESTORED * math.sqrt(2.0 * self._free)

    def measure_rates(self, rows: Rows) -> tuple[float, float]:
        del rows
        return 1.0, 0.0


def _group_bins(shares: Floats) -> Floats:
    """A matrix that adds neighbouring bins up to a few groups of about equal shares.

    Values differ by nature in where their numbers lie, which moves many bins together: few groups do not count that
    as many independent differences.
    """
    middle = np.cumsum(shares) - shares / 2.0
    return np.asarray(np.eye(_GROUPS)[np.minimum((middle * _GROUPS).astype(int), _GROUPS - 1)], np.float64)


def _estimate_precision(counts: Floats, shares: Floats) -> float:
    """The precision at which the median value differs from the whole as much as it does."""
    rows = counts.sum(1)
    large = rows >= _SMALL
    if not large.any():
        return 10.0
    wanted = rows[large, None] * shares
    chi = ((counts[large] - wanted) ** 2 / np.maximum(wanted, 0.5)).sum(1)
    excess = (chi / (len(shares) - 1.0) - 1.0) / (rows[large] - 1.0)
    middle = float(np.sort(excess)[(len(excess) - 1) // 2])
    return 1.0 / min(max(middle, 1e-4), 0.5)


class _FitOfCounts:
    """The log-likelihoods of rows of counts, for shares near those given, or for any shares at all."""

    def __init__(self, counts: Floats, precision: Floats) -> None:
        self._counts, self._rows = counts, counts.sum(1)
        self._parts = ((precision, np.log(0.9)), (np.maximum(precision / 8.0, 1.0), np.log(0.1)))
        self._any = self._fit(np.full(counts.shape[1], 1.0 / counts.shape[1]), np.array([1.0 * counts.shape[1]]))
        self._any += np.log(_ODD)

    def measure(self, shares: Floats) -> Floats:
        near, wide = (self._fit(shares, precision) + weight for precision, weight in self._parts)
        return np.asarray(np.logaddexp(np.logaddexp(near, wide), self._any), np.float64)

    def _fit(self, shares: Floats, precision: Floats) -> Floats:
        """The log of the Dirichlet-multinomial probability, without what depends on the counts alone."""
        weights = np.maximum(shares * precision[:, None], _LEAST_WEIGHT)
        whole = log_gamma(weights.sum(-1)) - log_gamma(self._rows + weights.sum(-1))
        return np.asarray(whole + (log_gamma(self._counts + weights) - log_gamma(weights)).sum(-1), np.float64)


def _sum_sets(values: Floats, sets: Sets) -> Floats:
    """The sum of the values at the places of each set."""
    padded = np.concatenate([values, np.zeros((1, *values.shape[1:]))])
    return np.asarray(sum(padded[places] for places in sets.T), np.float64)


def log_gamma(values: Floats) -> Floats:
    """The log of the gamma function of positive numbers, by Stirling's series beyond eight.

    >>> log_gamma(np.array([0.5, 5.0])).round(9).tolist()
    [0.572364943, 3.17805383]
    """
    product = np.array(values, np.float64)
    for more in range(1, 8):
        product = product * (values + more)
    far = values + 8.0
    inverse = 1.0 / far
    square = inverse * inverse
    series = inverse * (1 / 12 - square * (1 / 360 - square * (1 / 1260 - square / 1680)))
    return np.asarray((far - 0.5) * np.log(far) - far + 0.5 * np.log(2 * np.pi) + series - np.log(product), np.float64)


def _log_binomial(hits: Floats, rows: Floats, rate: Floats | float) -> Floats:
    """The log-likelihood of so many hits, without the binomial coefficient."""
    within = np.clip(rate, 1e-9, 1.0 - 1e-9)
    return np.asarray(hits * np.log(within) + (rows - hits) * np.log1p(-within), np.float64)


def _x_log_ratio(values: Floats, others: Floats | float) -> Floats:
    """x log(x / y), which is 0 at 0."""
    return np.asarray(values * np.log(np.where(values > 0, values, 1.0) / others) * (values > 0), np.float64)
