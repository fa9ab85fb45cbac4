"""Forecasts against plain definitions, one series at a time."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headgate.learn.history.bounds import FiniteSampleBounds
from headgate.learn.history.forecast import MIN_RUNS, Floats, Forecast, forecast_next, natural_scale
from headgate.learn.issue_effects import AppliedEffect
from headgate.learn.pooled_rates import load_pooled_rates
from headgate.values.predicate import Between, OneOf
from headgate.values.schema import Kind
from tests.learn.histories import past_of, traits

SHARE, DISTANCE, ROWS = traits("completeness(x)"), traits("ks_dist(x)"), traits("size()")
numbers = st.one_of(
    st.sampled_from([0.0, 1.0, 0.1, math.nan, math.inf, -math.inf, 5e-324, 1e100]),
    st.floats(-10.0, 10.0),
    st.floats(-1e100, 1e100),
)
series = st.one_of(st.lists(numbers, min_size=1, max_size=35), st.lists(st.floats(-9, 9), min_size=7, max_size=35))


class Plain(NamedTuple):
    """The two models of one series, each a centre and a scale, and its lag."""

    first: tuple[float, float]
    second: tuple[float, float]
    lag: int


def model(values: list[float], start: float) -> tuple[float, float]:
    there = [each for each in values if not math.isnan(each)]
    if len(there) < 2:
        return math.nan, math.nan
    return start + float(np.mean(there)), float(np.std(there, ddof=1)) * math.sqrt(1 + 1 / len(there))


def steps(values: list[float], back: int) -> list[float]:
    return [after - before for before, after in zip(values, values[back:], strict=False)]


def plainly(values: list[float], noise_floor: float, one_sided: bool = False) -> Plain:
    """Level, else trend, else the season whose steps scatter clearly less than what was best before."""
    last = [each for each in values if not math.isnan(each)][-1]
    level, step = model(values, 0.0), model(steps(values, 1), last)
    first, second, lag = level, step, 0
    if one_sided:
        second = level
    elif level[1] > 2 * step[1]:
        first, lag = step, 1
    for back in range(2, len(values) // 3 + 1):
        found = steps(values, back)
        if one_sided or sum(not math.isnan(each) for each in found) < 8:
            continue
        season = model(found, values[-back])
        if not math.isnan(season[0]) and season[1] < 0.6 * min(first[1], second[1]):
            first = second = season
            lag = back
    return Plain((first[0], math.hypot(first[1], noise_floor)), (second[0], math.hypot(second[1], noise_floor)), lag)


def one(values: Floats | list[float], what: object = SHARE) -> Forecast:
    return forecast_next(np.array(values, np.float64)[:, None], [what])  # type: ignore[list-item]


def a_series(seed: int) -> list[float]:
    """Noise, a walk, a line, weeks, or several of them, in places missing."""
    random = np.random.default_rng(seed)
    runs = int(random.integers(7, 40))
    days = np.arange(runs)
    values = random.normal(size=runs) * random.choice([0.1, 1.0])
    values += random.choice([0.0, 1.0]) * days + random.choice([0.0, 5.0]) * np.isin(days % 7, (5, 6))
    if random.random() < 0.3:
        values = np.cumsum(values)
    if random.random() < 0.3:
        values[random.integers(0, runs - 1, size=runs // 8)] = np.nan
    return [float(each) for each in values]


@pytest.mark.parametrize("seed", range(150))
def test_a_forecast_is_what_the_definitions_say(seed: int) -> None:
    values = a_series(seed)
    one_sided = seed % 5 == 0
    made, expected = one(values, DISTANCE if one_sided else SHARE), plainly(values, 0.01, one_sided)
    if sum(not math.isnan(each) for each in values) < MIN_RUNS:
        assert np.isnan(made.centre).all()
        return
    models = [(expected.first, 0), (expected.second, 1)]
    for (centre, scale), at in models:
        assert made.centre[at, 0] == pytest.approx(centre, rel=1e-9, abs=1e-9, nan_ok=True)
        assert made.scale[at, 0] == pytest.approx(scale, rel=1e-9)
    assert made.lag[0] == expected.lag


def test_many_series_at_once_are_each_as_alone() -> None:
    values = np.random.default_rng(1).normal(size=(20, 6)).cumsum(axis=0)
    whole = forecast_next(values, [SHARE] * 6)
    for at in range(6):
        alone = one(values[:, at])
        np.testing.assert_allclose(whole.centre[:, at], alone.centre[:, 0])
        np.testing.assert_allclose(whole.scale[:, at], alone.scale[:, 0])


def test_noise_around_a_level_is_a_level() -> None:
    made = one(np.random.default_rng(4).normal(100, 1, 30), ROWS)
    assert made.lag[0] == 0
    assert made.centre[0, 0] == pytest.approx(100, abs=1)


def test_a_line_with_noise_is_a_trend_and_goes_on() -> None:
    made = one(10.0 * np.arange(30) + np.random.default_rng(4).normal(0, 1, 30))
    assert made.lag[0] == 1
    assert made.centre[:, 0] == pytest.approx([300, 300], abs=6)


@pytest.mark.parametrize("missing", [0, 1, 2, 3])
def test_a_week_is_recognised_and_the_same_day_of_it_comes_next(missing: int) -> None:
    days = np.arange(30 - missing)
    values = np.where(np.isin(days % 7, (5, 6)), 40.0, 100.0) + np.random.default_rng(4).normal(0, 1, len(days))
    made = one(values)
    assert made.lag[0] % 7 == 0
    assert made.lag[0] > 0
    assert made.centre[0, 0] == pytest.approx(40 if len(days) % 7 in (5, 6) else 100, abs=5)


def test_a_week_with_a_missing_day_still_has_a_forecast() -> None:
    days = np.arange(35)
    values = np.where(np.isin(days % 7, (5, 6)), 40.0, 100.0) + np.random.default_rng(4).normal(0, 1, 35)
    values[-7] = np.nan
    assert np.isfinite(one(values).centre).all()


def test_a_constant_is_expected_again_with_the_grain_alone() -> None:
    made = one([1.0] * 9)
    assert made.constant[0]
    assert made.centre[:, 0].tolist() == [1.0, 1.0]
    assert made.scale[:, 0].tolist() == [0.01, 0.01]
    assert made.lag[0] == 0


def test_a_single_other_value_is_no_constant() -> None:
    assert not one([1.0] * 9 + [1.0 + 1e-12]).constant[0]


@pytest.mark.parametrize("runs", range(1, MIN_RUNS))
def test_of_too_few_runs_nothing_is_said(runs: int) -> None:
    made = one([1.0, 2.0, 3.0, 4.0, 5.0, 6.0][:runs])
    assert np.isnan(made.centre).all()
    assert not made.surprise(np.array([1e9])) > 0
    assert not made.constant[0]


def test_without_a_forecast_the_surprise_is_unknown() -> None:
    assert math.isnan(one([1.0, 2.0]).surprise(np.array([1e9]))[0])


def test_missing_values_do_not_count_as_runs() -> None:
    values = [1.0, math.nan, 1.1, 0.9, 1.0, math.nan, 1.2, 1.1]
    assert one(values).runs[0] == 6
    assert np.isnan(one(values).centre).all()


def test_a_series_with_an_infinite_value_says_nothing() -> None:
    made = one([*np.random.default_rng(0).normal(size=20), math.inf])
    assert np.isnan(made.band(3.0)).all()
    assert not made.surprise(np.array([1e9])) > 0


@pytest.mark.parametrize("seed", range(30))
@pytest.mark.parametrize("reach", [0.1, 3.0, 1e4])
def test_the_ends_of_a_band_surprise_by_its_reach(seed: int, reach: float) -> None:
    made = one(np.random.default_rng(seed).normal(size=20).cumsum(), SHARE)
    low, high = made.band(reach)
    assert made.surprise(low)[0] == pytest.approx(reach, rel=1e-6)
    assert made.surprise(high)[0] == pytest.approx(reach, rel=1e-6)
    assert made.surprise(high + made.scale.min())[0] > reach
    assert made.surprise((low + high) / 2)[0] <= reach


def test_a_band_is_the_hull_of_the_bands_of_both_models() -> None:
    flat = np.zeros(1, np.bool_)
    made = Forecast(np.array([[0.0], [10.0]]), np.array([[1.0], [2.0]]), flat, np.array([9]), np.array([0]), flat)
    low, high = made.band(3.0)
    assert (low[0], high[0]) == (-3.0, 16.0)
    surprise = made.surprise(np.array([[-3.0], [5.0], [16.0], [20.0]]))[:, 0]
    assert surprise.tolist() == [3.0, 0.0, 3.0, 5.0]


def test_a_distance_surprises_only_when_it_is_large() -> None:
    made = one([0.1, 0.12, 0.11, 0.1, 0.13, 0.12, 0.1, 0.11], DISTANCE)
    assert made.band(3.0)[0][0] == -math.inf
    assert made.surprise(np.array([-5.0]))[0] == 0.0
    assert made.surprise(np.array([0.9]))[0] > 3.0


def test_no_value_is_no_surprise_but_unknown() -> None:
    assert math.isnan(one([1.0] * 9).surprise(np.array([math.nan]))[0])


@settings(max_examples=300, deadline=None)
@given(series, st.sampled_from([SHARE, DISTANCE, ROWS]), st.floats(1e-6, 1e5))
def test_a_band_has_two_ends_in_order_or_none_at_all(values: list[float], what: object, reach: float) -> None:
    made = one(values, what)
    low, high = (float(end[0]) for end in made.band(reach))
    known = np.isfinite(made.centre).all()
    assert np.isfinite(made.scale).all() or not known
    if known:
        assert (made.scale > 0).all()
        assert low <= high
    elif what is not DISTANCE:
        assert math.isnan(low)


@settings(max_examples=200, deadline=None)
@given(series, st.sampled_from(["completeness(x)", "ks_dist(x)", "size()", "mean(x)", "max(x)"]), numbers)
def test_nothing_that_is_not_a_number_ever_becomes_a_threshold(
    values: list[float], name: str, broken_value: float
) -> None:
    past = past_of({name: values}, Kind.FLOAT)
    effects = [AppliedEffect("x", ("issue", "other"), np.array([0]), np.array([[broken_value], [1e9]]))]
    for each in FiniteSampleBounds(load_pooled_rates()).propose_bands(past, effects):
        predicate = each.expectation.predicate
        assert isinstance(predicate, Between | OneOf)
        ends = [end for end in (predicate.floor, predicate.ceiling) if end is not None]
        assert ends
        assert all(map(math.isfinite, ends))
        assert 0 < each.cost < 1


def test_the_largest_numbers_raise_no_warning() -> None:
    made = one([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, math.nan, 0.0, -1.7e308, 0.0], ROWS)
    made.band(1_000.0)


def test_the_natural_scale_of_a_share_is_one_and_of_a_count_its_size() -> None:
    values = np.array([[0.5, 1_000.0], [0.5, 1_000.0]])
    assert natural_scale(values, [SHARE, ROWS]).tolist() == [1.0, 1_000.0]


def test_the_natural_scale_of_a_place_is_the_deviation_of_its_column_where_that_is_more() -> None:
    what = [traits("mean(x)", Kind.FLOAT), traits("stddev(x)", Kind.FLOAT)]
    assert natural_scale(np.array([[0.1, 50.0]]), what)[0] == 50.0
    assert natural_scale(np.array([[1_000.0, 50.0]]), what)[0] == 1_000.0


def test_the_natural_scale_of_a_moment_is_a_day_at_least() -> None:
    what = [traits("max(x)", Kind.TIMESTAMP), traits("range(x)", Kind.TIMESTAMP)]
    assert natural_scale(np.array([[1.7e9, 60.0]]), what)[0] == 86_400.0
    assert natural_scale(np.array([[1.7e9, 1e6]]), what)[0] == 1e6
