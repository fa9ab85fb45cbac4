"""Whether a series keeps its level, and which differencing makes it do so."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

import msgspec
import numpy as np
import numpy.typing as npt

from headgate.stats.tails import erfc

Floats: TypeAlias = npt.NDArray[np.float64]
Integers: TypeAlias = npt.NDArray[np.int64]
Mask: TypeAlias = npt.NDArray[np.bool_]

SHORTEST = 4  # values; with fewer the regression has no degree of freedom left

# MacKinnon (1994, Journal of Business & Economic Statistics 12:2), for one series and a regression with a constant:
# p = Phi(polynomial in the statistic).
_NEAR_TAIL = (2.1659, 1.4412, 0.038269)  # up to _STAR
_BODY = (1.7339, 0.93202, -0.12745, -0.010368)  # above it
_STAR, _LEAST, _GREATEST = -1.61, -18.83, 2.74

_ROUNDING = 1e-12  # what is left of a column after the others, relative to it, when it is a combination of them
_BLOCK = 2_048  # series worked on at once: the design of a block stays in the processor's cache


class DickeyFuller(NamedTuple):
    """For each series the p-value of a unit root, the statistic, and how many lagged differences were used."""

    pvalue: Floats
    statistic: Floats
    lags: Integers


def adf(series: Floats) -> DickeyFuller:
    """The augmented Dickey-Fuller test (Said and Dickey 1984) of each row, all rows at once.

    d(t) = c + g x(t-1) + a1 d(t-1) + ... + ap d(t-p), d(t) = x(t) - x(t-1); the statistic is g over its standard error.
    p is the number of lags with the least AIC among 0 .. ceil(12 (K/100)^(1/4)) (Schwert 1989), at most K//2 - 2, all
    on the same rows; the p-value is MacKinnon's (1994). A low p-value speaks for a stationary series.

    NaN, with lags = -1, where there is no test: a constant series, a value that is not finite, fewer than 4 values.
    NaN too where g is not determined: the level is a combination of the other columns, or everything fits exactly with
    g = 0, as in a straight line.

    >>> noise = np.random.default_rng(0).normal(size=50)
    >>> test = adf(np.array([noise, np.cumsum(noise), np.ones(50)]))
    >>> test.pvalue.round(3), test.lags
    (array([0.023, 0.884,   nan]), array([ 1,  2, -1]))
    """
    values = np.atleast_2d(np.asarray(series, np.float64))
    count, length = values.shape
    statistic, lags = np.full(count, np.nan), np.full(count, -1, np.int64)
    usable = np.flatnonzero(np.isfinite(values).all(axis=1) & ~constant(values)) if length >= SHORTEST else ()
    for start in range(0, len(usable), _BLOCK):
        block = usable[start : start + _BLOCK]
        scaled = _normalize_rows(values[block])
        chosen = _lags_by_aic(scaled)
        lags[block] = chosen
        for lag in np.unique(chosen):
            statistic[block[chosen == lag]] = _statistic(scaled[chosen == lag], int(lag))
    return DickeyFuller(_mackinnon(statistic), statistic, lags)


def stationary(series: Floats, level: float = 0.05) -> Mask:
    """Which rows are stationary: the test refuses a unit root at the level, or the row is constant.

    >>> stationary(np.array([[7.0, 7.0, 7.0, 7.0, 7.0, 7.0], [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]]))
    array([ True, False])
    """
    values = np.atleast_2d(np.asarray(series, np.float64))
    return (adf(values).pvalue < level) | constant(values)


def constant(series: Floats, rounding: Floats | float = 0.0) -> Mask:
    """Which rows hold one value only, give or take the rounding."""
    if not series.shape[-1]:
        return np.ones(series.shape[:-1], np.bool_)
    with np.errstate(invalid="ignore", over="ignore"):
        return np.asarray(series.max(axis=-1) - series.min(axis=-1) <= rounding)


def lag_difference(series: Floats, lag: int) -> Floats:
    """x(t) - x(t - lag) along the last axis; lag 0 is the series itself.

    >>> lag_difference(np.array([1.0, 2.0, 4.0, 8.0]), 2)
    array([3., 6.])
    """
    if lag < 0:
        raise ValueError(f"a lag is not below 0, as {lag} is")
    return series[..., lag:] - series[..., : series.shape[-1] - lag] if lag else series


def log_lag_difference(series: Floats, lag: int) -> Floats:
    """log x(t) - log x(t - lag) along the last axis; all NaN for a series with a value that is not above 0.

    >>> log_lag_difference(np.array([[1.0, 2.0, 4.0], [0.0, 2.0, 4.0]]), 1).round(3)
    array([[0.693, 0.693], [ nan, nan]])
    """
    positive = (series > 0).all(axis=-1, keepdims=True)
    return lag_difference(np.log(np.where(positive, series, np.nan)), lag)


class Transform(msgspec.Struct, frozen=True):
    """A differencing: by how many steps, and of the values or of their logarithms (AVH Appendix E).

    >>> Transform(lag=7).apply(np.arange(10.0))
    array([7., 7., 7.])
    >>> str(Transform()), str(Transform(lag=7)), str(Transform(lag=1, log=True))
    ('', 'lag 7', 'log lag 1')
    """

    lag: int = 0
    log: bool = False

    def apply(self, values: Floats) -> Floats:
        """The transformed series, shorter by the lag."""
        return log_lag_difference(values, self.lag) if self.log else lag_difference(values, self.lag)

    def invert_range(self, ends: tuple[float, float], past: Sequence[float] | Floats) -> tuple[float, float]:
        """The range of the next value itself, from the range of the next transformed value and the values so far.

        NaN where the logarithm was taken and the value `lag` steps before the next has none.

        >>> Transform(lag=2).invert_range((-1.0, 1.0), past=[10.0, 20.0, 30.0])
        (19.0, 21.0)
        >>> Transform(lag=1, log=True).invert_range((0.0, math.log(2)), past=[10.0, 20.0])
        (20.0, 40.0)
        """
        if len(past) < self.lag:
            raise ValueError(f"a lag of {self.lag} needs as many past values; there are {len(past)}")
        base = float(past[-self.lag]) if self.lag else float(self.log)
        if not self.log:
            return ends[0] + base, ends[1] + base
        if not base > 0:
            return math.nan, math.nan
        with np.errstate(over="ignore"):
            low, high = base * np.exp(np.asarray(ends, np.float64))
        return float(low), float(high)

    def __str__(self) -> str:
        words = ["log"] * self.log + [f"lag {self.lag}"] * bool(self.lag)
        return " ".join(words)


def make_stationary(series: Floats, level: float = 0.05) -> list[Transform | None]:
    """For each row the first differencing that makes it stationary, or None (AVH Algorithm 5).

    First the row as it is, then lags 1, 2, ... of its values, then of its logarithms, while the test has values enough.
    A difference that varies no more than its terms are rounded is constant.

    >>> line = np.arange(28.0)
    >>> [str(transform) for transform in make_stationary(np.array([line, 2.0**line, line**0]))]
    ['lag 1', 'log lag 1', '']
    """
    values = np.atleast_2d(np.asarray(series, np.float64))
    found: list[Transform | None] = [None] * len(values)
    open_rows = np.flatnonzero(np.isfinite(values).all(axis=1))
    lags = range(1, values.shape[1] - SHORTEST + 1)
    for transform in (Transform(), *(Transform(lag, log) for log in (False, True) for lag in lags)):
        if not len(open_rows):
            break
        settled = _becomes_stationary(transform, values[open_rows], level)
        for row in open_rows[settled]:
            found[row] = transform
        open_rows = open_rows[~settled]
    return found


def _becomes_stationary(transform: Transform, values: Floats, level: float) -> Mask:
    transformed = transform.apply(values)
    if not transform.lag:
        return stationary(transformed, level)
    terms = Transform(log=transform.log).apply(values)
    rounding = 4 * np.finfo(np.float64).eps * np.abs(terms).max(axis=1, initial=0.0)
    return stationary(transformed, level) | constant(transformed, rounding)


def _normalize_rows(values: Floats) -> Floats:
    """Rows about their middle and of height 1: the statistic does not see it, the arithmetic does."""
    with np.errstate(over="ignore"):
        values = values * (1 / np.maximum(np.abs(values).max(axis=1, keepdims=True), 1e-300))
    values = values - values.mean(axis=1, keepdims=True)
    return np.asarray(values / np.abs(values).max(axis=1, keepdims=True), np.float64)


def _columns(values: Floats, lags: int) -> tuple[Floats, Floats, Floats]:
    """The differences to explain, the level before each, and the differences 1 .. lags before (first axis: which)."""
    differences = np.diff(values, axis=1)
    rows = differences.shape[1] - lags
    before = [differences[:, lags - back : lags - back + rows] for back in range(1, lags + 1)]
    return differences[:, lags:], values[:, lags:-1], np.array(before).reshape(lags, len(values), rows)


def _lags_by_aic(values: Floats) -> Integers:
    """How many lagged differences have the least Akaike criterion, the fewer where it is the same."""
    length = values.shape[1]
    most = min(length // 2 - 2, math.ceil(12 * (length / 100) ** 0.25))
    explained, level, before = _columns(values, most)
    rest = _Residuals.of(np.concatenate([explained[None], level[None], before]))
    criteria = []
    for _ in range(most + 1):
        rest = rest.without_next()
        with np.errstate(divide="ignore"):
            criteria.append(explained.shape[1] * np.log(rest.residual_sum_of_squares()) + 2 * rest.rank)
    return np.asarray(np.argmin(criteria, axis=0), np.int64)


def _statistic(values: Floats, lags: int) -> Floats:
    """g over its standard error, with the level as the last column to be taken out (Frisch and Waugh 1933)."""
    explained, level, before = _columns(values, lags)
    rest = _Residuals.of(np.concatenate([explained[None], before, level[None]]))
    for _ in range(lags):
        rest = rest.without_next()
    last = rest.without_next()
    along = rest.share_of_next()
    along = np.where(np.abs(along) <= _ROUNDING * rest.sizes[0], 0.0, along)
    freedom = explained.shape[1] - last.rank
    with np.errstate(divide="ignore", invalid="ignore"):
        statistic = along / np.sqrt(last.residual_sum_of_squares() / freedom)
    return np.where(last.rank > rest.rank, statistic, np.nan)


class _Residuals(NamedTuple):
    """What is left of each column after those before it (modified Gram-Schmidt); column 0 is what is to be explained.

    Björck (1967): so done, the residuals are as accurate as with Householder's reflections.
    """

    columns: Floats  # which column, series, row
    sizes: Floats  # of the columns at first
    rank: Integers

    @classmethod
    def of(cls, columns: Floats) -> _Residuals:
        sizes = np.sqrt(np.einsum("csr,csr->cs", columns, columns))
        middle = columns.mean(axis=2, keepdims=True)
        return cls(columns - middle, sizes, np.ones(columns.shape[1], np.int64))

    def next_direction(self) -> tuple[Floats, Mask]:
        column = self.columns[1]
        size = np.sqrt(np.einsum("sr,sr->s", column, column))
        new = size > _ROUNDING * self.sizes[1]
        return column * np.where(new, 1 / np.where(new, size, 1.0), 0.0)[:, None], new

    def share_of_next(self) -> Floats:
        return np.asarray(np.einsum("sr,sr->s", self.columns[0], self.next_direction()[0]))

    def without_next(self) -> _Residuals:
        direction, new = self.next_direction()
        left = np.delete(self.columns, 1, axis=0)
        left -= np.einsum("csr,sr->cs", left, direction)[..., None] * direction
        return _Residuals(left, np.delete(self.sizes, 1, axis=0), self.rank + new)

    def residual_sum_of_squares(self) -> Floats:
        """The sum of squares of what is not explained; 0 where it is rounding only."""
        squares = np.einsum("sr,sr->s", self.columns[0], self.columns[0])
        return np.where(squares <= (_ROUNDING * self.sizes[0]) ** 2, 0.0, squares)


def _mackinnon(statistic: Floats) -> Floats:
    inside = np.clip(statistic, _LEAST, _GREATEST)
    near, body = (np.polynomial.polynomial.polyval(inside, weights) for weights in (_NEAR_TAIL, _BODY))
    share = erfc(np.where(inside <= _STAR, near, body) / -math.sqrt(2)) / 2
    return np.where(statistic > _GREATEST, 1.0, np.where(statistic < _LEAST, 0.0, share))
