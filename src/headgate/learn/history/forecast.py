"""Where the next value of many series should lie: centres, scales, and how surprising a value is."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from headgate.learn.metric_traits import MetricTraits, Scale
from headgate.learn.past import latest_values

Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]

MIN_RUNS = 7  # values below which nothing is said
NOISE_FLOOR = 0.01  # of a metric's natural scale: what it moves by without telling anything
TREND_RATIO = 2.0  # how much more the level must scatter than the steps for a series to count as a trend
SEASON_RATIO = 0.6  # how much less the seasonal steps must scatter for a series to count as seasonal
MIN_SEASONAL_STEPS = 8  # fewest of them
MIN_CYCLES = 3  # times that a season must fit into the history: what came round once may not come round again
_DAY_SECONDS = 86_400.0


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

    def band_of(self, index: int, reach: float) -> tuple[float, float]:
        """The band of one series."""
        centres, scales = self.centre[:, index].tolist(), self.scale[:, index].tolist()
        high = max(centre + reach * scale for centre, scale in zip(centres, scales, strict=True))
        if self.one_sided[index]:
            return -math.inf, high
        return min(centre - reach * scale for centre, scale in zip(centres, scales, strict=True)), high

    def reach_of(self, index: int, low: float | None, high: float | None) -> float:
        """How surprising a value of one series must be to lie beyond these ends, whichever end it is."""
        centres, scales = self.centre[:, index].tolist(), self.scale[:, index].tolist()
        above = 0.0 if high is None else min((high - c) / s for c, s in zip(centres, scales, strict=True))
        below = 0.0 if low is None else min((c - low) / s for c, s in zip(centres, scales, strict=True))
        return max(above, below)


def forecast_next(values: Floats, metrics: Sequence[MetricTraits]) -> Forecast:
    """The forecast of every column of a table of runs (rows, oldest first)."""
    noise_floor = NOISE_FLOOR * natural_scale(values, metrics)
    with warnings.catch_warnings(), np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        warnings.simplefilter("ignore", RuntimeWarning)  # a series without a value is NaN all through
        return _fit_forecast(values, noise_floor, np.array([each.is_distance for each in metrics], np.bool_))


def _fit_forecast(values: Floats, noise_floor: Floats, one_sided: Flags) -> Forecast:
    present = np.isfinite(values)
    runs = present.sum(axis=0)
    constant = np.nanmax(values, axis=0) == np.nanmin(values, axis=0)
    level = np.nanmean(values, axis=0), _predictive_deviation(values)
    steps = _predict_by_steps(values, 1)
    trend = level[1] > TREND_RATIO * steps[1]
    lag = np.where(trend & ~one_sided, 1, 0)
    first = np.where(trend, steps, level)
    second = np.where(one_sided, level, steps)
    first = np.where(one_sided, level, first)
    for back in range(2, len(values) // MIN_CYCLES + 1):
        if len(values) - back < MIN_SEASONAL_STEPS:
            break
        season = _predict_by_steps(values, back)
        better = (season[1] < SEASON_RATIO * np.fmin(first[1], second[1])) & np.isfinite(season[0]) & ~one_sided
        better &= np.isfinite(values[back:] - values[:-back]).sum(axis=0) >= MIN_SEASONAL_STEPS
        first, second = np.where(better, season, first), np.where(better, season, second)
        lag = np.where(better, back, lag)
    centre = np.stack([first[0], second[0]])
    scale = np.hypot(np.stack([first[1], second[1]]), noise_floor)
    latest = latest_values(values)
    centre, scale = np.where(constant, latest, centre), np.where(constant, noise_floor, scale)
    enough = (runs >= MIN_RUNS) & np.isfinite(scale).all(axis=0)
    nan_if_short = np.where(enough, 0.0, np.nan)
    return Forecast(
        centre + nan_if_short, scale + nan_if_short, constant & enough, runs, np.where(constant, 0, lag), one_sided
    )


def natural_scale(values: Floats, metrics: Sequence[MetricTraits]) -> Floats:
    """What one percent of is the grain of each series: 1 for shares, its own size for others, and so on."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        size = np.fmax(np.abs(np.nanmean(values, axis=0)), np.abs(latest_values(values)))
    index_of_metric = {(each.key.name, each.column): at for at, each in enumerate(metrics) if each.is_plain}
    latest = latest_values(values)

    def latest_of(name: str, traits: MetricTraits) -> float:
        index = index_of_metric.get((name, traits.column))
        return abs(float(latest[index])) if index is not None and np.isfinite(latest[index]) else 0.0

    scales = np.ones(len(metrics))
    for at, each in enumerate(metrics):
        if each.scale is Scale.SIZE:
            scales[at] = size[at]
        elif each.scale is Scale.SPREAD:
            scales[at] = max(0.0 if each.is_distance else float(np.nan_to_num(size[at])), latest_of("stddev", each))
        elif each.scale is Scale.TIME:
            scales[at] = max(latest_of("range", each), _DAY_SECONDS)
    return np.where(np.isfinite(scales) & (scales > 0), scales, 1.0)


def _predictive_deviation(values: Floats) -> Floats:
    """The standard deviation of the next value from the mean of these, if all are drawn alike."""
    count = np.isfinite(values).sum(axis=0)
    found: Floats = np.nanstd(values, axis=0, ddof=1) * np.sqrt(1 + 1 / count)
    return found


def _predict_by_steps(values: Floats, lag: int) -> tuple[Floats, Floats]:
    """The next value and its deviation if the steps from `back` runs before go on as they were."""
    steps = values[lag:] - values[:-lag]
    start = latest_values(values) if lag == 1 else values[len(values) - lag]
    return start + np.nanmean(steps, axis=0), _predictive_deviation(steps)
