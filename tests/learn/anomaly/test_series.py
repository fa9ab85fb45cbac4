"""Series and bands: what counts as missing, how differences are extrapolated, how rounding widens a band."""

from __future__ import annotations

import math

import numpy as np
import pytest

from headgate.learn.anomaly.series import (
    Ends,
    as_numbers,
    as_values,
    drop_missing,
    extrapolate_next,
    scale_of,
    slack_of,
    too_few,
    widen_band,
)
from headgate.values.outcome import Undefined
from headgate.values.predicate import Between


def test_infinite_values_are_missing_in_the_past_and_kept_in_the_series() -> None:
    assert np.isnan(as_values([math.inf, -math.inf, None])).all()
    assert as_numbers([math.inf, 1]).tolist() == [math.inf, 1.0]


def test_enough_values_are_returned_without_the_missing_ones() -> None:
    present = drop_missing(np.array([1.0, np.nan, 2.0]), needed=2)
    assert isinstance(present, np.ndarray)
    assert present.tolist() == [1.0, 2.0]


def test_the_reason_counts_values_in_the_right_number() -> None:
    assert too_few(1, 0).why == "needs 1 value, there are 0"
    assert too_few(2, 1).why == "needs 2 values, there is 1"


@pytest.mark.parametrize("order", [1, 2, 3, 4])
def test_the_extrapolated_value_makes_the_last_difference_zero(order: int) -> None:
    values = np.array([3.0, -1.0, 4.0, 1.0, -5.0])
    following = np.append(values, extrapolate_next(values, order))
    assert np.diff(following, n=order)[-1] == pytest.approx(0.0)


def test_the_scale_bounds_every_number_in_differencing() -> None:
    values = np.array([1.0, -1.0, 1.0, -1.0])
    assert scale_of(values, 2) == np.abs(np.diff(values, n=2)).max() == 4.0


def test_a_band_is_wider_by_rounding_and_by_nothing_more() -> None:
    band = widen_band(Ends(1.0, 2.0, scale=2.0))
    assert isinstance(band, Between)
    assert band.holds(1.0 - slack_of(2.0))
    assert not band.holds(1.0 - 2 * slack_of(2.0))
    assert widen_band(Ends(1.0, 2.0)) == Between(1.0, 2.0)


@pytest.mark.parametrize(
    "ends", [Ends(math.nan, 1.0), Ends(0.0, math.nan), Ends(math.inf, None), Ends(None, -math.inf), Ends(None, None)]
)
def test_ends_that_allow_nothing_or_everything_leave_the_band_undefined(ends: Ends) -> None:
    assert isinstance(widen_band(ends), Undefined)


def test_one_end_may_be_missing() -> None:
    assert widen_band(Ends(None, 5.0)) == Between(None, 5.0)
    assert widen_band(Ends(5.0, math.inf)) == Between(5.0, None)
