"""Turn the band of a forecast into a range that a reader believes: possible values only, and no wider than sensible."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from headgate.learn.history.forecast import Forecast
from headgate.learn.history.noise import find_rows, natural_scale
from headgate.learn.metric_traits import MetricTraits
from headgate.values.predicate import Between, OneOf, Predicate

Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]

MOST_PAST_RANGES = 10.0
"""No range is wider than this many times what the runs lay within, or a reader does not believe it."""
ROUNDING = 0.99
"""The widest reach is made so much shorter, because the ends of a range are rounded outwards."""
LEAST_PAST_RANGE = 0.01
"""What the runs lay within counts as this share of the natural scale at least, and for whole numbers as 1."""
FEW_RUNS, FEW_ROWS = 10, 30
"""With fewer runs, or fewer rows in a batch, a range may be of any width: so few do not tell what is sensible."""
DISTANCE_MARGIN = 0.1
"""How far beyond its limit a distance from the run before may be, as a share of that."""
_EXACT_REACH = 1e-5  # scales; a narrower band stands for equality
_WIDTH_DIGITS = 3  # significant digits of a band's width that its ends keep
_WHOLE_TOLERANCE = 1e-9


def find_widest_reaches(
    forecast: Forecast, values: Floats, metrics: Sequence[MetricTraits], *, least_rows: float = FEW_ROWS
) -> Floats:
    """For each metric the reach of the widest band that a reader believes.

    It is infinite for few runs or few rows, and for timestamps: a reader believes that data is a day late. It is 0 for
    what was always 0, such as the digits in names.

    Args:
        forecast: What is expected next.
        values: The values of the runs.
        metrics: The metrics of these values.
        least_rows: Rows of a batch below which a band may be of any width.
    """
    with warnings.catch_warnings(), np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        warnings.simplefilter("ignore", RuntimeWarning)  # numpy warns about series that are NaN throughout
        past_range = np.nanmax(values, axis=0) - np.nanmin(values, axis=0)
        lowest = np.where(forecast.one_sided, 0.0, forecast.centre.min(axis=0))
        is_size = np.array([not each.share and not each.is_distance for each in metrics], np.bool_)
        was_zero = is_size & (np.nanmax(np.abs(values), axis=0) == 0)
        least_share = np.where(was_zero, 0.0, LEAST_PAST_RANGE * natural_scale(values, metrics))
        least_range = np.fmax(least_share, [float(each.whole) for each in metrics])
        widest = MOST_PAST_RANGES * np.fmax(past_range, least_range) / [_find_margin(each) for each in metrics]
        ends = np.where(forecast.one_sided, 1.0, 2.0)
        reaches = (widest - (forecast.centre.max(axis=0) - lowest)) / (ends * forecast.scale.max(axis=0))
    few = (forecast.runs < FEW_RUNS) | (find_rows(values, metrics) < least_rows)
    timestamps = np.array([each.is_timestamp for each in metrics], np.bool_)
    return np.where(few | timestamps | np.isnan(reaches), math.inf, reaches)


def find_never_negative(values: Floats, metrics: Sequence[MetricTraits]) -> Flags:
    """For each metric of numbers, whether no value of its column was negative in any run."""
    of_numbers = {each.column: values[:, at] for at, each in enumerate(metrics) if each.is_plain and _is_minimum(each)}
    smallest = {column: np.nanmin(series) for column, series in of_numbers.items() if np.isfinite(series).any()}
    return np.array([each.signed and smallest.get(each.column, -math.inf) >= 0 for each in metrics], np.bool_)


def make_range(
    traits: MetricTraits, low: float, high: float, *, exact: bool = False, never_negative: bool = False
) -> Predicate | None:
    """The band as a predicate, with rounded ends, and without an end that no value can lie beyond.

    Ends of whole numbers are whole. What was never negative is not expected to be: a band that reaches below 0 ends at
    0. The smallest value itself then has no lower end, because one negative value is less rare than the band says.
    A distance has a margin: it cannot be below 0, so usual ones crowd below the limit and cross it by little.

    Args:
        traits: The metric.
        low: The lower end.
        high: The upper end.
        exact: Whether the band stands for one value.
        never_negative: Whether no value of the column was ever negative.

    Returns:
        None if no value can lie outside the band, or none inside.
    """
    centre = (low + high) / 2
    if exact and math.isfinite(centre) and centre == round(centre):
        return OneOf((float(round(centre)),), traits.is_timestamp)
    high *= _find_margin(traits)
    lowest = -math.inf if traits.signed else 0.0
    if high < lowest or low > traits.max_value:  # a trend can forecast values that the metric cannot take
        return None
    if never_negative and low < 0:
        low = -math.inf if _is_minimum(traits) else 0.0
        if high < 0:
            return None
        lowest = -math.inf
    low, high = _round_to_whole(low, high) if traits.whole else round_outwards(low, high)
    bottom = low if math.isfinite(low) and low > lowest else None
    top = high if math.isfinite(high) and high < traits.max_value else None
    return None if bottom is None and top is None else Between(bottom, top, traits.is_timestamp)


def is_exact(constant: bool, reach: float) -> bool:
    """Whether a band of this reach stands for one value."""
    return constant and reach < _EXACT_REACH


def round_outwards(low: float, high: float) -> tuple[float, float]:
    """The ends of a band rounded outwards to three digits of its width.

    >>> round_outwards(979.314, 1040.228)
    (979.3, 1040.3)
    """
    width = high - low if math.isfinite(high - low) else abs(high if math.isfinite(high) else low)
    if not math.isfinite(width) or width <= 0:
        return low, high
    digits = _WIDTH_DIGITS - 1 - math.floor(math.log10(width))
    if abs(digits) > 300:  # the step would overflow or vanish
        return low, high
    step = 10.0**-digits
    down = low if not math.isfinite(low) else round(math.floor(low / step) * step, max(digits, 0))
    up = high if not math.isfinite(high) else round(math.ceil(high / step) * step, max(digits, 0))
    return min(down, low), max(up, high)


def _round_to_whole(low: float, high: float) -> tuple[float, float]:
    """The least and the greatest whole number of a band; those around it if there is none inside.

    >>> _round_to_whole(2.7, 3.301)
    (3.0, 3.0)
    """
    bottom = math.ceil(low - _WHOLE_TOLERANCE) if math.isfinite(low) else low
    top = math.floor(high + _WHOLE_TOLERANCE) if math.isfinite(high) else high
    if bottom > top:
        bottom, top = math.floor(low), math.ceil(high)
    return float(bottom), float(top)


def _find_margin(traits: MetricTraits) -> float:
    """By what the upper end of a range is multiplied."""
    return 1.0 + DISTANCE_MARGIN if traits.is_distance else 1.0


def _is_minimum(traits: MetricTraits) -> bool:
    return traits.key.name == "min" and not traits.is_timestamp
