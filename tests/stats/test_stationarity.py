"""The batched Dickey-Fuller test against statsmodels, and the differencing of AVH's Algorithm 5."""

from __future__ import annotations

import math
import warnings

import msgspec
import numpy as np
import pytest

from headgate.stats.stationarity import Transform, adf, lag_difference, log_lag_difference, make_stationary, stationary
from tests.timing import measure_least_seconds

stattools = pytest.importorskip("statsmodels.tsa.stattools")


def reference(values: np.ndarray) -> tuple[float, float, int]:
    """Statistic, p-value and lags of statsmodels; newer versions warn of the form in which they return them."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        statistic, pvalue, lags = stattools.adfuller(values)[:3]
    return float(statistic), float(pvalue), int(lags)


def drawn(kind: str, length: int, rng: np.random.Generator) -> np.ndarray:
    steps, time_steps = rng.normal(size=length), np.arange(length)
    match kind:
        case "noise":
            return steps
        case "walk":
            return steps.cumsum()
        case "autoregressive":
            return np.array([sum(0.7**back * steps[at - back] for back in range(at + 1)) for at in time_steps])
        case "trend":
            return 0.5 * time_steps + steps
        case "seasonal":
            return 10 * np.sin(2 * np.pi * time_steps / 7) + steps
        case "ties":
            return np.round(2 * steps)
        case "walk with ties":
            return np.round(3 * steps).cumsum()
        case "tiny":
            return 1e-7 * steps
        case "huge":
            return 1e9 * steps.cumsum()
        case "far from zero":
            return 1e6 + steps
    raise AssertionError(kind)


KINDS = (
    "noise",
    "walk",
    "autoregressive",
    "trend",
    "seasonal",
    "ties",
    "walk with ties",
    "tiny",
    "huge",
    "far from zero",
)


@pytest.mark.parametrize("kind", KINDS)
def test_the_test_is_what_statsmodels_computes(kind: str) -> None:
    rng = np.random.default_rng(KINDS.index(kind))
    for length in (7, 8, 9, 12, 20, 30, 31, 60, 100):
        series = np.array([drawn(kind, length, rng) for _ in range(5)])
        found = adf(series)
        statistic, pvalue, lags = np.array([reference(values) for values in series]).T
        assert found.lags.tolist() == lags.tolist()
        np.testing.assert_allclose(found.statistic, statistic, rtol=1e-6, atol=1e-6)
        np.testing.assert_allclose(found.pvalue, pvalue, rtol=0, atol=1e-6)


def test_pvalues_far_out_are_zero_and_one() -> None:
    rng = np.random.default_rng(0)
    returning = np.r_[1e4, rng.normal(size=99)]
    explosive = 1.3 ** np.arange(100) * (1 + 1e-3 * rng.normal(size=100))
    for values, expected in ((returning, 0.0), (explosive, 1.0)):
        assert reference(values)[1] == expected
        assert adf(values).pvalue.tolist() == [expected]


def test_a_series_is_tested_alike_alone_and_among_thousands() -> None:
    series = np.random.default_rng(0).normal(size=(5_000, 15)).cumsum(axis=1)
    together = adf(series)
    for row in (0, 2_047, 2_048, 4_999):
        alone = adf(series[row])
        assert alone.lags[0] == together.lags[row]
        assert alone.statistic[0] == pytest.approx(together.statistic[row], rel=1e-12)


@pytest.mark.parametrize("scale", [1e-300, 1e-30, 1.0, 1e30, 1e300])
def test_the_scale_does_not_matter(scale: float) -> None:
    series = np.random.default_rng(0).normal(size=(20, 30)).cumsum(axis=1)
    np.testing.assert_allclose(adf(scale * series).statistic, adf(series).statistic, rtol=1e-9)


def test_what_cannot_be_tested_has_no_pvalue() -> None:
    noise = np.random.default_rng(0).normal(size=10)
    gap, infinite = noise.copy(), noise.copy()
    gap[3], infinite[3] = np.nan, np.inf
    found = adf(np.array([np.full(10, 5.0), gap, infinite, noise]))
    assert np.isnan(found.pvalue).tolist() == [True, True, True, False]
    assert found.lags[:3].tolist() == [-1, -1, -1]
    for length in range(4):
        assert np.isnan(adf(np.arange(float(length))).pvalue).all()
    assert np.isfinite(adf(np.array([1.0, 3.0, 2.0, 2.5])).pvalue).all()


def test_of_no_series_there_are_no_tests() -> None:
    assert len(adf(np.empty((0, 30))).pvalue) == 0
    assert make_stationary(np.empty((0, 30))) == []


def test_a_series_that_fits_exactly_is_told_from_rounding() -> None:
    line, zigzag, jump = np.arange(30.0) / 10, np.tile([1.0, 2.0, 3.0], 10), np.r_[np.full(29, 5.0), 6.0]
    found = adf(np.array([line, zigzag, jump]))
    assert np.isnan(found.pvalue).tolist() == [True, False, True]
    assert found.pvalue[1] == 0.0


def test_a_constant_series_is_stationary_and_a_broken_one_is_not() -> None:
    assert stationary(np.array([[2.0] * 10, [np.nan] * 10])).tolist() == [True, False]
    assert make_stationary(np.array([[2.0] * 10, [np.nan] * 10])) == [Transform(), None]


def test_differences_are_taken_along_the_last_axis() -> None:
    series = np.array([[1.0, 2.0, 4.0, 8.0], [1.0, 0.0, 4.0, 8.0]])
    assert lag_difference(series, 1).tolist() == [[1.0, 2.0, 4.0], [-1.0, 4.0, 4.0]]
    assert lag_difference(series, 0) is series
    assert lag_difference(series, 4).shape == (2, 0)
    logs = log_lag_difference(series, 2)
    np.testing.assert_allclose(logs[0], [math.log(4)] * 2)
    assert np.isnan(logs[1]).all()
    with pytest.raises(ValueError, match="not below 0"):
        lag_difference(series, -1)


@pytest.mark.parametrize(
    "transform", [Transform(), Transform(3), Transform(1, log=True), Transform(0, log=True)], ids=str
)
def test_a_restored_range_holds_the_value_it_came_from(transform: Transform) -> None:
    values = np.random.default_rng(0).uniform(1, 100, 20)
    last = float(transform.apply(values)[-1])
    low, high = transform.invert_range((last - 0.5, last + 0.5), values[:-1])
    assert low < values[-1] < high
    assert transform.invert_range((last, last), values[:-1]) == pytest.approx((values[-1], values[-1]))


def test_ranges_that_cannot_be_restored_say_so() -> None:
    assert np.isnan(Transform(1, log=True).invert_range((0.0, 1.0), [5.0, 0.0])).all()
    assert Transform(1, log=True).invert_range((-1e9, 1e9), [5.0]) == (0.0, math.inf)
    with pytest.raises(ValueError, match="needs as many past values; there are 2"):
        Transform(3).invert_range((0.0, 1.0), [1.0, 2.0])


def test_a_transform_is_stored_and_read_again() -> None:
    for transform in (Transform(), Transform(7), Transform(1, log=True)):
        assert msgspec.json.decode(msgspec.json.encode(transform), type=Transform) == transform


def algorithm_5(values: np.ndarray, level: float = 0.05) -> Transform | None:
    """The paper's pseudocode, one series, with the test of statsmodels."""

    def passes(series: np.ndarray) -> bool:
        return bool(np.isfinite(series).all()) and (np.ptp(series) == 0 or reference(series)[1] < level)

    lags = range(1, len(values) - 3)
    candidates = [Transform(), *map(Transform, lags), *(Transform(lag, log=True) for lag in lags)]
    return next((each for each in candidates if passes(each.apply(values))), None)


def test_the_differencing_is_that_of_the_paper() -> None:
    rng = np.random.default_rng(3)
    kinds = ("noise", "walk", "trend", "seasonal", "walk with ties")
    series = [drawn(kind, 16, rng) for kind in kinds for _ in range(8)]
    series += [np.exp(0.5 * np.arange(16) + 0.3 * drawn("walk", 16, rng)) for _ in range(40)]
    found = make_stationary(np.array(series))
    assert found == [algorithm_5(values) for values in series]
    assert {None, Transform(), Transform(1)} <= set(found)
    assert any(transform and transform.log for transform in found)


def test_growth_and_weeks_are_differenced_away() -> None:
    rng, days = np.random.default_rng(0), np.arange(60)
    week = np.array([0.0, 40.0, -25.0, 60.0, 10.0, -70.0, -90.0])[days % 7]
    growing = 1e5 + 1e3 * days + 100 * rng.normal(size=60)
    assert make_stationary(growing) == [Transform(1)]
    rounded = 0.1 * days  # its differences vary by rounding only
    assert make_stationary(rounded) == [Transform(1)]
    assert make_stationary(2.0**days) == [Transform(1, log=True)]
    assert Transform(7).apply(week).tolist() == [0.0] * 53


@pytest.mark.parametrize("length", [0, 1, 2, 3])
def test_too_few_values_make_nothing_stationary(length: int) -> None:
    assert make_stationary(np.arange(float(length))[None]) == [Transform() if length < 2 else None]


def test_thousands_of_series_take_seconds() -> None:
    walks = np.random.default_rng(0).normal(size=(6_000, 30)).cumsum(axis=1)
    assert measure_least_seconds(lambda: adf(walks), 1.0) < 1.0
    assert measure_least_seconds(lambda: make_stationary(walks), 4.0) < 4.0
