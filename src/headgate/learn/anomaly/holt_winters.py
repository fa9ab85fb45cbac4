"""Detects values far from a forecast by exponential smoothing with a trend and a season."""

from __future__ import annotations

import math
import warnings
from typing import Any, ClassVar

import msgspec
import numpy as np

from headgate.learn.anomaly.detector import Detector, PastValues, detector
from headgate.learn.anomaly.extra import import_statistics
from headgate.learn.anomaly.parameters import check_flag, check_real, check_sides, check_whole
from headgate.learn.anomaly.regression import Regression, regress
from headgate.learn.anomaly.seasonality import find_period
from headgate.learn.anomaly.series import Ends, Floats, as_values, scale_of, too_few
from headgate.values.outcome import Undefined

_MIN_VALUES = 10
_EXACT = 1e-12  # in units of the series' deviation: a smaller difference between line and values is rounding


class HoltWintersForecast(msgspec.Struct, frozen=True):
    """The forecast of the next value, its standard deviation, and the parameters of the model.

    `deviation` is the standard deviation of the difference between the forecast and the next value, with `freedom`
    degrees of freedom. `alpha`, `beta` and `gamma` smooth the level, the trend and the season. `converged` is false if
    the optimiser stopped early: its last parameters are used, and the deviation follows from their residuals.
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
    """|x - forecast| <= t * deviation, with additive Holt-Winters smoothing and Student's t for the confidence.

    level  l[i] = l[i-1] + b[i-1] + alpha e[i],  trend  b[i] = b[i-1] + alpha beta e[i],
    season s[i] = s[i-m] + gamma e[i],  where e[i] = x[i] - l[i-1] - b[i-1] - s[i-m]  (Winters 1960).
    It starts from the least-squares line and season; alpha, beta and gamma minimise the sum of e^2.

    The deviation is corrected for the fit. sum(e^2) is divided by n less the number of estimated parameters (start
    values and smoothing parameters), the variance of the forecast as a regression is added, and Student's t with those
    degrees of freedom replaces the normal quantile.

    Missing values before the first value are dropped. A missing value in between is interpolated from its neighbours
    at the same position in the period, and its residual is not counted. Missing values at the end are forecast across.
    So the season stays in phase. The detector needs 3 periods and at least 10 values. A past anomaly moves the
    forecast: pass it as missing.

    Args:
        period: The length of the season in values; 1 for no season, None to detect it.
        trend: Whether the series may have a trend.
        confidence: The share of next values that lie inside the band.
        lower: Whether a value may be too low.
        upper: Whether a value may be too high.

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
            import_statistics("scipy.special").stdtrit(forecast.freedom, tail)
        )
        return Ends(
            forecast.value - reach if self.lower else None,
            forecast.value + reach if self.upper else None,
            scale_of(values[~np.isnan(values)]),
        )

    def forecast(self, past: PastValues) -> HoltWintersForecast | Undefined:
        """The forecast of the value after these, with the parameters of the model."""
        with np.errstate(all="ignore"):
            return self._forecast_next(as_values(past))

    def _forecast_next(self, values: Floats) -> HoltWintersForecast | Undefined:
        present = np.flatnonzero(~np.isnan(values))
        needed = max(_MIN_VALUES, 3 * (self.period or 1))
        if len(present) < needed:
            return too_few(needed, len(present))
        steps = len(values) - int(present[-1])
        values = values[present[0] : present[-1] + 1]
        period = self.period or find_period(values) or 1
        if np.isnan(values[(len(values) + steps - 1) % period :: period]).all():
            return Undefined(f"there is no value at this place in the period of {period}")
        scale = float(np.nanmax(np.abs(values))) or 1.0
        centre, spread = float(np.nanmean(values / scale)), float(np.nanstd(values / scale))
        if spread < 1e-15:
            return HoltWintersForecast(float(values[-1]), 0.0, len(present) - 1, None)
        forecast = _smooth_values((values / scale - centre) / spread, period, self.trend, steps)
        value, deviation = (forecast.value * spread + centre) * scale, forecast.deviation * spread * scale
        return msgspec.structs.replace(forecast, value=value, deviation=deviation)


def _smooth_values(values: Floats, period: int, trend: bool, steps: int) -> HoltWintersForecast:
    """The forecast `steps` ahead, for values with mean 0 and deviation 1."""
    line = regress(values, period, trend)
    present = ~np.isnan(values)
    season = None if period == 1 else period
    target = len(values) + steps - 1
    if np.abs(values - line.fitted)[present].max() < _EXACT:
        return HoltWintersForecast(line.predict_at(target), 0.0, int(present.sum()) - line.rank, season)
    fit = _fit_model(_fill_missing(values, period), line)
    alpha, beta, gamma = (
        _read_parameter(fit, name) for name in ("smoothing_level", "smoothing_trend", "smoothing_seasonal")
    )
    residuals = float(((values - fit.fittedvalues)[present] ** 2).sum())
    freedom = int(present.sum()) - line.rank - (1 + trend + (period > 1))
    # Each step ahead adds the squared weight of its error in the forecast, in units of the residuals' variance.
    ahead = np.arange(1, steps)
    growth = float(((alpha + alpha * beta * ahead + gamma * (ahead % period == 0)) ** 2).sum())
    return HoltWintersForecast(
        value=float(fit.forecast(steps)[-1]),
        deviation=math.sqrt(residuals / freedom * (1.0 + line.leverage(target) + growth)),
        freedom=freedom,
        period=season,
        alpha=alpha,
        beta=beta,
        gamma=gamma,
        converged=bool(fit.mle_retvals.success),
    )


def _fit_model(values: Floats, line: Regression) -> Any:
    """Fit the smoothing model of statsmodels, from the start values of the least-squares line."""
    seasonal = len(line.season) > 1
    model = import_statistics("statsmodels.tsa.holtwinters").ExponentialSmoothing(
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
        # `HoltWintersForecast.converged` reports what the warning would.
        warnings.simplefilter("ignore", import_statistics("statsmodels.tools.sm_exceptions").ConvergenceWarning)
        return model.fit()


def _read_parameter(fit: Any, name: str) -> float:
    value = float(fit.params.get(name, math.nan))
    return 0.0 if math.isnan(value) else value


def _fill_missing(values: Floats, period: int) -> Floats:
    """Interpolate missing values between present ones at the same position in the period.

    >>> _fill_missing(np.array([1.0, 5.0, np.nan, 6.0, 3.0, np.nan]), period=2)
    array([1., 5., 2., 6., 3., 6.])
    """
    filled = values.copy()
    for phase in range(period):
        _interpolate_missing(filled[phase::period])
    _interpolate_missing(filled)  # positions of the period without any value are still missing
    return filled


def _interpolate_missing(values: Floats) -> None:
    missing = np.isnan(values)
    if missing.any() and not missing.all():
        positions = np.arange(len(values))
        values[missing] = np.interp(positions[missing], positions[~missing], values[~missing])
