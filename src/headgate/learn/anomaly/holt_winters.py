"""Exponential smoothing with a trend and a season."""

from __future__ import annotations

import math
import warnings
from typing import Any, ClassVar

import msgspec
import numpy as np

from headgate.learn.anomaly.detector import Detector, PastValues, detector
from headgate.learn.anomaly.extra import import_extra
from headgate.learn.anomaly.parameters import check_flag, check_real, check_sides, check_whole
from headgate.learn.anomaly.regression import Regression, regress
from headgate.learn.anomaly.seasonality import find_period
from headgate.learn.anomaly.series import Ends, Floats, as_values, scale_of, too_few
from headgate.values.outcome import Undefined

_LEAST = 10
_EXACT = 1e-12  # of the series' own deviation: less than this between line and values is rounding


class HoltWintersForecast(msgspec.Struct, frozen=True):
    """The next value, how far one may lie from it, and how that was found.

    `deviation` is that of the difference between the forecast and the next value, with `freedom` degrees of freedom;
    `alpha`, `beta` and `gamma` smooth the level, the trend and the season. `converged` is false where the optimiser
    stopped early: its last parameters are used then, and the deviation is that of the residuals they left.
    """

    value: float
    deviation: float
    freedom: int
    period: int | None
    alpha: float = 0.0
    beta: float = 0.0
    gamma: float = 0.0
    converged: bool = True


@detector
class HoltWinters(Detector, frozen=True):
    """|x - forecast| <= t * deviation: additive Holt-Winters smoothing and Student's quantile for the confidence.

    level  l[i] = l[i-1] + b[i-1] + alpha e[i],  trend  b[i] = b[i-1] + alpha beta e[i],
    season s[i] = s[i-m] + gamma e[i],  where e[i] = x[i] - l[i-1] - b[i-1] - s[i-m]  (Winters 1960).
    It starts from the least-squares line and season; alpha, beta and gamma minimise the sum of e^2.

    The deviation is corrected for what was fitted: sum(e^2) is divided by n less the number of estimated numbers (start
    values and smoothing parameters), the forecast's own variance as a regression is added, and Student's t with those
    degrees of freedom takes the place of the normal quantile.

    `period=None` finds the period, or none; `period=1` is no season. Values before the first present one are dropped; a
    missing value in between is interpolated between its neighbours at the same place in the period, and its residual
    not counted; missing values at the end are forecast across. So the season stays in phase. It needs 3 periods and at
    least 10 values. A past incident moves the forecast: give it as missing.

    >>> print(HoltWinters(period=7).band([5.0, 5, 5, 5, 5, 1, 1] * 4))
    within 5..5
    """

    period: int | None = None
    trend: bool = True
    confidence: float = 0.99
    lower: bool = True
    upper: bool = True
    name: ClassVar = "holt_winters"
    always_shown: ClassVar = ("confidence",)

    def __post_init__(self) -> None:
        check_whole(self, "period", least=1)
        check_flag(self, "trend")
        check_real(self, "confidence", above=0.0, below=1.0)
        check_sides(self)

    def ends(self, values: Floats) -> Ends | Undefined:
        forecast = self._forecast_next(values)
        if isinstance(forecast, Undefined):
            return forecast
        tail = (1.0 - self.confidence) / (2 if self.lower and self.upper else 1)
        reach = forecast.deviation and forecast.deviation * -float(
            import_extra("scipy.special").stdtrit(forecast.freedom, tail)
        )
        return Ends(
            forecast.value - reach if self.lower else None,
            forecast.value + reach if self.upper else None,
            scale_of(values[~np.isnan(values)]),
        )

    def forecast(self, past: PastValues) -> HoltWintersForecast | Undefined:
        """The next value as the model sees it, with the parameters it found."""
        with np.errstate(all="ignore"):
            return self._forecast_next(as_values(past))

    def _forecast_next(self, values: Floats) -> HoltWintersForecast | Undefined:
        there = np.flatnonzero(~np.isnan(values))
        needed = max(_LEAST, 3 * (self.period or 1))
        if len(there) < needed:
            return too_few(needed, len(there))
        steps = len(values) - int(there[-1])
        values = values[there[0] : there[-1] + 1]
        period = self.period or find_period(values) or 1
        if np.isnan(values[(len(values) + steps - 1) % period :: period]).all():
            return Undefined(f"there is no value at this place in the period of {period}")
        scale = float(np.nanmax(np.abs(values))) or 1.0
        centre, spread = float(np.nanmean(values / scale)), float(np.nanstd(values / scale))
        if spread < 1e-15:
            return HoltWintersForecast(float(values[-1]), 0.0, len(there) - 1, None)
        found = _smooth_values((values / scale - centre) / spread, period, self.trend, steps)
        return msgspec.structs.replace(
            found, value=(found.value * spread + centre) * scale, deviation=found.deviation * spread * scale
        )


def _smooth_values(values: Floats, period: int, trend: bool, steps: int) -> HoltWintersForecast:
    """The forecast of values that have mean 0 and deviation 1, so many steps ahead."""
    line = regress(values, period, trend)
    there = ~np.isnan(values)
    season = None if period == 1 else period
    target = len(values) + steps - 1
    if np.abs(values - line.fitted)[there].max() < _EXACT:
        return HoltWintersForecast(line.predict_at(target), 0.0, int(there.sum()) - line.rank, season)
    fit = _fit_model(_fill_missing(values, period), line)
    alpha, beta, gamma = (
        _read_parameter(fit, name) for name in ("smoothing_level", "smoothing_trend", "smoothing_seasonal")
    )
    left = float(((values - fit.fittedvalues)[there] ** 2).sum())
    freedom = int(there.sum()) - line.rank - (1 + trend + (period > 1))
    ahead = np.arange(1, steps)
    grown = float(((alpha + alpha * beta * ahead + gamma * (ahead % period == 0)) ** 2).sum())
    return HoltWintersForecast(
        value=float(fit.forecast(steps)[-1]),
        deviation=math.sqrt(left / freedom * (1.0 + line.leverage(target) + grown)),
        freedom=freedom,
        period=season,
        alpha=alpha,
        beta=beta,
        gamma=gamma,
        converged=bool(fit.mle_retvals.success),
    )


def _fit_model(values: Floats, line: Regression) -> Any:
    """statsmodels' smoothing from the start that least squares give."""
    seasonal = len(line.season) > 1
    model = import_extra("statsmodels.tsa.holtwinters").ExponentialSmoothing(
        values,
        trend="add" if line.trend else None,
        seasonal="add" if seasonal else None,
        seasonal_periods=len(line.season) if seasonal else None,
        initialization_method="known",
        initial_level=line.level,
        initial_trend=line.slope if line.trend else None,
        initial_seasonal=line.season if seasonal else None,
    )
    with warnings.catch_warnings():
        # What it would warn of is said by `HoltWintersForecast.converged`.
        warnings.simplefilter("ignore", import_extra("statsmodels.tools.sm_exceptions").ConvergenceWarning)
        return model.fit()


def _read_parameter(fit: Any, name: str) -> float:
    value = float(fit.params.get(name, math.nan))
    return 0.0 if math.isnan(value) else value


def _fill_missing(values: Floats, period: int) -> Floats:
    """Missing values interpolated between present ones at the same place in the period.

    >>> _fill_missing(np.array([1.0, 5.0, np.nan, 6.0, 3.0, np.nan]), period=2)
    array([1., 5., 2., 6., 3., 6.])
    """
    filled = values.copy()
    for place in range(period):
        _interpolate_missing(filled[place::period])
    _interpolate_missing(filled)  # a place that has no value at all
    return filled


def _interpolate_missing(values: Floats) -> None:
    missing = np.isnan(values)
    if missing.any() and not missing.all():
        at = np.arange(len(values))
        values[missing] = np.interp(at[missing], at[~missing], values[~missing])
