"""Converts the past values of a metric to an array, and the ends of a band to a predicate that tolerates rounding."""

from __future__ import annotations

import math
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from headgate.values.errors import MisuseError
from headgate.values.outcome import Undefined
from headgate.values.predicate import Between

Floats: TypeAlias = NDArray[np.float64]

# Units in the last place by which a value may differ without being an anomaly, about 1.4e-14 of it: a mean that is
# merged in another order differs by a few.
ROUNDING = 64


class Ends(NamedTuple):
    """The ends of a band, and the largest absolute value they were computed from, which bounds their rounding."""

    low: float | None
    high: float | None
    scale: float = 0.0


def as_values(past: Any) -> Floats:
    """The values as an array, with NaN for those that are missing or infinite.

    >>> as_values([1, None, float("inf")])
    array([ 1., nan, nan])
    """
    numbers = as_numbers(past)
    return np.where(np.isfinite(numbers), numbers, np.nan)


def as_numbers(past: Any) -> Floats:
    """The values as an array, unchanged."""
    try:
        values = np.asarray(past, dtype=np.float64)
    except (TypeError, ValueError):
        raise MisuseError(
            "a series is a list of numbers.", hint="Write [1.0, 2.0], with None where one misses."
        ) from None
    if values.ndim != 1:
        raise MisuseError(f"a series has one dimension, not {values.ndim}.", hint="Give the values of one metric.")
    return values


def drop_missing(values: Floats, needed: int) -> Floats | Undefined:
    """The values that are not missing, if there are enough.

    >>> drop_missing(np.array([1.0, np.nan, 2.0]), needed=7)
    Undefined(why='needs 7 values, there are 2')
    """
    present = values[~np.isnan(values)]
    return too_few(needed, len(present)) if len(present) < needed else present


def too_few(needed: int, present: int) -> Undefined:
    return Undefined(f"needs {needed} value{'s' * (needed != 1)}, there {'is' if present == 1 else 'are'} {present}")


def extrapolate_next(values: Floats, order: int) -> float:
    """The next value if its difference of this order is zero. The real difference is the real value minus this one.

    >>> extrapolate_next(np.array([1.0, 2.0, 4.0]), order=1), extrapolate_next(np.array([1.0, 2.0, 4.0]), order=2)
    (4.0, 6.0)
    """
    return float(sum(-((-1) ** back) * math.comb(order, back) * values[-back] for back in range(1, order + 1)))


def scale_of(values: Floats, order: int = 0) -> float:
    """An upper bound of the absolute values that occur in differencing these values `order` times."""
    return float(np.abs(values).max() * 2.0**order)


def widen_band(ends: Ends) -> Between | Undefined:
    """The band, widened by a few units in the last place, so that rounding flags nothing.

    >>> widen_band(Ends(0.1, 0.1, scale=0.1)).holds(0.1 + 1e-16)
    True
    """
    slack = slack_of(ends.scale)
    low = -math.inf if ends.low is None else float(ends.low) - slack
    high = math.inf if ends.high is None else float(ends.high) + slack
    if math.isnan(low) or math.isnan(high) or low == math.inf or high == -math.inf:
        return Undefined("the values are too large to compute with")
    if math.isinf(low) and math.isinf(high):
        return Undefined("the values are too large to compute with")
    return Between(None if math.isinf(low) else low, None if math.isinf(high) else high)


def slack_of(scale: float) -> float:
    """The difference that rounding may cause in numbers of this size."""
    return ROUNDING * math.ulp(scale) if scale else 0.0
