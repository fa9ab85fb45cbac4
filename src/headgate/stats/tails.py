"""How seldom a value lies far from the mean: bounds and tails, each named after its author."""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
from numpy.typing import ArrayLike

Floats: TypeAlias = npt.NDArray[np.float64]

_SLACK = 1 + 1e-12  # a count is rounded down only where more than rounding errors speak for it
_TINY = 1e-300
_TERMS = 20_000  # the fraction needs about sqrt(freedom) terms; far below this for any history
_STEPS = 100

_erfc = np.frompyfunc(math.erfc, 1, 1)
_lgamma = np.frompyfunc(math.lgamma, 1, 1)
_normal_quantile = np.frompyfunc(NormalDist().inv_cdf, 1, 1)


def chebyshev(reach: ArrayLike, deviation: ArrayLike) -> Floats:
    """Upper bound on P(|X - mean| >= reach) for known mean and deviation (Chebyshev 1867; AVH Proposition 1).

    min(1, (deviation / reach)^2). A value without deviation never leaves its mean.

    >>> chebyshev(reach=[0.5, 5.0], deviation=1.0)
    array([1.  , 0.04])
    """
    with np.errstate(over="ignore", divide="ignore"):
        return _where_no_reach_is_one(np.minimum(_ratio(reach, deviation) ** -2.0, 1.0), reach)


def cantelli(reach: ArrayLike, deviation: ArrayLike) -> Floats:
    """Upper bound on P(X - mean >= reach) for known mean and deviation (Cantelli 1928; AVH Proposition 2).

    deviation^2 / (reach^2 + deviation^2); 1 where reach is not above 0.

    >>> cantelli(reach=[0.0, 3.0], deviation=1.0)
    array([1. , 0.1])
    """
    with np.errstate(over="ignore"):
        return _where_no_reach_is_one(1 / (1 + _ratio(reach, deviation) ** 2), reach)


def normal(reach: ArrayLike, deviation: ArrayLike) -> Floats:
    """P(|X - mean| >= reach) for a normal X of known mean and deviation (AVH Proposition 3, by the central limit).

    erfc(reach / (sqrt(2) deviation)).

    >>> normal(reach=[1.0, 2.0, 3.0], deviation=1.0).round(4)
    array([0.3173, 0.0455, 0.0027])
    """
    return _where_no_reach_is_one(erfc(_ratio(reach, deviation) / math.sqrt(2)), reach)


def student(reach: ArrayLike, deviation: ArrayLike, runs: ArrayLike) -> Floats:
    """P(|X - mean| >= reach) for the next X of a normal series with mean and deviation estimated from `runs` values.

    P(|T| >= reach / (deviation sqrt(1 + 1/runs))) with runs - 1 degrees of freedom (Student 1908). The deviation is
    the sample's, with the divisor runs - 1. Two runs are the least from which anything follows.

    >>> student(reach=3.0, deviation=1.0, runs=[1, 5, 30, 1_000]).round(4)
    array([1.    , 0.052 , 0.0062, 0.0028])
    """
    count = np.asarray(runs, np.float64)
    enough = np.maximum(count, 2.0)
    tail = student_tail(_ratio(reach, deviation) / np.sqrt(1 + 1 / enough), enough - 1)
    return _where_no_reach_is_one(np.where(count < 2, 1.0, tail), reach)


def saw(reach: ArrayLike, deviation: ArrayLike, runs: ArrayLike) -> Floats:
    """Upper bound on P(|X - mean| >= reach) where mean and deviation are estimates from `runs` values before X.

    It holds for whatever distribution, if X and the values before it are exchangeable and `reach` is a fixed multiple
    of the sample's deviation (divisor runs - 1). With Q = runs + 1, k = reach / (deviation sqrt(1 + 1/runs)) and
    x = runs k^2 / (runs - 1 + k^2), the event says that X is one of the values that lie at least sqrt(x) deviations of
    all Q values from their mean. At most R = floor(Q / x) can; one less, as they cannot balance, if R is odd and
    x > Q (Q - R) / (1 + R (Q - R)). The bound is their share of Q (Saw, Yang and Mo 1984), never below 1 / Q.

    >>> saw(reach=[3.0, 100.0], deviation=1.0, runs=30).round(4)
    array([0.129 , 0.0323])
    """
    count, far = _distance_among_all(reach, deviation, runs)
    everyone = count + 1
    with np.errstate(divide="ignore"):
        most = np.minimum(np.floor(everyone / far * _SLACK), everyone)
    balanced = everyone * (everyone - most) / (1 + most * (everyone - most))
    lone = (most % 2 == 1) & (far > np.maximum(balanced, 1.0) * _SLACK)
    return _where_no_reach_is_one(np.where(count < 2, 1.0, (most - lone) / everyone), reach)


def saw_above(reach: ArrayLike, deviation: ArrayLike, runs: ArrayLike) -> Floats:
    """Upper bound on P(X - mean >= reach) where mean and deviation are estimates from `runs` values before X.

    The one-sided form of `saw`, as Cantelli's bound is that of Chebyshev's: of Q values with mean 0, R that are at
    least c leave a sum of at most -R c to the others, so the mean square of all is at least c^2 R / (Q - R). So at most
    floor(Q / (1 + x)) of them lie sqrt(x) deviations above their mean, with Q and x as in `saw`.

    >>> saw_above(reach=[3.0, 100.0], deviation=1.0, runs=30).round(4)
    array([0.0968, 0.0323])
    """
    count, far = _distance_among_all(reach, deviation, runs)
    bound = np.floor((count + 1) / (1 + far) * _SLACK) / (count + 1)
    return _where_no_reach_is_one(np.where(count < 2, 1.0, bound), reach)


def student_tail(t: ArrayLike, freedom: ArrayLike) -> Floats:
    """P(|T| >= t) for Student's T with real-valued degrees of freedom above 0.

    The regularised incomplete beta function I_x(freedom / 2, 1 / 2) at x = freedom / (freedom + t^2).

    >>> student_tail([0.0, 1.0, 2.0], freedom=1.0).round(4)
    array([1.    , 0.5   , 0.2952])
    """
    return np.asarray(np.exp(_log_tail(*_pair(t, freedom))), np.float64)[()]


def student_reach(tail: ArrayLike, freedom: ArrayLike) -> Floats:
    """The t with P(|T| >= t) = tail, for Student's T with real-valued degrees of freedom above 0.

    >>> student_reach([0.05, 0.01], freedom=10.0).round(4)
    array([2.2281, 3.1693])
    """
    wanted, degrees = _pair(tail, freedom)
    if np.any((wanted < 0) | (wanted > 1)):
        raise ValueError("a tail is a probability, from 0 to 1")
    found = np.where(wanted == 0, np.inf, np.where(wanted == 1, 0.0, np.nan))
    inner = (wanted > 0) & (wanted < 1) & ~np.isnan(degrees)
    if inner.any():
        found[inner] = _newton(wanted[inner], degrees[inner])
    return found[()]


def erfc(x: ArrayLike) -> Floats:
    """1 - erf(x), without loss of digits far out.

    >>> float(erfc(0.0)), bool(erfc(10.0) > 0)
    (1.0, True)
    """
    return np.asarray(_erfc(np.asarray(x, np.float64)), np.float64)[()]


def _ratio(reach: ArrayLike, deviation: ArrayLike) -> Floats:
    """reach / deviation, at least 0, and infinite where there is a reach but no deviation."""
    far, spread = np.broadcast_arrays(np.asarray(reach, np.float64), np.asarray(deviation, np.float64))
    if np.any(spread < 0):
        raise ValueError("a deviation is not below 0")
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        return np.where(far <= 0, 0.0, far / spread)


def _where_no_reach_is_one(tail: Floats, reach: ArrayLike) -> Floats:
    return np.where(np.asarray(reach, np.float64) <= 0, 1.0, tail)[()]


def _distance_among_all(reach: ArrayLike, deviation: ArrayLike, runs: ArrayLike) -> tuple[Floats, Floats]:
    """The runs, and the x of Saw, Yang and Mo: how far out X is when it is counted among the values itself."""
    count, ratio = np.broadcast_arrays(np.asarray(runs, np.float64), _ratio(reach, deviation))
    enough = np.maximum(count, 1.0)
    with np.errstate(divide="ignore", over="ignore"):
        return count, enough / ((enough - 1) * (1 + 1 / enough) / ratio**2 + 1)


def _pair(first: ArrayLike, freedom: ArrayLike) -> tuple[Floats, Floats]:
    left, degrees = np.broadcast_arrays(np.asarray(first, np.float64), np.asarray(freedom, np.float64))
    if np.any(degrees <= 0) or np.any(np.isinf(degrees)):
        raise ValueError("degrees of freedom are finite and above 0")
    return left, degrees


def _log_tail(t: Floats, freedom: Floats) -> Floats:
    """log P(|T| >= t): in logs, so that tails below 1e-308 still have an order."""
    u = np.abs(t) / np.sqrt(freedom)
    length = np.hypot(1.0, u)
    half, log_x = freedom / 2, -2 * np.log(length)
    with np.errstate(divide="ignore", invalid="ignore"):
        x, rest = length**-2.0, np.where(np.isinf(u), 1.0, (u / length) ** 2)
        front = half * log_x + np.log(rest) / 2 - _log_beta(half)
    # Either side of the mean of the beta distribution the fraction is quick only for its own tail.
    outer = x < (half + 1) / (half + 2.5)
    a, b = np.where(outer, half, 0.5), np.where(outer, 0.5, half)
    fraction = _beta_fraction(np.where(outer, x, rest), a, b)
    with np.errstate(divide="ignore", invalid="ignore"):
        part = front + np.log(fraction / a)
        return np.asarray(np.where(outer, part, np.log1p(-np.exp(np.minimum(part, 0.0)))), np.float64)


def _log_beta(a: Floats) -> Floats:
    """log B(a, 1/2). For large a by the series of Gamma(a + 1/2) / Gamma(a): a difference of lgamma loses digits."""
    small = np.minimum(a, 20.0)
    exact = np.asarray(_lgamma(small) - _lgamma(small + 0.5), np.float64)
    inverse = 1 / np.maximum(a, 20.0)
    square = inverse * inverse
    series = inverse * (-1 / 8 + square * (1 / 192 + square * (-1 / 640 + square * (17 / 14336 - square * 31 / 18432))))
    return math.log(math.pi) / 2 + np.where(a < 20, exact, np.log(inverse) / 2 - series)


def _beta_fraction(x: Floats, a: Floats, b: Floats) -> Floats:
    """The continued fraction of the incomplete beta function (Abramowitz and Stegun 26.5.8), by Lentz's method."""
    c, d = np.ones_like(x), 1 / _away_from_zero(1 - (a + b) * x / (a + 1))
    value = d
    for m in range(1, _TERMS):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        before = value
        for term in (even, odd):
            d = 1 / _away_from_zero(1 + term * d)
            c = _away_from_zero(1 + term / c)
            value = value * (c * d)
        if not np.any(np.abs(value - before) > 1e-14 * np.abs(value)):
            break
    return value


def _away_from_zero(x: Floats) -> Floats:
    return np.where(np.abs(x) < _TINY, _TINY, x)


def _newton(tail: Floats, freedom: Floats) -> Floats:
    """Newton's method for log P(|T| >= t) as a function of log t.

    The function is concave and falls, so after one step every further one comes from above. The normal quantile, below
    Student's, is near enough for the first.
    """
    wanted, log_root = np.log(tail), np.log(freedom) / 2
    log_t = np.log(np.asarray(-_normal_quantile(tail / 2), np.float64))
    for _ in range(_STEPS):
        here = np.minimum(log_t, 700.0)  # so far out the logs lie on a straight line: one step finds the rest
        height = _log_tail(np.exp(here), freedom)
        log_length = np.log(np.hypot(1.0, np.exp(here - log_root)))
        log_slope = math.log(2) + here - log_root - (freedom + 1) * log_length - _log_beta(freedom / 2) - height
        step = (height - wanted) / np.exp(log_slope)
        log_t = here + step
        if not np.any(np.abs(step) > 1e-8):  # each step squares the error
            break
    with np.errstate(over="ignore"):
        return np.exp(log_t)
