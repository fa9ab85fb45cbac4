"""Forecast the next value of every metric: where it should lie, and how surprising a given value is."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from headgate.learn.calendar import Calendar
from headgate.learn.history.noise import find_noise_floor, natural_scale
from headgate.learn.metric_traits import MetricTraits, Scale
from headgate.learn.past import Past, latest_values

Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]

MIN_RUNS = 7  # values of a series below which there is no forecast
TREND_RATIO = 2.0  # a series has a trend if its values deviate this many times as much as its steps do
SEASON_RATIO = 0.6  # a series is seasonal if a season leaves at most this share of what other models leave
MIN_SEASONAL_STEPS = 8  # runs that can be compared with others of their phase, below which no season is assumed
MIN_CYCLES = 3  # runs of the same phase as the next batch, so that the season was seen to repeat
COARSE_FACTOR = 10.0  # how many times as much or as little of a count is not grossly different
COARSE_SHARE = 0.25  # the same for a share
WIDEST_GAP = 2.0  # steps: a longer gap does not widen a range more, or a new level passed if nobody answers for long


@dataclass(frozen=True, slots=True)
class Forecast:
    """Two models of the next value of each series: `centre` and `scale` are of shape (2, series).

    The models may be the same. Either predicts its centre, give or take its scale (a standard deviation); both are NaN
    where there are too few values.

    The *surprise* of a value is how many scales it lies beyond the centre, by the model that it fits better; between
    the two centres it is 0. The *band* at a *reach* is the range of values whose surprise is at most that reach: it
    covers the bands of both models.

    `trend` marks series of which both models add a mean step to the newest value. `season` is the number of the phase
    of the calendar that a series recurs with, counted from 1, and 0 if it does not recur. `constant` marks series of
    one value, whose scale is the noise floor. `one_sided` marks distances, which are never too small.
    """

    centre: Floats
    scale: Floats
    constant: Flags
    runs: npt.NDArray[np.int64]
    trend: Flags
    season: npt.NDArray[np.int64]
    one_sided: Flags
    phase_names: tuple[str, ...] = ()

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


def forecast_past(past: Past) -> Forecast:
    """The forecast of each metric of a past. What a dated column was before is as normal as what it is now."""
    forecast = forecast_next(past.values, past.metrics, past.calendar)
    if past.listed_days is not None:
        forecast = _reach_listed_days(forecast, past, past.listed_days)
    if not past.free_ranges:
        return forecast
    noise_floor = find_noise_floor(past.values, past.metrics)
    centre, scale, constant = forecast.centre.copy(), forecast.scale.copy(), forecast.constant.copy()
    for index, ends in past.free_ranges.items():
        centre[:, index], scale[:, index], constant[index] = ends, noise_floor[index], True
    return replace(forecast, centre=centre, scale=scale, constant=constant)


def _reach_listed_days(forecast: Forecast, past: Past, days: Floats) -> Forecast:
    """The forecast for a listed day: as on an ordinary day, or as on an earlier day of the list, whichever is nearer.

    With fewer than `MIN_CYCLES` such days, all that is not grossly different is as near: a tenth or tenfold for counts
    and sums, a quarter more or less for shares, the natural scale for others. What never varied is left as it is.
    """
    rows = days
    if len(days) < MIN_CYCLES:
        latest, natural = latest_values(past.values), natural_scale(past.values, past.metrics)
        by_size = np.array([each.scale is Scale.SIZE for each in past.metrics], np.bool_)
        gap = np.where([each.scale is Scale.SHARE for each in past.metrics], COARSE_SHARE, natural)
        coarse = np.array(
            [
                np.where(by_size, latest / COARSE_FACTOR, latest - gap),
                np.where(by_size, latest * COARSE_FACTOR, latest + gap),
            ]
        )
        rows = np.vstack([days, np.where(forecast.constant, np.nan, coarse)])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # numpy warns about series that are NaN throughout
        low, high = np.nanmin(rows, axis=0), np.nanmax(rows, axis=0)
    known = np.isfinite(forecast.centre).all(axis=0)
    first = np.where(known, np.fmin(forecast.centre.min(axis=0), low), np.nan)
    second = np.where(known, np.fmax(forecast.centre.max(axis=0), high), np.nan)
    return replace(forecast, centre=np.stack([first, second]))


def forecast_next(values: Floats, metrics: Sequence[MetricTraits], calendar: Calendar | None = None) -> Forecast:
    """The forecast of each metric (columns of `values`) from its values in the runs (rows, oldest first).

    Args:
        values: The values; NaN where a run has none.
        metrics: The metrics of the columns.
        calendar: Where the runs and the next batch lie in time. Default: in their order, one step apart.
    """
    noise_floor = find_noise_floor(values, metrics)
    calendar = calendar or Calendar.of([str(run) for run in range(len(values))])
    with warnings.catch_warnings(), np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        warnings.simplefilter("ignore", RuntimeWarning)  # numpy warns about series that are NaN throughout
        return _fit_forecast(values, noise_floor, np.array([each.is_distance for each in metrics], np.bool_), calendar)


class _Models(NamedTuple):
    """Two models of all series, each of shape (2, series): the centres, then the scales."""

    first: Floats
    second: Floats

    @property
    def smaller_scale(self) -> Floats:
        smaller: Floats = np.fmin(self.first[1], self.second[1])
        return smaller

    def replace_where(self, better: Flags, other: _Models) -> _Models:
        return _Models(np.where(better, other.first, self.first), np.where(better, other.second, self.second))


def _fit_forecast(values: Floats, noise_floor: Floats, one_sided: Flags, calendar: Calendar) -> Forecast:
    """Fit all series at once.

    A series gets two models, its mean and its steps: few runs cannot tell which one is right, and the newest value is
    always normal. A trend gets the steps only, a one-sided series the mean only. Of a series that recurs, both are
    fitted to what is left without the season.
    """
    present = np.isfinite(values)
    runs = present.sum(axis=0)
    constant = np.nanmax(values, axis=0) == np.nanmin(values, axis=0)
    models, trend = _fit_level_and_steps(values, calendar.slots, calendar.horizon)
    season = np.zeros(values.shape[1], np.int64)
    for number, labels in enumerate(calendar.phases.values(), 1):
        seasonal, enough = _fit_season(values, labels, calendar)
        better = enough & ~one_sided & (seasonal.smaller_scale < SEASON_RATIO * models.smaller_scale)
        models, season = models.replace_where(better, seasonal), np.where(better, number, season)
    mean = np.nanmean(values, axis=0), _predictive_deviation(values)
    # a distance from the newest run grows with the time since
    gap = min(calendar.horizon, WIDEST_GAP)
    far = gap * np.array(mean)
    models = models.replace_where(one_sided, _Models(far, far))
    centre = np.stack([models.first[0], models.second[0]])
    scale = np.hypot(np.stack([models.first[1], models.second[1]]), noise_floor)
    latest = latest_values(values) * np.where(one_sided, gap, 1.0)
    centre, scale = np.where(constant, latest, centre), np.where(constant, noise_floor, scale)
    enough_runs = (runs >= MIN_RUNS) & np.isfinite(scale).all(axis=0)
    nan_if_short = np.where(enough_runs, 0.0, np.nan)
    varies = ~constant & ~one_sided
    return Forecast(
        centre + nan_if_short,
        scale + nan_if_short,
        constant & enough_runs,
        runs,
        trend & varies & (season == 0),
        np.where(varies, season, 0),
        one_sided,
        tuple(calendar.phases),
    )


def _fit_level_and_steps(values: Floats, slots: Floats, horizon: float) -> tuple[_Models, Flags]:
    """The mean and the steps of series, and which of them have a trend.

    After a gap, a series with a trend may have gone on with the time, or by one step: rows are numbered without a gap.
    """
    level = np.array([np.nanmean(values, axis=0), _predictive_deviation(values)])
    steps = _predict_by_steps(values, slots[:-1], horizon)
    trend = level[1] > TREND_RATIO * steps[1] / math.sqrt(horizon)
    single = _predict_by_steps(values, slots[:-1], 1.0) if horizon > 1.0 else steps
    return _Models(np.where(trend, single, level), steps), trend


def _fit_season(values: Floats, labels: npt.NDArray[np.int64], calendar: Calendar) -> tuple[_Models, Flags]:
    """The models of series that recur: runs with the same label are alike. And where they have enough runs for that.

    Every run is compared with the mean of the *others* that have its label, so a season is seen only where cycles
    agree with each other. A run whose label no other has is compared with all others.
    """
    past, following = labels[:-1], labels[-1]
    all_runs, overall = np.isfinite(values).sum(axis=0), np.nanmean(values, axis=0)
    others = (all_runs * overall - values) / (all_runs - 1)
    usual = np.broadcast_to(overall, values.shape).copy()
    expected = np.full(values.shape[1], np.nan)
    enough = np.zeros(values.shape[1], np.bool_)
    for label in np.unique(past):
        of_label = values[past == label]
        count, mean = np.isfinite(of_label).sum(axis=0), np.nanmean(of_label, axis=0)
        usual[past == label] = np.where(count > 1, mean, overall)
        others[past == label] = np.where(count > 1, (count * mean - of_label) / (count - 1), others[past == label])
        if label == following:
            expected, enough = mean, count >= MIN_CYCLES
    residuals = values - others
    enough &= np.isfinite(residuals).sum(axis=0) >= MIN_SEASONAL_STEPS
    left = values - usual
    level = np.array([expected, np.sqrt(np.nanmean(residuals**2, axis=0))])
    steps = _predict_by_steps(left, calendar.slots[:-1], calendar.horizon)
    return _Models(level, np.array([expected + steps[0], steps[1]])), enough


def _predictive_deviation(values: Floats) -> Floats:
    """The standard deviation of the next value from the mean of these, if all have the same distribution.

    The factor sqrt(1 + 1/n) accounts for the mean being an estimate.
    """
    count = np.isfinite(values).sum(axis=0)
    deviation: Floats = np.nanstd(values, axis=0, ddof=1) * np.sqrt(1 + 1 / count)
    return deviation


def _predict_by_steps(values: Floats, slots: Floats, horizon: float) -> Floats:
    """The next value and its deviation, if steps are like those so far: twice as far after twice as long.

    A step over a gap counts as the sum of as many steps as the gap is long. The deviation is that of the next value
    after `WIDEST_GAP` steps at most.
    """
    steps, lengths = _find_steps(values, slots)
    count = np.isfinite(steps).sum(axis=0)
    drift = np.nansum(steps, axis=0) / np.nansum(lengths, axis=0)
    deviation = np.sqrt(np.nansum((steps - drift * lengths) ** 2 / lengths, axis=0) / (count - 1))
    gap = min(horizon, WIDEST_GAP)
    return np.array([latest_values(values) + horizon * drift, deviation * np.sqrt(gap + gap**2 / count)])


def _find_steps(values: Floats, slots: Floats) -> tuple[Floats, Floats]:
    """For each value the step from the last one before it, and how long ago that was; NaN where there is none."""
    run = np.arange(len(values))[:, None]
    present = np.isfinite(values)
    last = np.maximum.accumulate(np.where(present, run, -1), axis=0)
    before = np.vstack([np.full((1, values.shape[1]), -1), last[:-1]])
    known = present & (before >= 0)
    start = np.where(known, before, 0)
    steps = np.where(known, values - np.take_along_axis(values, start, axis=0), np.nan)
    lengths = np.where(known, np.maximum(slots[run] - slots[start], 1.0), np.nan)
    return steps, lengths
