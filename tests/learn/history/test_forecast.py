"""Forecasts against plain definitions, one series at a time."""

from __future__ import annotations

import datetime
import itertools
import math
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headgate.learn.calendar import Calendar
from headgate.learn.history.forecast import MIN_RUNS, WIDEST_GAP, Floats, Forecast, forecast_next
from headgate.learn.history.noise import SHARE_FLOOR
from tests.learn.histories import traits

SHARE, DISTANCE, ROWS = traits("completeness(x)"), traits("ks_dist(x)"), traits("size()")
numbers = st.one_of(
    st.sampled_from([0.0, 1.0, 0.1, math.nan, math.inf, -math.inf, 5e-324, 1e100]),
    st.floats(-10.0, 10.0),
    st.floats(-1e100, 1e100),
)
series = st.one_of(st.lists(numbers, min_size=1, max_size=35), st.lists(st.floats(-9, 9), min_size=7, max_size=35))


Model = tuple[float, float]


class Plain(NamedTuple):
    """The two models of one series, each a centre and a scale; whether it has a trend, and its season."""

    first: Model
    second: Model
    trend: bool
    season: int


def level(values: list[float]) -> Model:
    there = [each for each in values if not math.isnan(each)]
    if len(there) < 2:
        return math.nan, math.nan
    return float(np.mean(there)), float(np.std(there, ddof=1)) * math.sqrt(1 + 1 / len(there))


def steps(values: list[float], slots: list[float], horizon: float) -> Model:
    """Steps per slot: their mean is the drift, and what is left of each, per slot, the deviation."""
    there = [(slot, each) for slot, each in zip(slots, values, strict=False) if not math.isnan(each)]
    moves = [(after[1] - before[1], after[0] - before[0]) for before, after in itertools.pairwise(there)]
    if len(moves) < 2:
        return math.nan, math.nan
    drift = sum(move for move, _ in moves) / sum(length for _, length in moves)
    squares = sum((move - drift * length) ** 2 / length for move, length in moves) / (len(moves) - 1)
    return there[-1][1] + horizon * drift, math.sqrt(squares * (horizon + horizon**2 / len(moves)))


def seasonal(values: list[float], labels: list[int], slots: list[float], horizon: float) -> tuple[Model, Model] | None:
    """Each value is compared with the others of its label, of which there are enough."""
    *past, following = labels
    of_label = {
        label: [each for at, each in zip(past, values, strict=True) if at == label and not math.isnan(each)]
        for label in past
    }
    every = [each for each in values if not math.isnan(each)]
    usual = {label: float(np.mean(each if len(each) > 1 else every)) for label, each in of_label.items()}
    gaps = []
    for label, each in zip(past, values, strict=True):
        if not math.isnan(each):
            others = [*of_label[label]] if len(of_label[label]) > 1 else [*every]
            others.remove(each)
            gaps.append(each - float(np.mean(others)))
    if len(gaps) < 8 or len(of_label.get(following, [])) < 3:
        return None
    expected = float(np.mean(of_label[following]))
    left = [each - usual[label] if not math.isnan(each) else math.nan for label, each in zip(past, values, strict=True)]
    centre, scale = steps(left, slots, horizon)
    return (expected, math.sqrt(np.mean(np.square(gaps)))), (expected + centre, scale)


def plainly(values: list[float], noise_floor: float, one_sided: bool, calendar: Calendar) -> Plain:
    """Level and steps, or a trend, or the season that leaves clearly less than what was best before."""
    slots, horizon = calendar.slots.tolist(), calendar.horizon
    first, second, trend, season = level(values), steps(values, slots, horizon), False, 0
    if first[1] > 2 * second[1] / math.sqrt(horizon):
        first, trend = second, True
    for number, labels in enumerate(calendar.phases.values(), 1):
        found = seasonal(values, labels.tolist(), slots, horizon)
        if found and min(found[0][1], found[1][1]) < 0.6 * min(first[1], second[1]):
            (first, second), season, trend = found, number, False
    if one_sided:
        centre, scale = level(values)
        first = second = horizon * centre, horizon * scale
        trend, season = False, 0
    return Plain(
        (first[0], math.hypot(first[1], noise_floor)), (second[0], math.hypot(second[1], noise_floor)), trend, season
    )


def one(values: Floats | list[float], what: object = SHARE, calendar: Calendar | None = None) -> Forecast:
    return forecast_next(np.array(values, np.float64)[:, None], [what], calendar)  # type: ignore[list-item]


def daily(runs: int, missing: Iterable[int] = (), following: int | None = None) -> Calendar:
    """So many days from a Monday on, without some of them, and the day that follows."""
    first = datetime.date(2026, 3, 2)
    names = [str(first + datetime.timedelta(days=day)) for day in range(400)]
    present = [names[day] for day in range(400) if day not in set(missing)][:runs]
    after = present[-1] if following is None else names[following]
    return Calendar.of(present, names[names.index(after) + 1] if following is None else after)


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
    chance = np.random.default_rng(seed)
    calendar = Calendar.of([str(run) for run in range(len(values))])
    if seed % 2:
        missing = chance.choice(len(values), len(values) // 6, replace=False)
        calendar = daily(len(values), missing.tolist())
    made = one(values, DISTANCE if one_sided else SHARE, calendar)
    if sum(not math.isnan(each) for each in values) < MIN_RUNS:
        assert np.isnan(made.centre).all()
        return
    expected = plainly(values, SHARE_FLOOR, one_sided, calendar)
    for (centre, scale), at in [(expected.first, 0), (expected.second, 1)]:
        assert made.centre[at, 0] == pytest.approx(centre, rel=1e-9, abs=1e-9, nan_ok=True)
        assert made.scale[at, 0] == pytest.approx(scale, rel=1e-9)
    assert (bool(made.trend[0]), int(made.season[0])) == (expected.trend, expected.season)


def test_many_series_at_once_are_each_as_alone() -> None:
    values = np.random.default_rng(1).normal(size=(20, 6)).cumsum(axis=0)
    whole = forecast_next(values, [SHARE] * 6)
    for at in range(6):
        alone = one(values[:, at])
        np.testing.assert_allclose(whole.centre[:, at], alone.centre[:, 0])
        np.testing.assert_allclose(whole.scale[:, at], alone.scale[:, 0])


def test_noise_around_a_level_is_a_level() -> None:
    made = one(np.random.default_rng(4).normal(100, 1, 30), ROWS)
    assert not made.trend[0]
    assert made.season[0] == 0
    assert made.centre[0, 0] == pytest.approx(100, abs=1)


def test_a_line_with_noise_is_a_trend_and_goes_on() -> None:
    made = one(10.0 * np.arange(30) + np.random.default_rng(4).normal(0, 1, 30))
    assert made.trend[0]
    assert made.centre[:, 0] == pytest.approx([300, 300], abs=6)


@pytest.mark.parametrize("gap", [1, 2, 5, 30])
def test_a_trend_goes_on_over_a_gap_with_the_time_or_by_one_step(gap: int) -> None:
    values = 10.0 * np.arange(30) + np.random.default_rng(4).normal(0, 1, 30)
    made, at_once = (one(values, calendar=daily(30, following=29 + each)) for each in (gap, 1))
    assert made.centre[:, 0] == pytest.approx([300, 290 + 10 * gap], abs=6 + gap)
    assert made.scale[1, 0] == pytest.approx(at_once.scale[1, 0] * math.sqrt(min(gap, WIDEST_GAP)), rel=0.1)


@pytest.mark.parametrize("gap", [1, 2, 5])
def test_a_distance_may_be_twice_as_large_after_a_gap(gap: int) -> None:
    values = [0.1, 0.12, 0.11, 0.1, 0.13, 0.12, 0.1, 0.11]
    near, far = (one(values, DISTANCE, daily(8, following=day)) for day in (8, 7 + gap))
    assert far.band(3.0)[1][0] == pytest.approx(min(gap, WIDEST_GAP) * near.band(3.0)[1][0], rel=0.1)


WEEK = np.where(np.isin(np.arange(60) % 7, (5, 6)), 40.0, 100.0) + np.random.default_rng(4).normal(0, 1, 60)


@pytest.mark.parametrize("runs", range(28, 36))
@pytest.mark.parametrize("by_time", [True, False])
def test_a_week_is_recognised_and_the_same_day_of_it_comes_next(runs: int, by_time: bool) -> None:
    made = one(WEEK[:runs], calendar=daily(runs) if by_time else None)
    assert made.season[0] > 0
    assert made.centre[:, 0] == pytest.approx([40 if runs % 7 in (5, 6) else 100] * 2, abs=5)


def test_a_week_goes_on_after_days_that_are_missing() -> None:
    missing = (8, 9, 20, 33)
    calendar = daily(30, missing)
    made = one(np.array([each for day, each in enumerate(WEEK) if day not in missing][:30]), calendar=calendar)
    assert made.season[0] > 0
    assert made.centre[:, 0] == pytest.approx([40 if calendar.slots[-1] % 7 in (2, 3) else 100] * 2, abs=5)


@pytest.mark.parametrize("since", range(1, 9))
@pytest.mark.parametrize("by_time", [True, False])
def test_a_level_that_changed_and_was_accepted_is_normal(since: int, by_time: bool) -> None:
    """It was held again on each of five days, by a lag of 2, 3, 4, 5 and 6 runs, always against the same old value."""
    values = [20_000.0] * (30 - since) + [0.0] * since
    made = one(values, ROWS, daily(30) if by_time else None)
    assert made.surprise(np.array([0.0]))[0] < 0.5


@pytest.mark.parametrize("since", range(1, 9))
def test_so_is_a_level_that_changed_in_a_weekly_series(since: int) -> None:
    values = WEEK[:35].copy()
    values[35 - since :] += 500
    following = 540 if 35 % 7 in (5, 6) else 600
    made = one(values, calendar=daily(35))
    assert made.surprise(np.array([float(following)]))[0] < 3.0


def test_cycles_that_do_not_agree_are_no_season() -> None:
    values = np.random.default_rng(1).normal(size=(30, 400))
    made = forecast_next(values, [SHARE] * 400)
    assert (made.season > 0).mean() < 0.01


def test_a_constant_is_expected_again_with_the_grain_alone() -> None:
    made = one([1.0] * 9)
    assert made.constant[0]
    assert made.centre[:, 0].tolist() == [1.0, 1.0]
    assert made.scale[:, 0].tolist() == [SHARE_FLOOR, SHARE_FLOOR]
    assert made.season[0] == 0


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
    made = Forecast(np.array([[0.0], [10.0]]), np.array([[1.0], [2.0]]), flat, np.array([9]), flat, np.array([0]), flat)
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


def test_the_largest_numbers_raise_no_warning() -> None:
    made = one([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, math.nan, 0.0, -1.7e308, 0.0], ROWS)
    made.band(1_000.0)
