"""Scores index entries: how often a rule with the pattern would raise a false positive, and what it would let pass."""

from __future__ import annotations

from typing import Any, Protocol

import msgspec
import numpy as np
import numpy.typing as npt

from headgate.learn.patterns.entries import FAILED_SHARE, STRAYED_SHARE, Rows, mean_impurity
from headgate.stats.hypothesis import least_rejected

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

_PRIOR, _PRIOR_RATE = 2.0, 0.5  # the prior's weight in columns, and the share of them that broke the rule
_MIN_SHARE = 0.001  # the share outside that `slipped` stands for: one value or two
_EQUAL_SCORE = 0.01  # scores this close to the best count as equal to it
_FUTURE = 9  # the next batch has this many times the values seen, as in the paper's experiment


def critical_share(seen: int, significance: float) -> float:
    """The share of a later batch that must be outside to break a rule which all `seen` training values followed.

    >>> round(critical_share(10, 0.01), 3), round(critical_share(1_000, 0.01), 4)
    (0.433, 0.0056)
    """
    future = max(1, _FUTURE * seen)
    return least_rejected(0, seen, future, significance) / future


class EntryCosts(msgspec.Struct, frozen=True):
    """For each entry its cost (the expected false positive rate), what it lets pass, and whether it may be chosen.

    With `ByBacktest`, `miss` is a share of the lake's columns. The other scorers use `miss` only to order patterns of
    equal cost, and no rule reports it.
    """

    cost: Floats
    miss: Floats
    allowed: npt.NDArray[np.bool_]

    def take_part(self, own: slice) -> EntryCosts:
        return EntryCosts(self.cost[own], self.miss[own], self.allowed[own])


class Scorer(Protocol):
    """Computes the costs of entries, and one score from cost and miss. `limit` is the largest cost of a whole rule."""

    @property
    def limit(self) -> float: ...

    def __call__(self, rows: Rows) -> EntryCosts: ...

    def score(self, cost: Any, miss: Any) -> Any:
        """The number to minimise."""

    def rank_entries(self, costs: EntryCosts) -> Ints:
        """The indices of the entries that are allowed, the best first."""


def _rank_by_score(scorer: Scorer, costs: EntryCosts) -> Ints:
    allowed = np.flatnonzero(costs.allowed)
    return allowed[np.argsort(scorer.score(costs.cost[allowed], costs.miss[allowed]), kind="stable")]


class ByImpurity(msgspec.Struct, frozen=True):
    """FPR_T and Cov_T of the paper (Equations 4 to 7): mean impurity at most r (`limit`), in at least m columns."""

    limit: float
    coverage: int

    def __call__(self, rows: Rows) -> EntryCosts:
        rate, columns = mean_impurity(rows), rows["columns"].astype(np.float64)
        # Of equal rates, the pattern of more columns is better.
        return EntryCosts(rate, 1.0 / (columns + 1.0), (rate <= self.limit) & (columns >= self.coverage))

    def score(self, cost: Any, miss: Any) -> Any:
        return np.round(cost, 9) + 1e-12 * miss

    def rank_entries(self, costs: EntryCosts) -> Ints:
        return _rank_by_score(self, costs)


class ByCoverage(msgspec.Struct, frozen=True):
    """The dual of FMDV: of the patterns with at most `limit` mean impurity, the one that the fewest columns have.

    The mean impurity is the share of a tagged column's values that do not follow the tag.
    """

    limit: float
    coverage: int

    def __call__(self, rows: Rows) -> EntryCosts:
        costs = ByImpurity(self.limit, self.coverage)(rows)
        return EntryCosts(costs.cost, rows["columns"].astype(np.float64), costs.allowed)

    def score(self, cost: Any, miss: Any) -> Any:
        return miss

    def rank_entries(self, costs: EntryCosts) -> Ints:
        return _rank_by_score(self, costs)


class ByBacktest(msgspec.Struct, frozen=True):
    """How often a rule learned from the first values of a lake's column was broken by its later values.

    For each pattern the index holds how many columns had it in all of their first values, and in how many of these
    more than 0, 5% and 40% of the later values lacked it. The count at `critical`, the share outside that breaks the
    rule, is interpolated between these shares, linearly in the logarithm of the share. `miss` is the share of the
    lake's `total` columns that have the pattern in most values: those would pass in place of this column.
    """

    limit: float
    coverage: int
    critical: float
    total: int

    def __call__(self, rows: Rows) -> EntryCosts:
        led = rows["led"].astype(np.float64)
        rate = (self._count_broken(rows) + _PRIOR * _PRIOR_RATE) / (led + _PRIOR)
        miss = rows["most"] / max(self.total, 1)
        return EntryCosts(rate, np.minimum(miss, 1.0), (rate <= self.limit) & (rows["columns"] >= self.coverage))

    def _count_broken(self, rows: Rows) -> Floats:
        slipped, strayed, failed = (rows[name].astype(np.float64) for name in ("slipped", "strayed", "failed"))
        if self.critical >= FAILED_SHARE:
            return failed
        low, high, at_low, at_high = _MIN_SHARE, STRAYED_SHARE, slipped, strayed
        if self.critical >= STRAYED_SHARE:
            low, high, at_low, at_high = STRAYED_SHARE, FAILED_SHARE, strayed, failed
        part = np.log(max(self.critical, low) / low) / np.log(high / low)
        return np.asarray(at_low + part * (at_high - at_low))

    def score(self, cost: Any, miss: Any) -> Any:
        return -(1.0 - cost) * (1.0 - miss)

    def rank_entries(self, costs: EntryCosts) -> Ints:
        """The allowed entries by score; among those that nearly equal the best, the most specific pattern first."""
        allowed = np.flatnonzero(costs.allowed)
        scores = self.score(costs.cost, costs.miss)[allowed]
        near_best = scores <= scores.min(initial=np.inf) + _EQUAL_SCORE
        return allowed[np.lexsort((np.where(near_best, costs.miss[allowed], scores), ~near_best))]
