"""Thresholds, absolute and relative changes against their definitions."""

from __future__ import annotations

import math

import numpy as np
import pytest

from headgate.learn.anomaly.absolute_change import AbsoluteChange
from headgate.learn.anomaly.relative_change import RelativeChange
from headgate.learn.anomaly.threshold import Threshold
from headgate.values.outcome import Undefined
from headgate.values.predicate import Between

SEEDS = range(20)


def test_a_threshold_needs_no_history_and_is_exact() -> None:
    assert Threshold(0.1, 0.3).band([]) == Between(0.1, 0.3)
    assert Threshold(low=0.5).find_anomalies([0.4, 0.5, math.nan, -math.inf, 1e300]) == (0, 3)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("order", [1, 2, 3])
def test_absolute_changes_are_numpy_differences(seed: int, order: int) -> None:
    values = np.random.default_rng(seed).normal(size=60)
    changes = np.diff(values, n=order)
    expected = np.flatnonzero((changes < -1.5) | (changes > 2.0)) + order
    assert AbsoluteChange(most_down=1.5, most_up=2.0, order=order).find_anomalies(values) == tuple(expected)
    assert len(expected) > 0


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("order", [1, 2, 7])
def test_relative_changes_are_ratios_to_the_value_so_many_runs_before(seed: int, order: int) -> None:
    values = np.random.default_rng(seed).lognormal(size=60) * np.random.default_rng(seed).choice([-1.0, 1.0], 60)
    ratios = values[order:] / values[:-order]
    expected = np.flatnonzero((ratios < 0.1) | (ratios > 2.0)) + order
    assert RelativeChange(least=0.1, most=2.0, order=order).find_anomalies(values) == tuple(expected)
    assert len(expected) > 0


def test_one_end_of_a_ratio_to_a_negative_value_is_on_the_other_side() -> None:
    band = RelativeChange(most=2.0).band([-10.0])
    assert isinstance(band, Between)
    assert band.low == pytest.approx(-20.0)
    assert band.high is None


def test_steady_growth_passes_at_order_two() -> None:
    growth = [10.0 * day for day in range(20)]
    assert AbsoluteChange(most_down=0, most_up=0, order=2).find_anomalies(growth) == ()
    assert AbsoluteChange(most_down=0, most_up=0, order=2).find_anomalies([*growth, 205.0]) == (20,)


def test_there_is_no_ratio_to_zero() -> None:
    band = RelativeChange(least=0.9).band([5.0, 0.0])
    assert isinstance(band, Undefined)
    assert "is 0" in band.why


def test_a_missing_weekday_is_replaced_by_the_same_weekday_before_it() -> None:
    past = [100.0, *[1.0] * 6, math.nan, *[1.0] * 6]
    assert RelativeChange(least=0.9, most=1.1, order=7).band(past) == RelativeChange(0.9, 1.1).band([100.0])
    band = RelativeChange(0.9, 1.1, order=7).band([math.nan, *[1.0] * 6])
    assert isinstance(band, Undefined)
    assert "missing" in band.why


@pytest.mark.parametrize(("before", "after"), [(0.1, 0.3), (0.3, 0.1), (0.7, 0.9), (1e9, 1e9 + 0.2), (1.1, 1.3)])
def test_a_change_of_just_the_allowed_size_is_not_flagged_for_its_rounding(before: float, after: float) -> None:
    assert AbsoluteChange(most_down=0.2, most_up=0.2).find_anomalies([before, after]) == ()
    assert RelativeChange(after / before, after / before).find_anomalies([before, after]) == ()
