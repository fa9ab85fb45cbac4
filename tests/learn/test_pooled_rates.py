"""What a band costs: theory and pooled evidence."""

from __future__ import annotations

import msgspec
import numpy as np
import pytest

from headgate.learn.history.forecast import forecast_next
from headgate.learn.history.rates import degrees_of_freedom, false_alarm_rates
from headgate.learn.pooled_rates import (
    HISTORY_LENGTHS,
    PooledRates,
    RateCurve,
    format_pooled_rates,
    load_pooled_rates,
    make_curve_key,
)
from headgate.stats.tails import student_tail
from tests.learn.histories import measure

NAMES = ("size", "completeness", "mean", "ks_dist", "no_such_metric")
GRID = (1.0, 10.0, 100.0)


def evidence(**curves: RateCurve) -> PooledRates:
    """Curves for histories of any length, of constants and of the others."""
    found = {
        make_curve_key(name.replace("any", "*"), constant, length): curve
        for name, curve in curves.items()
        for constant in (True, False)
        for length in HISTORY_LENGTHS
    }
    return PooledRates(GRID, found, prior=100.0)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("constant", [True, False])
@pytest.mark.parametrize("runs", [1, 7, 13, 14, 30, 400])
def test_the_shipped_evidence_falls_with_reach_and_is_never_zero(name: str, constant: bool, runs: int) -> None:
    found = load_pooled_rates().exceedance_rates(name, constant, runs)
    assert len(found) == len(load_pooled_rates().grid)
    assert (np.diff(found) <= 1e-12).all()
    assert (found > 0).all()
    assert (found <= 1).all()


def test_the_grid_rises() -> None:
    assert (np.diff(load_pooled_rates().grid) > 0).all()


def test_a_metric_that_is_not_known_has_the_evidence_of_all() -> None:
    found = load_pooled_rates()
    assert (
        found.exceedance_rates("no_such_metric", False, 30).tolist()
        == found.exceedance_rates("another_one", False, 30).tolist()
    )
    whole = found.curves[make_curve_key("*", False, 28)]
    expected = (np.array(whole.shares) * whole.seen + 0.5) / (whole.seen + 1)
    np.testing.assert_allclose(found.exceedance_rates("no_such_metric", False, 30), expected)


def test_where_nothing_was_ever_seen_half_a_value_is_reckoned_with() -> None:
    found = evidence(any=RateCurve(999.0, (0.0, 0.0, 0.0)))
    assert found.exceedance_rates("size", True, 30).tolist() == [0.0005] * 3


def test_much_evidence_of_a_metric_outweighs_that_of_all() -> None:
    found = evidence(any=RateCurve(1e6, (0.5, 0.4, 0.3)), size=RateCurve(1e6, (0.1, 0.01, 0.001)))
    np.testing.assert_allclose(found.exceedance_rates("size", False, 30), (0.1, 0.01, 0.001), rtol=0.05, atol=1e-4)


def test_little_evidence_of_a_metric_hardly_moves_that_of_all() -> None:
    found = evidence(any=RateCurve(1e6, (0.5, 0.4, 0.3)), size=RateCurve(1.0, (0.0, 0.0, 0.0)))
    np.testing.assert_allclose(found.exceedance_rates("size", False, 30), (0.5, 0.4, 0.3), rtol=0.02)


def test_the_evidence_is_that_of_histories_no_longer_than_this_one() -> None:
    curves = {make_curve_key("*", True, length): RateCurve(1e9, (length / 100,) * 3) for length in HISTORY_LENGTHS}
    found = PooledRates(GRID, curves)
    asked = {runs: found.exceedance_rates("size", True, runs)[0] for runs in (3, 7, 13, 14, 27, 28, 1_000)}
    expected = {3: 0.07, 7: 0.07, 13: 0.07, 14: 0.14, 27: 0.14, 28: 0.28, 1_000: 0.28}
    assert asked == pytest.approx(expected, rel=1e-6)


def test_freedom_grows_with_the_history_and_stays_below_three() -> None:
    found = degrees_of_freedom(np.array([1, 7, 14, 28, 10_000]))
    assert found[:2].tolist() == [2.0, 2.0]
    assert (np.diff(found) >= 0).all()
    assert found[-1] < 3.0


@pytest.mark.parametrize("share", [0.0, 1e-4, 0.9])
def test_what_varies_without_end_costs_the_larger_of_theory_and_evidence(share: float) -> None:
    made = forecast_next(np.random.default_rng(0).normal(size=(30, 1)), [measure("mean(x)")])
    tails = evidence(any=RateCurve(1e12, (share,) * 3))
    heavy = student_tail(np.array(GRID), degrees_of_freedom(np.array([30])))
    np.testing.assert_allclose(
        false_alarm_rates(made, [measure("mean(x)")], tails)[0], np.maximum(heavy, share), rtol=1e-6
    )


@pytest.mark.parametrize("name", ["completeness(x)", "ks_dist(x)", "value_l1(x)"])
def test_what_lies_between_two_ends_costs_what_was_seen(name: str) -> None:
    made = forecast_next(np.random.default_rng(0).normal(size=(30, 1)), [measure(name)])
    tails = evidence(any=RateCurve(1e12, (1e-3, 1e-4, 1e-5)))
    np.testing.assert_allclose(false_alarm_rates(made, [measure(name)], tails)[0], (1e-3, 1e-4, 1e-5), rtol=1e-6)


def test_a_distance_has_one_tail_only() -> None:
    values = np.random.default_rng(0).normal(size=(30, 1))
    tails = evidence(any=RateCurve(1e12, (0.0,) * 3))
    both = false_alarm_rates(forecast_next(values, [measure("mean(x)")]), [measure("mean(x)")], tails)
    upper = false_alarm_rates(forecast_next(values, [measure("emd(x)")]), [measure("emd(x)")], tails)
    np.testing.assert_allclose(upper, both / 2, rtol=1e-6)


def test_a_constant_costs_what_constants_did_elsewhere() -> None:
    made = forecast_next(np.ones((30, 1)), [measure("completeness(x)")])
    tails = evidence(any=RateCurve(1e12, (0.02, 0.01, 0.005)))
    np.testing.assert_allclose(
        false_alarm_rates(made, [measure("completeness(x)")], tails)[0], (0.02, 0.01, 0.005), rtol=1e-6
    )


def test_the_same_constancy_costs_more_after_fewer_runs() -> None:
    measures = [measure("completeness(x)")]
    short, long = (
        false_alarm_rates(forecast_next(np.ones((runs, 1)), measures), measures, load_pooled_rates())[0]
        for runs in (7, 30)
    )
    narrow = np.array(load_pooled_rates().grid) <= 10  # beyond, too few values were seen to tell short from long
    assert (short > long)[narrow].all()


@pytest.mark.parametrize("runs", [7, 20, 60])
def test_costs_fall_with_reach_for_every_kind_of_series(runs: int) -> None:
    values = np.column_stack([np.random.default_rng(0).normal(size=(runs, 3)).cumsum(axis=0), np.ones(runs)])
    measures = [measure("completeness(x)"), measure("size()"), measure("ks_dist(x)"), measure("mean(x)")]
    found = false_alarm_rates(forecast_next(values, measures), measures, load_pooled_rates())
    assert found.shape == (4, len(load_pooled_rates().grid))
    assert (np.diff(found, axis=1) <= 1e-12).all()
    assert (found > 0).all()


def test_evidence_is_written_so_that_it_reads_back() -> None:
    assert msgspec.json.decode(format_pooled_rates(load_pooled_rates()), type=PooledRates) == load_pooled_rates()
