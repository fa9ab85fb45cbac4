"""Distances of two distributions, against scipy on exact data."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial import distance as vectors
from scipy.special import kolmogorov
from scipy.stats import chi2_contingency, entropy, ks_2samp, wasserstein_distance

from headgate.stats.distances import (
    EmpiricalDistribution,
    Gaps,
    Spread,
    chi_squared,
    cohens_d,
    cosine,
    earth_mover,
    jensen_shannon,
    kolmogorov_significance,
    kolmogorov_smirnov,
    kullback_leibler,
    l1,
    l_infinity,
)

numbers = st.lists(st.floats(-1e6, 1e6) | st.integers(-5, 5).map(float), min_size=1, max_size=60)
counts = st.lists(st.integers(0, 50), min_size=1, max_size=20)


@st.composite
def pairs_of_counts(draw: st.DrawFn) -> tuple[list[int], list[int]]:
    """Two counts of the same labels, neither without any."""
    one = draw(counts)
    two = draw(st.lists(st.integers(0, 50), min_size=len(one), max_size=len(one)))
    one[0] += not any(one)
    two[-1] += not any(two)
    return one, two


@given(numbers, numbers)
def test_the_earth_movers_distance_is_what_scipy_computes(one: list[float], two: list[float]) -> None:
    expected = wasserstein_distance(one, two)
    assert earth_mover(Gaps.between(EmpiricalDistribution.of(one), EmpiricalDistribution.of(two))) == pytest.approx(
        expected, rel=1e-9, abs=1e-9
    )


@given(numbers, numbers)
def test_the_kolmogorov_smirnov_distance_is_what_scipy_computes(one: list[float], two: list[float]) -> None:
    expected = ks_2samp(one, two, method="exact").statistic
    assert kolmogorov_smirnov(
        Gaps.between(EmpiricalDistribution.of(one), EmpiricalDistribution.of(two))
    ) == pytest.approx(expected, abs=1e-12)


def test_a_value_of_weight_three_is_the_value_three_times() -> None:
    weighted = EmpiricalDistribution.of([4.0, 1.0, 4.0], [2, 3, 1])
    repeated = EmpiricalDistribution.of([1.0, 4.0, 1.0, 4.0, 4.0, 1.0])
    assert all(np.array_equal(one, two) for one, two in zip(weighted, repeated, strict=True))


@given(numbers, numbers)
def test_an_end_without_weight_changes_no_distance(one: list[float], two: list[float]) -> None:
    plain, other = EmpiricalDistribution.of(one), EmpiricalDistribution.of(two)
    ended = EmpiricalDistribution.of([*one, -2e6, 2e6], [1] * len(one) + [0, 0])
    assert earth_mover(Gaps.between(ended, other)) == pytest.approx(
        earth_mover(Gaps.between(plain, other)), rel=1e-9, abs=1e-9
    )
    assert kolmogorov_smirnov(Gaps.between(ended, other)) == kolmogorov_smirnov(Gaps.between(plain, other))


def test_the_distance_of_the_farthest_doubles_is_infinite_and_not_an_error() -> None:
    most = np.finfo(np.float64).max
    assert earth_mover(Gaps.between(EmpiricalDistribution.of([-most]), EmpiricalDistribution.of([most]))) == math.inf
    assert EmpiricalDistribution.of([-most, most]).count_in_bins(
        EmpiricalDistribution.of([-most, most]).bin_ends()
    ).tolist() == [0.0, 1.0, 1.0, 0.0]


@pytest.mark.parametrize("z", [0.0, 0.01, 0.039, 0.041, 0.2, 0.5, 0.99, 1.0, 1.36, 2.0, 4.0, 9.0])
def test_the_significance_is_kolmogorovs_limit(z: float) -> None:
    assert kolmogorov_significance(z / 10, 200, 200) == pytest.approx(float(kolmogorov(z)), abs=1e-12)


def test_the_significance_of_samples_of_one_source_is_uniform() -> None:
    rng = np.random.default_rng(3)
    pairs = [
        (EmpiricalDistribution.of(rng.normal(size=400)), EmpiricalDistribution.of(rng.normal(size=300)))
        for _ in range(2_000)
    ]
    found = np.array([kolmogorov_significance(kolmogorov_smirnov(Gaps.between(*pair)), 400, 300) for pair in pairs])
    assert abs((found < 0.05).mean() - 0.05) < 0.02
    assert abs((found < 0.5).mean() - 0.5) < 0.06


def test_the_significance_falls_with_the_size_of_the_samples() -> None:
    found = [kolmogorov_significance(0.02, size, size) for size in (100, 10_000, 1_000_000)]
    assert found[0] > 0.99
    assert found[1] < 0.05
    assert found[2] < 1e-100


# --- bins


@given(numbers, st.integers(2, 20))
def test_every_value_lies_in_one_bin_and_none_of_the_sample_outside(values: list[float], bins: int) -> None:
    sample = EmpiricalDistribution.of(values)
    ends = sample.bin_ends(bins)
    binned = sample.count_in_bins(ends)
    expected = np.bincount(np.searchsorted(ends, values), minlength=len(ends) + 1)
    assert len(ends) <= bins + 1
    assert binned == pytest.approx(expected, abs=1e-9)
    assert binned[0] == binned[-1] == 0.0


def test_bins_of_different_values_hold_equal_shares() -> None:
    sample = EmpiricalDistribution.of(np.random.default_rng(0).permutation(1_000) / 7)
    assert sample.count_in_bins(sample.bin_ends()) == pytest.approx([0, *[100] * 10, 0])


def test_a_constant_that_moved_leaves_its_bin_on_either_side() -> None:
    ends = EmpiricalDistribution.of([5.0] * 9).bin_ends()
    assert EmpiricalDistribution.of([5.0]).count_in_bins(ends).tolist() == [0.0, 1.0, 0.0]
    assert EmpiricalDistribution.of([4.0]).count_in_bins(ends).tolist() == [1.0, 0.0, 0.0]
    assert EmpiricalDistribution.of([6.0]).count_in_bins(ends).tolist() == [0.0, 0.0, 1.0]


# --- means


def test_cohens_d_is_the_difference_of_means_in_pooled_deviations() -> None:
    rng = np.random.default_rng(1)
    one, two = rng.normal(2, 3, 50), rng.normal(4, 5, 80)
    pooled = (one.var(ddof=1) * 49 + two.var(ddof=1) * 79) / 128
    found = cohens_d(Spread(50, one.mean(), one.var(ddof=1)), Spread(80, two.mean(), two.var(ddof=1)))
    assert found == pytest.approx(abs(one.mean() - two.mean()) / math.sqrt(pooled))


def test_constants_are_no_or_infinitely_many_deviations_apart() -> None:
    assert cohens_d(Spread(3, 7.0, 0.0), Spread(1, 7.0, 0.0)) == 0.0
    assert cohens_d(Spread(3, 7.0, 0.0), Spread(9, 8.0, 0.0)) == math.inf
    assert cohens_d(Spread(1, 7.0, 0.0), Spread(1, 8.0, 0.0)) == math.inf


# --- labels


@given(pairs_of_counts())
def test_distances_of_shares_are_what_scipy_computes(pair: tuple[list[int], list[int]]) -> None:
    p, q = (np.array(each) / sum(each) for each in pair)
    assert l1(*pair) == pytest.approx(vectors.cityblock(p, q), abs=1e-12)
    assert l_infinity(*pair) == pytest.approx(vectors.chebyshev(p, q), abs=1e-12)
    assert cosine(*pair) == pytest.approx(vectors.cosine(p, q), abs=1e-12)
    assert jensen_shannon(*pair) == pytest.approx(vectors.jensenshannon(p, q, 2) ** 2, abs=1e-12)


@given(pairs_of_counts())
def test_the_kullback_leibler_divergence_is_scipys_of_smoothed_shares(pair: tuple[list[int], list[int]]) -> None:
    expected = entropy(np.array(pair[0]) + 0.5, np.array(pair[1]) + 0.5, base=2)
    assert kullback_leibler(*pair) == pytest.approx(expected, abs=1e-12)


def test_without_smoothing_it_is_the_plain_divergence() -> None:
    assert kullback_leibler([3, 1], [1, 3], smoothing=0) == pytest.approx(entropy([3, 1], [1, 3], base=2))


def test_the_chi_squared_distance_is_the_tests_statistic_for_each_of_as_many_rows() -> None:
    one, two = np.array([30, 50, 20]), np.array([10, 60, 30])
    statistic = chi2_contingency(np.array([one, two])).statistic
    assert chi_squared(one, two) == pytest.approx(statistic / 100)


@given(pairs_of_counts())
def test_the_chi_squared_distance_needs_no_label_in_both(pair: tuple[list[int], list[int]]) -> None:
    p, q = (np.array(each) / sum(each) for each in pair)
    there = p + q > 0
    expected = ((p - q)[there] ** 2 / (p + q)[there]).sum()
    assert chi_squared(*pair) == pytest.approx(expected, abs=1e-12)


@given(pairs_of_counts())
def test_what_has_nothing_in_common_is_as_far_as_can_be(pair: tuple[list[int], list[int]]) -> None:
    one, two = [*pair[0], *[0] * len(pair[0])], [*[0] * len(pair[1]), *pair[1]]
    assert l1(one, two) == pytest.approx(2.0)
    assert chi_squared(one, two) == pytest.approx(2.0)
    assert jensen_shannon(one, two) == pytest.approx(1.0)
    assert cosine(one, two) == pytest.approx(1.0)
    assert math.isfinite(kullback_leibler(one, two))


def test_counts_of_nothing_have_no_direction() -> None:
    assert math.isnan(cosine([0, 0], [1, 2]))
