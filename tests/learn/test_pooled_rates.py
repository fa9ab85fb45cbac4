"""Pooled rates: how often the next value of a metric was surprising, and how rare batches were, on many tables."""

from __future__ import annotations

import msgspec
import numpy as np
import pytest

from headgate.learn.history.series_kinds import ALL_KINDS, CONSTANT
from headgate.learn.metric_traits import Family
from headgate.learn.pooled_rates import (
    COARSE,
    HISTORY_LENGTHS,
    SHORT_LENGTHS,
    VARYING,
    PooledRates,
    RateCurve,
    format_pooled_rates,
    load_pooled_rates,
    make_curve_key,
    name_family,
)
from headgate.learn.rarity_limit import LIMITS
from headgate.values.rarity_memory import Part
from tests.learn.histories import traits

NAMES = ("size()", "completeness(x)", "mean(x)", "ks_dist(x)", "max(x)")
GRID = (1.0, 10.0, 100.0)
NUMBERS, SHARES = name_family(Family.NUMBER), name_family(Family.SHARE)


def evidence(curves: dict[tuple[str, int], tuple[float, tuple[float, ...]]]) -> PooledRates:
    """Curves for histories of any length, by name and kind."""
    found = {
        make_curve_key(name, kind, length): RateCurve(*curve)
        for (name, kind), curve in curves.items()
        for length in HISTORY_LENGTHS
    }
    return PooledRates(GRID, found, prior=100.0)


def rates_of(found: PooledRates, metric: str, kind: int, runs: int = 30) -> list[float]:
    return found.value_rates([traits(metric)], np.array([kind]), runs)[0].tolist()


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("kind", ALL_KINDS)
@pytest.mark.parametrize("runs", [1, 7, 13, 14, 30, 400])
def test_the_shipped_rates_fall_with_reach_and_are_never_zero(name: str, kind: int, runs: int) -> None:
    found = np.array(rates_of(load_pooled_rates(), name, kind, runs))
    assert len(found) == len(load_pooled_rates().grid)
    assert (np.diff(found) <= 1e-12).all()
    assert (found > 0).all()
    assert (found <= 1).all()


def test_the_grid_rises() -> None:
    assert (np.diff(load_pooled_rates().grid) > 0).all()


def test_a_curve_without_any_surprise_counts_half_a_value() -> None:
    found = evidence({(SHARES, CONSTANT): (999.0, (0.0, 0.0, 0.0))})
    assert rates_of(found, "completeness(x)", CONSTANT) == [0.0005] * 3


def test_much_evidence_of_a_metric_outweighs_that_of_its_family() -> None:
    found = evidence({(NUMBERS, VARYING): (1e6, (0.5, 0.4, 0.3)), ("mean", 2): (1e6, (0.1, 0.01, 0.001))})
    np.testing.assert_allclose(rates_of(found, "mean(x)", 2), (0.1, 0.01, 0.001), rtol=0.05, atol=1e-4)


def test_little_evidence_of_a_metric_hardly_moves_that_of_its_family() -> None:
    found = evidence({(NUMBERS, VARYING): (1e6, (0.5, 0.4, 0.3)), ("mean", 2): (1.0, (0.0, 0.0, 0.0))})
    np.testing.assert_allclose(rates_of(found, "mean(x)", 2), (0.5, 0.4, 0.3), rtol=0.02)


def test_a_kind_of_series_has_its_own_rates() -> None:
    curves = {(NUMBERS, VARYING): (1e6, (0.5, 0.4, 0.3)), (NUMBERS, 3): (1e6, (0.2, 0.1, 0.05))}
    found = evidence(curves)
    np.testing.assert_allclose(rates_of(found, "mean(x)", 3), (0.2, 0.1, 0.05), rtol=0.01)
    np.testing.assert_allclose(rates_of(found, "mean(x)", 4), (0.5, 0.4, 0.3), rtol=0.01)


def test_of_other_families_nothing_is_known() -> None:
    found = evidence({(NUMBERS, VARYING): (1e6, (0.5, 0.4, 0.3))})
    assert rates_of(found, "completeness(x)", 3) == [0.0] * 3


def test_the_rates_are_those_of_histories_no_longer_than_this_one() -> None:
    curves = {make_curve_key(NUMBERS, VARYING, each): RateCurve(1e9, (each / 100,) * 3) for each in HISTORY_LENGTHS}
    found = PooledRates(GRID, curves)
    asked = {runs: rates_of(found, "mean(x)", 2, runs)[0] for runs in (3, 7, 13, 14, 27, 28, 1_000)}
    expected = {3: 0.07, 7: 0.07, 13: 0.07, 14: 0.14, 27: 0.14, 28: 0.28, 1_000: 0.28}
    assert asked == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("runs", [*SHORT_LENGTHS, *HISTORY_LENGTHS])
def test_coarse_limits_have_rates_from_the_first_run_on(runs: int) -> None:
    found = load_pooled_rates().table_rates(COARSE, runs)
    assert 0 < found[-1] < found[0] <= 1
    assert (PooledRates(GRID, {}).table_rates(COARSE, runs) == 1).all()


@pytest.mark.parametrize("part", Part)
@pytest.mark.parametrize("runs", HISTORY_LENGTHS)
def test_the_parts_of_a_batch_have_rates(part: Part, runs: int) -> None:
    found = load_pooled_rates().batch_rates(part, runs)
    assert len(found.shares) == len(found.weights) == len(LIMITS)
    assert (np.diff(found.shares) <= 1e-12).all()
    assert (found.level > 0) == (part is Part.COLUMNS)
    assert PooledRates(GRID, {}).batch_rates(part, runs).shares == ()


def test_evidence_is_written_so_that_it_reads_back() -> None:
    assert msgspec.json.decode(format_pooled_rates(load_pooled_rates()), type=PooledRates) == load_pooled_rates()
