"""Bounds and tails, against scipy and by simulation."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
from scipy import special, stats

from headgate.stats.tails import (
    cantelli,
    chebyshev,
    erfc,
    normal,
    saw,
    saw_above,
    student,
    student_reach,
    student_tail,
)

BOUNDS = (chebyshev, cantelli, normal)
FINITE = (student, saw, saw_above)


def test_the_bounds_are_those_of_the_paper() -> None:
    assert float(chebyshev(0.05, 0.01)) == pytest.approx(0.04)  # AVH Example 4
    assert float(cantelli(2.0, 1.0)) == pytest.approx(0.2)
    reach = np.linspace(0.01, 30, 500)
    np.testing.assert_allclose(normal(reach, 1.0), 2 * stats.norm.sf(reach), rtol=1e-12)


def test_erfc_is_what_scipy_computes() -> None:
    x = np.linspace(-6, 26, 1_000)
    np.testing.assert_allclose(erfc(x), special.erfc(x), rtol=1e-12)


@pytest.mark.parametrize("bound", BOUNDS, ids=lambda bound: bound.__name__)
def test_a_value_without_deviation_never_leaves_its_mean(bound) -> None:
    assert bound([1e-300, 1.0, 1e300], 0.0).tolist() == [0.0, 0.0, 0.0]


@pytest.mark.parametrize("bound", BOUNDS, ids=lambda bound: bound.__name__)
def test_every_value_is_at_least_no_distance_away(bound) -> None:
    assert bound([0.0, -1.0, 0.0], [1.0, 1.0, 0.0]).tolist() == [1.0, 1.0, 1.0]


@pytest.mark.parametrize("bound", FINITE, ids=lambda bound: bound.__name__)
def test_every_next_value_is_at_least_no_distance_away(bound) -> None:
    assert bound([0.0, -1.0, 0.0], [1.0, 1.0, 0.0], 10).tolist() == [1.0, 1.0, 1.0]


@pytest.mark.parametrize("bound", BOUNDS, ids=lambda bound: bound.__name__)
def test_bounds_are_probabilities_that_fall_with_the_reach(bound) -> None:
    tails = bound(np.geomspace(1e-200, 1e200, 2_000), 1.0)
    assert tails[0] == 1.0
    assert tails[-1] < 1e-300
    assert (np.diff(tails) <= 0).all()


@pytest.mark.parametrize("runs", [2, 3, 5, 30, 1_000])
@pytest.mark.parametrize("bound", FINITE, ids=lambda bound: bound.__name__)
def test_finite_tails_are_probabilities_that_fall_with_the_reach(bound, runs: int) -> None:
    tails = bound(np.geomspace(1e-3, 1e6, 5_000), 1.0, runs)
    assert ((tails >= 0) & (tails <= 1)).all()
    assert (np.diff(tails) <= 0).all()


@pytest.mark.parametrize("bound", FINITE, ids=lambda bound: bound.__name__)
def test_from_fewer_than_two_runs_nothing_follows(bound) -> None:
    assert bound(100.0, 1.0, [0, 1]).tolist() == [1.0, 1.0]


@pytest.mark.parametrize("bound", BOUNDS, ids=lambda bound: bound.__name__)
def test_a_deviation_below_zero_is_refused(bound) -> None:
    with pytest.raises(ValueError, match="not below 0"):
        bound(1.0, [1.0, -1.0])


def test_many_runs_bring_the_finite_tails_to_those_of_a_known_mean() -> None:
    assert float(student(3.0, 1.0, 10**6)) == pytest.approx(float(normal(3.0, 1.0)), rel=1e-4)
    assert float(saw(3.0, 1.0, 10**6)) == pytest.approx(float(chebyshev(3.0, 1.0)), rel=1e-4)
    assert float(saw_above(3.0, 1.0, 10**6)) == pytest.approx(float(cantelli(3.0, 1.0)), rel=1e-4)


@pytest.mark.parametrize("runs", [5, 30])
def test_the_next_value_of_a_normal_series_is_as_far_as_student_says(runs: int) -> None:
    values = np.random.default_rng(0).normal(3.0, 2.0, (200_000, runs + 1))
    before, after = values[:, :-1], values[:, -1]
    tails = student(np.abs(after - before.mean(axis=1)), before.std(axis=1, ddof=1), runs)
    for share in (0.5, 0.05, 0.005):
        assert (tails <= share).mean() == pytest.approx(share, abs=4 * math.sqrt(share / len(tails)))


def shares_far_out(everyone: np.ndarray, multiple: float) -> tuple[float, float]:
    """How often one of these values is so many deviations of the others from their mean: either way, and above."""
    either = above = 0
    for place in range(len(everyone)):
        others = np.delete(everyone, place)
        gap, reach = everyone[place] - others.mean(), multiple * others.std(ddof=1) * (1 - 1e-9)
        either += abs(gap) >= reach and abs(gap) > 1e-12
        above += gap >= reach and gap > 1e-12
    return either / len(everyone), above / len(everyone)


@pytest.mark.parametrize("multiple", [0.3, 0.8, 1.0, 1.2, 1.5, 2.0, 3.0, 8.0])
@pytest.mark.parametrize("runs", [2, 3, 4, 5, 6])
def test_no_small_set_of_values_exceeds_the_bounds_of_saw(runs: int, multiple: float) -> None:
    # Exchangeable values are sets in random order, so the bound holds if it holds for every set.
    sets = [np.array(values) for values in product([-3.0, -1.0, 0.0, 1.0], repeat=runs + 1)]
    sets = [values for values in sets if np.ptp(values) and (np.diff(values) >= 0).all()]
    worst = np.max([shares_far_out(values, multiple) for values in sets], axis=0)
    assert worst[0] <= float(saw(multiple, 1.0, runs)) + 1e-12
    assert worst[1] <= float(saw_above(multiple, 1.0, runs)) + 1e-12


@pytest.mark.parametrize(("runs", "far"), [(9, 2), (30, 1), (30, 4), (31, 6)])
def test_the_bounds_of_saw_are_attained(runs: int, far: int) -> None:
    everyone = np.zeros(runs + 1)
    everyone[:far] = 1.0
    one_sided = multiple_of(everyone)
    assert shares_far_out(everyone, one_sided)[1] == pytest.approx(float(saw_above(one_sided * (1 - 1e-9), 1.0, runs)))
    if far % 2 == 0:
        everyone[: far // 2] = -1.0
        two_sided = multiple_of(everyone)
        assert shares_far_out(everyone, two_sided)[0] == pytest.approx(float(saw(two_sided * (1 - 1e-9), 1.0, runs)))


def multiple_of(everyone: np.ndarray) -> float:
    """How many deviations of the others the greatest value lies from their mean."""
    others = np.delete(everyone, everyone.argmax())
    spread = others.std(ddof=1)
    return float((everyone.max() - others.mean()) / spread) if spread else 1e9


def test_an_odd_number_of_far_values_cannot_balance() -> None:
    # Of 11 values three can lie sqrt(11 * 8 / 25) = 1.876 deviations out, though 11 / 3 would allow 1.915.
    def reach_of(x: float) -> float:
        return math.sqrt(9 * x / (10 - x) * 1.1)

    assert float(saw(reach_of(3.51), 1.0, 10)) == pytest.approx(3 / 11)
    assert float(saw(reach_of(3.53), 1.0, 10)) == pytest.approx(2 / 11)


@pytest.mark.parametrize("bound", [saw, saw_above], ids=lambda bound: bound.__name__)
def test_without_a_distribution_no_tail_is_below_one_of_all_values(bound) -> None:
    assert float(bound(1.0, 0.0, 30)) == pytest.approx(1 / 31)
    assert float(bound(1e9, 1.0, 30)) == pytest.approx(1 / 31)


@pytest.mark.parametrize("size", ["small", "wide"])
def test_students_tail_is_what_scipy_computes(size: str) -> None:
    rng = np.random.default_rng(0)
    freedom = 10 ** rng.uniform(np.log10(0.5), 4, 20_000)
    t = rng.uniform(0, 40, 20_000) if size == "small" else 10 ** rng.uniform(-8, 6, 20_000)
    expected = 2 * stats.t.sf(t, freedom)
    normal_range = expected > 1e-300
    assert normal_range.mean() > 0.6
    found = student_tail(t, freedom)
    np.testing.assert_allclose(found[normal_range], expected[normal_range], rtol=1e-10)
    assert (found[~normal_range] < 2e-300).all()


def test_students_tail_has_ends() -> None:
    assert student_tail([0.0, np.inf], 3.0).tolist() == [1.0, 0.0]
    assert float(student_tail(-2.0, 3.0)) == float(student_tail(2.0, 3.0))
    assert np.isnan(student_tail([np.nan, 1.0], [3.0, np.nan])).all()
    assert float(student_tail(1e200, 1.0)) == pytest.approx(2 / math.pi * 1e-200)


def test_students_reach_is_what_scipy_computes() -> None:
    rng = np.random.default_rng(1)
    freedom, tail = 10 ** rng.uniform(np.log10(0.5), 4, 10_000), 10 ** rng.uniform(-12, 0, 10_000)
    found = student_reach(tail, freedom)
    np.testing.assert_allclose(found, stats.t.isf(tail / 2, freedom), rtol=1e-10)
    np.testing.assert_allclose(student_tail(found, freedom), tail, rtol=1e-10)


def test_students_reach_has_ends() -> None:
    assert student_reach([0.0, 1.0], 3.0).tolist() == [np.inf, 0.0]
    assert float(student_reach(1e-300, 0.5)) == np.inf
    assert float(student_tail(student_reach(1e-290, 7.5), 7.5)) == pytest.approx(1e-290, rel=1e-9)
    assert 0 < float(student_reach(1 - 1e-12, 0.5)) < 1e-11


@pytest.mark.parametrize("freedom", [0.0, -1.0, np.inf])
def test_degrees_of_freedom_are_finite_and_positive(freedom: float) -> None:
    with pytest.raises(ValueError, match="degrees of freedom"):
        student_tail(1.0, freedom)


@pytest.mark.parametrize("tail", [-0.1, 1.1])
def test_a_tail_is_a_probability(tail: float) -> None:
    with pytest.raises(ValueError, match="a probability"):
        student_reach(tail, 3.0)
