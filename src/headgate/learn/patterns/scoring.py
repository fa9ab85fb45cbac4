"""What the index says of a pattern: how often a rule made of it would be wrong, and what it would let through."""

from __future__ import annotations

from typing import Any, Protocol

import msgspec
import numpy as np
import numpy.typing as npt

from headgate.learn.patterns.entries import FAILED, STRAYED, Rows, mean_impurity
from headgate.stats.hypothesis import least_rejected

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

_PRIOR, _PRIOR_RATE = 2.0, 0.5  # columns that speak before any is seen, and how many of them are against
_LEAST_SHARE = 0.001  # outside of a column: with less, a value or two is wrong
_ALIKE = 0.01  # scores within so much of the best
_FUTURE = 9  # the next values are so many times those in hand, as in the experiment of the paper


def critical_share(seen: int, significance: float) -> float:
    """The share outside of a later batch from which a rule that all of `seen` values followed alarms.

    >>> round(critical_share(10, 0.01), 3), round(critical_share(1_000, 0.01), 4)
    (0.433, 0.0056)
    """
    future = max(1, _FUTURE * seen)
    return least_rejected(0, seen, future, significance) / future


class EntryCosts(msgspec.Struct, frozen=True):
    """For each entry the cost of relying on it, what it lets through, and whether it may be chosen.

    `miss` is a share of the lake's columns by the backtest. The paper's measures do not ask for it: theirs is a number
    by which patterns are told apart that cost the same, and no rule states it.
    """

    cost: Floats
    miss: Floats
    allowed: npt.NDArray[np.bool_]

    def take_part(self, own: slice) -> EntryCosts:
        return EntryCosts(self.cost[own], self.miss[own], self.allowed[own])


class Scorer(Protocol):
    """How entries become costs, and two costs a choice. `limit` is the largest cost of a whole rule."""

    @property
    def limit(self) -> float: ...

    def __call__(self, rows: Rows) -> EntryCosts: ...

    def score(self, cost: Any, miss: Any) -> Any:
        """What is made as small as possible."""

    def rank_entries(self, costs: EntryCosts) -> Ints:
        """The entries that are allowed, the best first."""


def _rank_by_score(scorer: Scorer, costs: EntryCosts) -> Ints:
    allowed = np.flatnonzero(costs.allowed)
    return allowed[np.argsort(scorer.score(costs.cost[allowed], costs.miss[allowed]), kind="stable")]


class ByImpurity(msgspec.Struct, frozen=True):
    """FPR_T and Cov_T of the paper (Equations 4 to 7): the mean impurity of at least m columns, which is at most r."""

    limit: float
    coverage: int

    def __call__(self, rows: Rows) -> EntryCosts:
        rate, columns = mean_impurity(rows), rows["columns"].astype(np.float64)
        # of equal rates the one that more columns speak for
        return EntryCosts(rate, 1.0 / (columns + 1.0), (rate <= self.limit) & (columns >= self.coverage))

    def score(self, cost: Any, miss: Any) -> Any:
        return np.round(cost, 9) + 1e-12 * miss

    def rank_entries(self, costs: EntryCosts) -> Ints:
        return _rank_by_score(self, costs)


class ByCoverage(msgspec.Struct, frozen=True):
    """The dual of FMDV: of the patterns whose columns have it nearly everywhere, the one that the fewest columns have.

    `limit` bounds the mean impurity, which is what a tag would miss of a column that carries it.
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
    """How often a rule learned from the first values of a column of the lake was broken by its later values.

    For each pattern the index holds in how many columns all of the first values had it, and in how many of these
    later values strayed by more than 0, 5% and 40%. Between these shares the count is interpolated, at the share from
    which the test on the next batch would alarm. `miss` is the share of all columns of the lake of which most values
    have the pattern: what would pass in this column's stead.
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
        if self.critical >= FAILED:
            return failed
        low, high, least, most = (_LEAST_SHARE, STRAYED, strayed, slipped)
        if self.critical >= STRAYED:
            low, high, least, most = (STRAYED, FAILED, failed, strayed)
        part = np.log(max(self.critical, low) / low) / np.log(high / low)
        return np.asarray(most + part * (least - most))

    def score(self, cost: Any, miss: Any) -> Any:
        return -(1.0 - cost) * (1.0 - miss)

    def rank_entries(self, costs: EntryCosts) -> Ints:
        """Of scores that the evidence cannot tell apart the pattern that says most comes first."""
        allowed = np.flatnonzero(costs.allowed)
        scores = self.score(costs.cost, costs.miss)[allowed]
        alike = scores <= scores.min(initial=np.inf) + _ALIKE
        return allowed[np.lexsort((np.where(alike, costs.miss[allowed], scores), ~alike))]
