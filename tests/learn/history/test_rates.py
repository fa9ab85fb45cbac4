"""The false alarm rate of a band: the larger of a heavy-tailed bound and the pooled rate."""

from __future__ import annotations

import numpy as np
import pytest

from headgate.learn.history.forecast import forecast_next
from headgate.learn.history.rates import degrees_of_freedom, false_alarm_rates, find_record_rates
from headgate.learn.pooled_rates import HISTORY_LENGTHS, PooledRates, RateCurve, load_pooled_rates, make_curve_key
from headgate.stats.tails import student_tail
from tests.learn.histories import traits

GRID = (1.0, 10.0, 100.0)


def pooled(*shares: float) -> PooledRates:
    """Rates that are the same for all metrics and history lengths, of constant and of varying series."""
    curve = RateCurve(1e12, shares)
    keys = [make_curve_key("*", constant, length) for constant in (True, False) for length in HISTORY_LENGTHS]
    return PooledRates(GRID, dict.fromkeys(keys, curve), prior=100.0)


def test_the_degrees_of_freedom_grow_with_the_history_and_stay_below_three() -> None:
    found = degrees_of_freedom(np.array([1, 7, 14, 28, 10_000]))
    assert found[:2].tolist() == [2.0, 2.0]
    assert (np.diff(found) >= 0).all()
    assert found[-1] < 3.0


@pytest.mark.parametrize("share", [0.0, 1e-4, 0.9])
def test_a_metric_without_limits_has_the_larger_of_the_tail_and_the_pooled_rate(share: float) -> None:
    made = forecast_next(np.random.default_rng(0).normal(size=(30, 1)), [traits("mean(x)")])
    rates = pooled(share, share, share)
    heavy = student_tail(np.array(GRID), degrees_of_freedom(np.array([30])))
    np.testing.assert_allclose(
        false_alarm_rates(made, [traits("mean(x)")], rates)[0], np.maximum(heavy, share), rtol=1e-6
    )


@pytest.mark.parametrize("name", ["completeness(x)", "ks_dist(x)", "value_l1(x)"])
def test_a_metric_with_two_limits_has_the_pooled_rate(name: str) -> None:
    made = forecast_next(np.random.default_rng(0).normal(size=(30, 1)), [traits(name)])
    rates = pooled(1e-3, 1e-4, 1e-5)
    np.testing.assert_allclose(false_alarm_rates(made, [traits(name)], rates)[0], (1e-3, 1e-4, 1e-5), rtol=1e-6)


def test_a_distance_has_one_tail_only() -> None:
    values = np.random.default_rng(0).normal(size=(30, 1))
    rates = pooled(0.0, 0.0, 0.0)
    both = false_alarm_rates(forecast_next(values, [traits("mean(x)")]), [traits("mean(x)")], rates)
    upper = false_alarm_rates(forecast_next(values, [traits("emd(x)")]), [traits("emd(x)")], rates)
    np.testing.assert_allclose(upper, both / 2, rtol=1e-6)


def test_a_constant_metric_has_the_pooled_rate_of_constants() -> None:
    made = forecast_next(np.ones((30, 1)), [traits("completeness(x)")])
    rates = pooled(0.02, 0.01, 0.005)
    np.testing.assert_allclose(
        false_alarm_rates(made, [traits("completeness(x)")], rates)[0], (0.02, 0.01, 0.005), rtol=1e-6
    )


def test_a_constant_has_a_higher_rate_after_fewer_runs() -> None:
    measures = [traits("completeness(x)")]
    short, long = (
        false_alarm_rates(forecast_next(np.ones((runs, 1)), measures), measures, load_pooled_rates())[0]
        for runs in (7, 30)
    )
    narrow = np.array(load_pooled_rates().grid) <= 10  # beyond, too few values were seen to tell short from long
    assert (short > long)[narrow].all()


@pytest.mark.parametrize("runs", [7, 20, 60])
def test_rates_fall_with_reach_for_every_kind_of_series(runs: int) -> None:
    values = np.column_stack([np.random.default_rng(0).normal(size=(runs, 3)).cumsum(axis=0), np.ones(runs)])
    measures = [traits("completeness(x)"), traits("size()"), traits("ks_dist(x)"), traits("mean(x)")]
    found = false_alarm_rates(forecast_next(values, measures), measures, load_pooled_rates())
    assert found.shape == (4, len(load_pooled_rates().grid))
    assert (np.diff(found, axis=1) <= 1e-12).all()
    assert (found > 0).all()


def test_an_extreme_of_few_rows_is_never_sure() -> None:
    names = ("size()", "completeness(x)", "max(x)", "min(x)", "range(x)", "mean(x)", "max_length(t)")
    values = np.tile([49.0, 0.5, 9.0, 1.0, 8.0, 5.0, 12.0], (30, 1))
    found = find_record_rates(values, [traits(each) for each in names])
    np.testing.assert_allclose(found, [0, 0, 1 / 25.5, 1 / 25.5, 1 / 25.5, 0, 1 / 50])
