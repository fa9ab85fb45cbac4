"""Pooled rates: how often the next value of a metric was surprising on many tables."""

from __future__ import annotations

import msgspec
import numpy as np
import pytest

from headgate.learn.pooled_rates import (
    HISTORY_LENGTHS,
    PooledRates,
    RateCurve,
    format_pooled_rates,
    load_pooled_rates,
    make_curve_key,
)

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


def test_a_curve_without_any_surprise_counts_half_a_value() -> None:
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


def test_evidence_is_written_so_that_it_reads_back() -> None:
    assert msgspec.json.decode(format_pooled_rates(load_pooled_rates()), type=PooledRates) == load_pooled_rates()
