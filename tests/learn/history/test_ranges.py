"""A range is within what is possible, whole where values are, and no wider than a reader believes."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headgate.learn.history.forecast import forecast_next
from headgate.learn.history.ranges import (
    FEW_RUNS,
    MOST_PAST_RANGES,
    find_never_negative,
    find_widest_reaches,
    make_range,
    round_outwards,
)
from headgate.learn.metric_traits import MetricTraits
from headgate.values.predicate import Between, OneOf, Predicate
from headgate.values.schema import Kind
from tests.learn.history.test_forecast import ROWS, SHARE, traits

MEDIAN, SMALLEST = traits("median(x)", Kind.FLOAT), traits("min(x)", Kind.FLOAT)
PRICES = 24.4 + 0.5 * np.sin(np.arange(30.0) ** 2)


def test_the_widest_range_is_ten_times_what_the_runs_lay_within() -> None:
    values = np.column_stack([PRICES, np.full(30, 2_000.0)])
    made = forecast_next(values, [MEDIAN, ROWS])
    widest = find_widest_reaches(made, values, [MEDIAN, ROWS])
    low, high = made.band_of(0, float(widest[0]))
    assert 9 * np.ptp(PRICES) < high - low <= MOST_PAST_RANGES * np.ptp(PRICES)


def test_a_constant_may_move_by_a_tenth() -> None:
    values = np.column_stack([np.full(30, 50.0), np.full(30, 2_000.0)])
    made = forecast_next(values, [MEDIAN, ROWS])
    low, high = made.band_of(0, float(find_widest_reaches(made, values, [MEDIAN, ROWS])[0]))
    assert (low, high) == pytest.approx((47.5, 52.5))


def test_a_whole_number_may_move_by_a_few() -> None:
    values = np.column_stack([np.full(30, 3.0), np.full(30, 2_000.0)])
    what = [traits("approx_count_distinct(x)"), ROWS]
    made = forecast_next(values, what)
    low, high = made.band_of(0, float(find_widest_reaches(made, values, what)[0]))
    assert (low, high) == pytest.approx((-2.0, 8.0))


@pytest.mark.parametrize(("runs", "rows"), [(FEW_RUNS - 1, 2_000.0), (30, 20.0)])
def test_few_runs_or_few_rows_do_not_tell_what_is_sensible(runs: int, rows: float) -> None:
    values = np.column_stack([PRICES[:runs], np.full(runs, rows)])
    made = forecast_next(values, [MEDIAN, ROWS])
    assert find_widest_reaches(made, values, [MEDIAN, ROWS])[0] == math.inf


def test_the_widest_range_of_a_distance_begins_at_none() -> None:
    values = np.column_stack([np.tile([0.01, 0.02], 15), np.full(30, 2_000.0)])
    what = [traits("ks_dist(x)", Kind.FLOAT), ROWS]
    made = forecast_next(values, what)
    low, high = made.band_of(0, float(find_widest_reaches(made, values, what)[0]))
    assert _find_limit(make_range(what[0], low, high)) == pytest.approx(0.1)


def test_a_distance_may_be_a_tenth_beyond_the_band() -> None:
    distance = traits("ks_dist(x)", Kind.FLOAT)
    assert _find_limit(make_range(distance, -0.1, 0.2)) == pytest.approx(0.22, rel=0.01)
    assert make_range(distance, -0.1, 0.95) is None  # no distance is above 1
    assert _find_limit(make_range(SHARE, -0.1, 0.2)) == pytest.approx(0.2)


def _find_limit(predicate: Predicate | None) -> float | None:
    return None if predicate is None else predicate.ceiling


def test_what_was_never_negative_is_told_by_the_smallest_value_of_the_column() -> None:
    what = [MEDIAN, SMALLEST, SHARE, traits("mean(y)", Kind.FLOAT)]
    assert find_never_negative(np.array([[24.0, 0.0, 1.0, 3.0]] * 9), what).tolist() == [True, True, False, False]
    assert find_never_negative(np.array([[24.0, -0.1, 1.0, 3.0]] * 9), what).tolist() == [False] * 4
    assert find_never_negative(np.array([[24.0, math.nan, 1.0, 3.0]] * 9), what).tolist() == [False] * 4


@pytest.mark.parametrize(
    ("metric", "band", "never_negative", "expected"),
    [
        (MEDIAN, (-580.0, 630.0), True, Between(0.0, 630.0)),
        (MEDIAN, (-580.0, 630.0), False, Between(-580.0, 630.0)),
        (SMALLEST, (-3.0, 5.0), True, Between(high=5.0)),
        (SMALLEST, (1.0, 5.0), True, Between(1.0, 5.0)),
        (MEDIAN, (-9.0, -3.0), True, None),
        (SHARE, (0.9, 1.2), False, Between(low=0.9)),
        (SHARE, (-0.1, 1.2), False, None),
        (traits("size()"), (979.3, 1040.9), False, Between(980.0, 1040.0)),
        (traits("approx_count_distinct(x)"), (2.7, 3.301), False, Between(3.0, 3.0)),
        (traits("approx_count_distinct(x)"), (2.2, 2.4), False, Between(2.0, 3.0)),
        (traits("max(x)", Kind.INTEGER), (-7.5, 12.2), False, Between(-7.0, 12.0)),
        (traits("max(x)", Kind.FLOAT), (-7.51, 12.22), False, Between(-7.6, 12.3)),
    ],
)
def test_a_range_is_within_what_is_possible(
    metric: MetricTraits, band: tuple[float, float], never_negative: bool, expected: Between | None
) -> None:
    assert make_range(metric, *band, never_negative=never_negative) == expected


def test_a_band_of_one_value_is_that_value() -> None:
    assert make_range(SHARE, 1.0, 1.0, exact=True) == OneOf((1.0,))


@settings(max_examples=300, deadline=None)
@given(st.floats(-1e12, 1e12), st.floats(0, 1e12))
def test_a_band_is_rounded_outwards_and_by_little(low: float, width: float) -> None:
    bottom, top = round_outwards(low, low + width)
    assert bottom <= low
    assert top >= low + width
    assert top - bottom <= 1.25 * width + 1e-6 * (abs(low) + 1)


def test_what_was_always_0_is_expected_to_be_so() -> None:
    values = np.column_stack([np.zeros(30), np.zeros(30), np.full(30, 2_000.0)])
    what = [traits("digit_len(x)", Kind.STRING), traits("completeness(x)"), ROWS]
    digits, share, _ = find_widest_reaches(forecast_next(values, what), values, what)
    assert digits == 0.0
    assert share > 0.0


def test_the_least_number_of_rows_can_be_stated() -> None:
    values = np.column_stack([PRICES, np.full(30, 20.0)])
    made = forecast_next(values, [MEDIAN, ROWS])
    assert math.isfinite(find_widest_reaches(made, values, [MEDIAN, ROWS], least_rows=0.0)[0])
