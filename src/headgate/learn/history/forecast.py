"""Forecast the next value of every metric: where it should lie, and how surprising a given value is."""

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

MIN_RUNS = 7  # values of a series below which there is no forecast
NOISE_FLOOR = 0.01  # the smallest scale of a forecast, as a share of the metric's natural scale
TREND_RATIO = 2.0  # a series has a trend if its values deviate this many times as much as its steps do
SEASON_RATIO = 0.6  # a series is seasonal if its seasonal steps deviate at most this share of what other models leave
MIN_SEASONAL_STEPS = 8  # seasonal steps below which no season is assumed
MIN_CYCLES = 3  # how often a season must fit into the history, so that it was seen to repeat
_DAY_SECONDS = 86_400.0


@dataclass(frozen=True, slots=True)
class Forecast:
    """Two models of the next value of each series: `centre` and `scale` are of shape (2, series).

    The models may be the same. Either predicts its centre, give or take its scale (a standard deviation); both are NaN
    where there are too few values.

    The *surprise* of a value is how many scales it lies beyond the centre, by the model that it fits better; between
    the two centres it is 0. The *band* at a *reach* is the range of values whose surprise is at most that reach: it
    covers the bands of both models.

    `lag` is 0 where one model predicts the mean of the series. Otherwise the models add a mean step to the value `lag`
    runs before. `constant` marks series of one value, whose scale is the noise floor. `one_sided` marks distances,
    which are never too small.
    """

    centre: Floats
    scale: Floats
    constant: Flags
    runs: npt.NDArray[np.int64]
    lag: npt.NDArray[np.int64]
    one_sided: Flags

    def surprise(self, values: Floats) -> Floats:
        """The surprise of values, an array of shape (..., series); NaN where there is no value or no forecast."""
        with np.errstate(invalid="ignore", over="ignore"):
            gaps = (values[..., None, :] - self.centre) / self.scale
            above, below = gaps.min(axis=-2), (-gaps).min(axis=-2)
            beyond: Floats = np.where(self.one_sided, above, np.fmax(above, below))
            return np.where(np.isnan(values) | np.isnan(self.centre).any(axis=0), np.nan, np.fmax(beyond, 0.0))

    def band(self, reach: Floats | float) -> tuple[Floats, Floats]:
        """The lowest and the highest value of each series whose surprise is at most `reach`."""
        with np.errstate(over="ignore"):
            low = (self.centre - reach * self.scale).min(axis=0)
            high = (self.centre + reach * self.scale).max(axis=0)
        return np.where(self.one_sided, -np.inf, low), high

    def band_of(self, index: int, reach: float) -> tuple[float, float]:
        """The band of one series: the same as `band`, in plain floats, which are faster for a single series."""
        centres, scales = self.centre[:, index].tolist(), self.scale[:, index].tolist()
        high = max(centre + reach * scale for centre, scale in zip(centres, scales, strict=True))
        if self.one_sided[index]:
            return -math.inf, high
        return min(centre - reach * scale for centre, scale in zip(centres, scales, strict=True)), high

    def reach_of(self, index: int, low: float | None, high: float | None) -> float:
        """The reach of the band from `low` to `high` of one series, the larger one if the ends differ."""
        centres, scales = self.centre[:, index].tolist(), self.scale[:, index].tolist()
        above = 0.0 if high is None else min((high - c) / s for c, s in zip(centres, scales, strict=True))
        below = 0.0 if low is None else min((c - low) / s for c, s in zip(centres, scales, strict=True))
        return max(above, below)


def forecast_next(values: Floats, metrics: Sequence[MetricTraits]) -> Forecast:
    """The forecast of each metric (columns of `values`) from its values in the runs (rows, oldest first)."""
    noise_floor = NOISE_FLOOR * natural_scale(values, metrics)
    with warnings.catch_warnings(), np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        warnings.simplefilter("ignore", RuntimeWarning)  # numpy warns about series that are NaN throughout
        return _fit_forecast(values, noise_floor, np.array([each.is_distance for each in metrics], np.bool_))


def _fit_forecast(values: Floats, noise_floor: Floats, one_sided: Flags) -> Forecast:
    """Fit all series at once.

    A series without trend or season gets two models, its mean and its steps: few runs cannot tell which one is right.
    A trend gets the steps only, a season the seasonal steps only, a one-sided series the mean only.
    """
    present = np.isfinite(values)
    runs = present.sum(axis=0)
    constant = np.nanmax(values, axis=0) == np.nanmin(values, axis=0)
    level = np.nanmean(values, axis=0), _predictive_deviation(values)
    steps = _predict_by_steps(values, 1)
    trend = level[1] > TREND_RATIO * steps[1]
    lag = np.where(trend & ~one_sided, 1, 0)
    first = np.where(trend, steps, level)  # of shape (2, series): centres, then scales; so is `second`
    second = np.where(one_sided, level, steps)
    first = np.where(one_sided, level, first)
    for season_lag in range(2, len(values) // MIN_CYCLES + 1):
        if len(values) - season_lag < MIN_SEASONAL_STEPS:
            break
        season = _predict_by_steps(values, season_lag)
        better = (season[1] < SEASON_RATIO * np.fmin(first[1], second[1])) & np.isfinite(season[0]) & ~one_sided
        better &= np.isfinite(values[season_lag:] - values[:-season_lag]).sum(axis=0) >= MIN_SEASONAL_STEPS
        first, second = np.where(better, season, first), np.where(better, season, second)
        lag = np.where(better, season_lag, lag)
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
    """What a change of each metric is compared with: 1 for shares, its own size for counts, and so on (see `Scale`)."""
    latest = latest_values(values)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        size = np.fmax(np.abs(np.nanmean(values, axis=0)), np.abs(latest))
    index_of_metric = {(each.key.name, each.column): index for index, each in enumerate(metrics) if each.is_plain}

    def latest_of(name: str, traits: MetricTraits) -> float:
        index = index_of_metric.get((name, traits.column))
        return abs(float(latest[index])) if index is not None and np.isfinite(latest[index]) else 0.0

    scales = np.ones(len(metrics))
    for index, traits in enumerate(metrics):
        if traits.scale is Scale.SIZE:
            scales[index] = size[index]
        elif traits.scale is Scale.SPREAD:
            own_size = 0.0 if traits.is_distance else float(np.nan_to_num(size[index]))
            scales[index] = max(own_size, latest_of("stddev", traits))
        elif traits.scale is Scale.TIME:
            scales[index] = max(latest_of("range", traits), _DAY_SECONDS)
    return np.where(np.isfinite(scales) & (scales > 0), scales, 1.0)


def _predictive_deviation(values: Floats) -> Floats:
    """The standard deviation of the next value from the mean of these, if all have the same distribution.

    The factor sqrt(1 + 1/n) accounts for the mean being an estimate.
    """
    count = np.isfinite(values).sum(axis=0)
    deviation: Floats = np.nanstd(values, axis=0, ddof=1) * np.sqrt(1 + 1 / count)
    return deviation


def _predict_by_steps(values: Floats, lag: int) -> tuple[Floats, Floats]:
    """The next value and its deviation, if the step from the value `lag` runs before is like the steps so far."""
    steps = values[lag:] - values[:-lag]
    start = latest_values(values) if lag == 1 else values[len(values) - lag]
    return start + np.nanmean(steps, axis=0), _predictive_deviation(steps)
