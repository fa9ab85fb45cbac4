"""Holt-Winters smoothing: its formulas, its interval, missing values, and what it does when the optimiser gives up."""

from __future__ import annotations

import math
import sys

import numpy as np
import pytest
from scipy import stats
from statsmodels.tsa.holtwinters import ExponentialSmoothing

from headgate.learn.anomaly.holt_winters import HoltWinters, HoltWintersForecast
from headgate.learn.anomaly.online_normal import OnlineNormal
from headgate.learn.anomaly.regression import regress
from headgate.values.errors import MisuseError
from headgate.values.outcome import Undefined
from headgate.values.predicate import Between
from tests.learn.anomaly.examples import WEEK, noise, weekly


def forecast(each: HoltWinters, past: object) -> HoltWintersForecast:
    found = each.forecast(past)  # type: ignore[arg-type]
    assert isinstance(found, HoltWintersForecast)
    return found


def test_a_working_day_that_looks_like_a_sunday_is_flagged_and_hidden_to_a_plain_mean() -> None:
    values = 100.0 + 2.0 * WEEK[np.arange(63) % 7] + noise(11, 63)
    values[58] = 92.0  # a Wednesday
    assert HoltWinters(period=7).find_anomalies(values) == (58,)
    assert HoltWinters().find_anomalies(values) == (58,)
    assert OnlineNormal(warm_up=14).find_anomalies(values) == ()


@pytest.mark.parametrize("seed", range(5))
def test_the_forecast_is_that_of_the_formulas_with_the_found_parameters(seed: int) -> None:
    values = weekly(seed, 70) + noise(seed, 70).cumsum()
    found = forecast(HoltWinters(period=7), values)
    start = regress(values, 7, trend=True)
    level, slope, season = start.level, start.slope, list(start.season)
    errors = []
    for at, value in enumerate(values):
        error = value - level - slope - season[at % 7]
        level, slope = level + slope + found.alpha * error, slope + found.alpha * found.beta * error
        season[at % 7] += found.gamma * error
        errors.append(error)
    assert found.alpha > 0.1
    assert found.value == pytest.approx(level + slope + season[70 % 7], rel=1e-9)
    assert found.freedom == 70 - (1 + 1 + 6) - 3
    spread = np.sum(np.square(errors)) / found.freedom * (1.0 + start.leverage(70))
    assert found.deviation == pytest.approx(math.sqrt(spread), rel=1e-6)


def test_the_band_is_students_interval_around_the_forecast() -> None:
    values = weekly(1, 50)
    found = forecast(HoltWinters(), values)
    reach = stats.t.ppf(0.995, found.freedom) * found.deviation
    band = HoltWinters().band(values)
    assert isinstance(band, Between)
    assert (band.low, band.high) == (pytest.approx(found.value - reach), pytest.approx(found.value + reach))
    above = HoltWinters(lower=False).band(values)
    assert isinstance(above, Between)
    assert above.low is None
    assert above.high == pytest.approx(found.value + stats.t.ppf(0.99, found.freedom) * found.deviation)


@pytest.mark.parametrize("ahead", [1, 2, 5])
def test_missing_values_at_the_end_are_forecast_across_and_the_season_stays_in_phase(ahead: int) -> None:
    values = np.tile([5.0, 5.0, 5.0, 5.0, 5.0, 1.0, 1.0], 8) + 0.01 * noise(1, 56)
    for end in range(42, 49):
        cut = np.concatenate([values[:end], [np.nan] * (ahead - 1)])
        found = forecast(HoltWinters(period=7), cut)
        assert found.value == pytest.approx(values[end + ahead - 1], abs=0.1)


def test_the_interval_grows_across_missing_values() -> None:
    walk = noise(4, 80).cumsum()
    near, far = (forecast(HoltWinters(period=1), [*walk, *gap]) for gap in ([], [math.nan] * 10))
    # A random walk's variance grows by one step's for every step.
    assert far.deviation / near.deviation == pytest.approx(math.sqrt(11.0), rel=0.25)


def test_missing_values_in_between_keep_the_season_in_phase() -> None:
    values = weekly(5, 70)
    gaps = values.copy()
    gaps[[8, 20, 21, 22, 40, 55]] = math.nan
    whole, found = forecast(HoltWinters(), values), forecast(HoltWinters(), gaps)
    assert found.period == 7
    assert found.freedom == whole.freedom - 6
    assert found.value == pytest.approx(whole.value, abs=0.5)
    shifted = forecast(HoltWinters(period=7), values[~np.isnan(gaps)])
    assert shifted.deviation > 1.3 * found.deviation


def test_values_missing_at_the_start_do_not_count() -> None:
    values = weekly(6, 40)
    assert HoltWinters().band([math.nan, math.inf, math.nan, *values]) == HoltWinters().band(values)


def test_a_day_that_never_has_values_is_not_forecast() -> None:
    values = np.tile([5.0, 6.0, 7.0, 5.0, 4.0, 1.0, math.nan], 6) + 0.1 * noise(7, 42)
    assert isinstance(HoltWinters(period=7).band(values), Between)
    sunday = HoltWinters(period=7).band(values[:41])
    assert isinstance(sunday, Undefined)
    assert sunday.why == "there is no value at this place in the period of 7"


def test_a_season_without_noise_is_a_band_of_one_value() -> None:
    values = [5.0, 5.5, 5.0, 5.0, 5.0, 1.0, 1.0] * 4
    band = HoltWinters().band(values)
    assert isinstance(band, Between)
    assert band.low == pytest.approx(5.0, abs=1e-12)
    assert band.high == pytest.approx(5.0, abs=1e-12)
    assert band.holds(5.0)


@pytest.mark.parametrize("power", [-290, -9, 0, 9, 290])
def test_the_unit_of_a_metric_does_not_matter(power: int) -> None:
    values = weekly(8, 40)
    one, other = forecast(HoltWinters(), values), forecast(HoltWinters(), values * 10.0**power)
    assert other.value / 10.0**power == pytest.approx(one.value, rel=1e-4)
    assert other.deviation / 10.0**power == pytest.approx(one.deviation, rel=1e-3)


def test_without_convergence_the_interval_is_that_of_the_residuals_left(monkeypatch: pytest.MonkeyPatch) -> None:
    original = ExponentialSmoothing.fit
    values = weekly(9, 60) + 0.5 * noise(9, 60).cumsum()
    good = forecast(HoltWinters(), values)

    def hurried(self: ExponentialSmoothing) -> object:
        return original(self, use_brute=False, minimize_kwargs={"options": {"maxiter": 1}})

    monkeypatch.setattr(ExponentialSmoothing, "fit", hurried)
    found = forecast(HoltWinters(), values)
    assert good.converged
    assert not found.converged
    assert found.deviation > good.deviation
    assert isinstance(HoltWinters().band(values), Between)


def test_without_statsmodels_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "statsmodels.tsa.holtwinters", None)
    with pytest.raises(MisuseError, match="needs statsmodels") as trouble:
        HoltWinters(period=7).band(weekly(0, 40))
    assert trouble.value.hint == 'pip install "headgate[learn]"'


def test_a_given_period_needs_three_of_it() -> None:
    assert HoltWinters(period=12).band([1.0] * 35) == Undefined("needs 36 values, there are 35")
    assert HoltWinters().band([1.0] * 9) == Undefined("needs 10 values, there are 9")


def test_false_alarms_on_weekly_series_stay_below_the_stated_rate() -> None:
    """Of 200, at most 5: were the rate 1%, more would come in 1.6% of such tests. docs/methods/series.md has more."""
    alarms = 0
    for seed in range(200):
        values = weekly(seed, 61)
        band = HoltWinters(confidence=0.99).band(values[:-1])
        assert isinstance(band, Between)
        alarms += not band.holds(values[-1])
    assert alarms <= 5
