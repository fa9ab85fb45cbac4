"""Where the next value of many series should lie: centres, scales, and how surprising a value is."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from headgate.learn.metric_traits import Measure, Scale
from headgate.learn.past import newest

Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]

FEWEST = 7  # values below which nothing is said
GRAIN = 0.01  # of a metric's natural scale: what it moves by without telling anything
TREND = 2.0  # how much more the level must scatter than the steps for a series to count as a trend
SEASON = 0.6  # how much less the seasonal steps must scatter for a series to count as seasonal
SEASONAL_STEPS = 8  # fewest of them
CYCLES = 3  # times that a season must fit into the history: what came round once may not come round again
_DAY = 86_400.0


@dataclass(frozen=True, slots=True)
class Forecast:
    """For each series two models of the next value (which may be the same): centre and scale, of shape (2, series).

    A value is as surprising as the better of its models finds it: the band at reach z is the hull of both models'
    bands. `lag` is 0 where the level is a model, else how many runs back the value is that the steps start from.
    `constant` series have one value only; their scale is the grain alone. NaN where there are too few values.
    """

    centre: Floats
    scale: Floats
    constant: Flags
    runs: npt.NDArray[np.int64]
    lag: npt.NDArray[np.int64]
    one_sided: Flags

    def surprise(self, values: Floats) -> Floats:
        """How many scales values (..., series) lie beyond the centre; NaN where there is no value or no forecast."""
        with np.errstate(invalid="ignore", over="ignore"):
            gaps = (values[..., None, :] - self.centre) / self.scale
            above, below = gaps.min(axis=-2), (-gaps).min(axis=-2)
            found: Floats = np.where(self.one_sided, above, np.fmax(above, below))
            return np.where(np.isnan(values) | np.isnan(self.centre).any(axis=0), np.nan, np.fmax(found, 0.0))

    def band(self, reach: Floats | float) -> tuple[Floats, Floats]:
        """The lowest and highest value of each series that surprises by no more than `reach`."""
        with np.errstate(over="ignore"):
            low = (self.centre - reach * self.scale).min(axis=0)
            high = (self.centre + reach * self.scale).max(axis=0)
        return np.where(self.one_sided, -np.inf, low), high

    def one(self, at: int, reach: float) -> tuple[float, float]:
        """The band of one series."""
        centres, scales = self.centre[:, at].tolist(), self.scale[:, at].tolist()
        high = max(centre + reach * scale for centre, scale in zip(centres, scales, strict=True))
        if self.one_sided[at]:
            return -math.inf, high
        return min(centre - reach * scale for centre, scale in zip(centres, scales, strict=True)), high

    def reach(self, at: int, low: float | None, high: float | None) -> float:
        """How surprising a value of one series must be to lie beyond these ends, whichever end it is."""
        centres, scales = self.centre[:, at].tolist(), self.scale[:, at].tolist()
        above = 0.0 if high is None else min((high - c) / s for c, s in zip(centres, scales, strict=True))
        below = 0.0 if low is None else min((c - low) / s for c, s in zip(centres, scales, strict=True))
        return max(above, below)


def forecast(values: Floats, measures: Sequence[Measure]) -> Forecast:
    """The forecast of every column of a table of runs (rows, oldest first)."""
    grain = GRAIN * natural_scale(values, measures)
    with warnings.catch_warnings(), np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        warnings.simplefilter("ignore", RuntimeWarning)  # a series without a value is NaN all through
        return _forecast(values, grain, np.array([each.distance for each in measures], np.bool_))


def _forecast(values: Floats, grain: Floats, one_sided: Flags) -> Forecast:
    there = np.isfinite(values)
    runs = there.sum(axis=0)
    constant = np.nanmax(values, axis=0) == np.nanmin(values, axis=0)
    level = np.nanmean(values, axis=0), _deviation(values)
    steps = _steps(values, 1)
    trend = level[1] > TREND * steps[1]
    lag = np.where(trend & ~one_sided, 1, 0)
    first = np.where(trend, steps, level)
    second = np.where(one_sided, level, steps)
    first = np.where(one_sided, level, first)
    for back in range(2, len(values) // CYCLES + 1):
        if len(values) - back < SEASONAL_STEPS:
            break
        season = _steps(values, back)
        better = (season[1] < SEASON * np.fmin(first[1], second[1])) & np.isfinite(season[0]) & ~one_sided
        better &= np.isfinite(values[back:] - values[:-back]).sum(axis=0) >= SEASONAL_STEPS
        first, second = np.where(better, season, first), np.where(better, season, second)
        lag = np.where(better, back, lag)
    centre = np.stack([first[0], second[0]])
    scale = np.hypot(np.stack([first[1], second[1]]), grain)
    latest = newest(values)
    centre, scale = np.where(constant, latest, centre), np.where(constant, grain, scale)
    enough = (runs >= FEWEST) & np.isfinite(scale).all(axis=0)
    hidden = np.where(enough, 0.0, np.nan)
    return Forecast(centre + hidden, scale + hidden, constant & enough, runs, np.where(constant, 0, lag), one_sided)


def natural_scale(values: Floats, measures: Sequence[Measure]) -> Floats:
    """What one percent of is the grain of each series: 1 for shares, its own size for others, and so on."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        size = np.fmax(np.abs(np.nanmean(values, axis=0)), np.abs(newest(values)))
    places = {(each.key.name, each.column): at for at, each in enumerate(measures) if each.plain}
    latest = newest(values)

    def beside(name: str, measure: Measure) -> float:
        at = places.get((name, measure.column))
        return abs(float(latest[at])) if at is not None and np.isfinite(latest[at]) else 0.0

    found = np.ones(len(measures))
    for at, each in enumerate(measures):
        if each.scale is Scale.SIZE:
            found[at] = size[at]
        elif each.scale is Scale.SPREAD:
            found[at] = max(0.0 if each.distance else float(np.nan_to_num(size[at])), beside("stddev", each))
        elif each.scale is Scale.MOMENT:
            found[at] = max(beside("range", each), _DAY)
    return np.where(np.isfinite(found) & (found > 0), found, 1.0)


def _deviation(values: Floats) -> Floats:
    """The standard deviation of the next value from the mean of these, if all are drawn alike."""
    count = np.isfinite(values).sum(axis=0)
    found: Floats = np.nanstd(values, axis=0, ddof=1) * np.sqrt(1 + 1 / count)
    return found


def _steps(values: Floats, back: int) -> tuple[Floats, Floats]:
    """The next value and its deviation if the steps from `back` runs before go on as they were."""
    steps = values[back:] - values[:-back]
    start = newest(values) if back == 1 else values[len(values) - back]
    return start + np.nanmean(steps, axis=0), _deviation(steps)
