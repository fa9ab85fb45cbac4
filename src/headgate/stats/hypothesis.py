"""Tests of hypotheses: whether two shares can be those of one population."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

_SMALL = 16
_TABLE = np.array([math.lgamma(number + 1) for number in range(_SMALL)])
_DEVIATIONS, _NEAR = 11.0, 60  # from the mean: beyond, a table has a probability of less than 1e-25
_SLACK = 1e-7  # probabilities so close are one: the last digits depend on the order of sums


def log_factorial(numbers: npt.NDArray[np.int64]) -> Floats:
    """ln n! of each number: a table, then Stirling's series, whose error is below 1e-13 of the result from 16 on.

    >>> round(float(log_factorial(np.array([20]))[0]), 9) == round(math.lgamma(21), 9)
    True
    """
    x = np.maximum(numbers, _SMALL).astype(np.float64) + 1.0
    series = 1 / (12 * x) - 1 / (360 * x**3) + 1 / (1260 * x**5) - 1 / (1680 * x**7)
    stirling = (x - 0.5) * np.log(x) - x + 0.5 * math.log(2 * math.pi) + series
    return np.where(numbers < _SMALL, _TABLE[np.clip(numbers, 0, _SMALL - 1)], stirling)


def fisher_exact(outside: int, seen: int, outside_now: int, seen_now: int) -> float:
    """The two-sided p of Fisher's exact test that two shares, `outside` of `seen` then and now, are one (Fisher 1922).

    It is the probability of all tables with the same margins that are no more likely than this one. Tables of less than
    1e-25 are not added.

    >>> round(fisher_exact(1, 10, 11, 14), 6)
    0.002759
    """
    marked, total = outside + outside_now, seen + seen_now
    mean = seen * marked / total if total else 0.0
    reach = (
        _DEVIATIONS * math.sqrt(mean * (1 - marked / total if total else 0.0) * seen_now / max(total - 1, 1)) + _NEAR
    )
    first, last = max(0, marked - seen_now, int(mean - reach)), min(seen, marked, int(mean + reach))
    possible = np.arange(first, last + 1, dtype=np.int64)
    logs = _log_tables(seen, seen_now, marked, possible)
    own = _log_tables(seen, seen_now, marked, np.array([outside]))[0]
    return float(min(1.0, np.exp(logs[logs <= own + _SLACK]).sum()))


def _log_tables(seen: int, seen_now: int, marked: int, outside: npt.NDArray[np.int64]) -> Floats:
    """The logarithm of the probability of each table with these margins."""
    ways = _log_choose(seen, outside) + _log_choose(seen_now, marked - outside)
    return np.asarray(ways - _log_choose(seen + seen_now, np.array([marked]))[0])


def _log_choose(total: int, chosen: npt.NDArray[np.int64]) -> Floats:
    whole = log_factorial(np.array([total]))[0]
    return np.asarray(whole - log_factorial(chosen) - log_factorial(total - chosen))


@lru_cache(maxsize=4096)
def least_rejected(outside: int, seen: int, seen_now: int, significance: float = 0.01) -> int:
    """The number outside, of `seen_now`, that is too many by Fisher's exact test; `seen_now` + 1 if there is none.

    It is too many, and one less is not. (A smaller one may be too many as well: the test is not monotone everywhere.)

    >>> least_rejected(0, 10, 90), least_rejected(0, 1_000, 9_000)
    (39, 50)
    """
    expected = math.floor(outside * seen_now / seen) + 1 if seen else 0
    low, high, step = min(expected, seen_now + 1), seen_now + 1, 1
    while low + step < high and fisher_exact(outside, seen, low + step, seen_now) > significance:
        low, step = low + step + 1, 2 * step
    high = min(high, low + step)
    while low < high:
        middle = (low + high) // 2
        if fisher_exact(outside, seen, middle, seen_now) <= significance:
            high = middle
        else:
            low = middle + 1
    return low
