"""Fisher's exact test against scipy, and the least number that it rejects against a plain search."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy import stats

from headgate.stats.hypothesis import fisher_exact, least_rejected, log_factorial
from tests.timing import measure_least_seconds

EXAMPLES = settings(max_examples=200)
LARGE = 10_000_000
QUICK = 0.6  # seconds, on a busy machine


@st.composite
def tables(draw: st.DrawFn, most: int) -> tuple[int, int, int, int]:
    """Outside and seen, then and now; margins of 0 among them."""
    seen, now = draw(st.integers(0, most)), draw(st.integers(0, most))
    few = st.integers(0, 20)
    return draw(few.filter(lambda n: n <= seen) | st.integers(0, seen)), seen, draw(st.integers(0, now)), now


def by_scipy(outside: int, seen: int, outside_now: int, seen_now: int) -> float:
    table = [[outside, seen - outside], [outside_now, seen_now - outside_now]]
    return float(stats.fisher_exact(table).pvalue)


@EXAMPLES
@given(tables(10_000))
@example((0, 0, 0, 0))
@example((0, 0, 3, 10))
@example((0, 10, 0, 10))
@example((10, 10, 10, 10))
@example((5_000, 10_000, 5_000, 10_000))
@example((0, 10_000, 10_000, 10_000))
def test_the_p_is_that_of_scipy(table: tuple[int, int, int, int]) -> None:
    assert fisher_exact(*table) == pytest.approx(by_scipy(*table), rel=1e-6, abs=1e-24)


@EXAMPLES
@given(tables(60))
def test_tables_that_are_as_likely_as_this_one_count(table: tuple[int, int, int, int]) -> None:
    """Small tables have many ties, which rounding must not tell apart."""
    assert fisher_exact(*table) == pytest.approx(by_scipy(*table), rel=1e-9)


@EXAMPLES
@given(tables(1_000))
def test_then_and_now_may_be_swapped(table: tuple[int, int, int, int]) -> None:
    outside, seen, outside_now, seen_now = table
    assert fisher_exact(*table) == pytest.approx(fisher_exact(outside_now, seen_now, outside, seen), rel=1e-9)


def test_of_two_numbers_that_are_both_too_many_the_one_found_has_a_neighbour_that_is_not() -> None:
    """p is not monotone: 14 of 46 are too many, 15 are not, 16 are."""
    assert [fisher_exact(0, 11, now, 46) <= 0.05 for now in (13, 14, 15, 16)] == [False, True, False, True]
    assert least_rejected(0, 11, 46, 0.05) in (14, 16)


@EXAMPLES
@given(tables(10_000), st.sampled_from([0.001, 0.01, 0.05]))
def test_the_least_rejected_is_at_the_boundary(table: tuple[int, int, int, int], significance: float) -> None:
    outside, seen, _, seen_now = table
    least = least_rejected(outside, seen, seen_now, significance)
    assert 0 < least <= seen_now + 1 or seen_now == seen == 0
    if least <= seen_now:
        assert by_scipy(outside, seen, least, seen_now) <= significance
    if seen and least - 1 > outside * seen_now / seen:
        assert by_scipy(outside, seen, least - 1, seen_now) > significance


@EXAMPLES
@given(tables(1_000))
@example((602, 758, 0, 63))
def test_the_more_were_outside_the_more_may_be(table: tuple[int, int, int, int]) -> None:
    """But for one: the p-value of both sides jumps where the other side begins to count."""
    outside, seen, _, seen_now = table
    allowed = [least_rejected(each, seen, seen_now) for each in range(outside, min(outside + 10, seen) + 1)]
    assert all(later >= earlier - 1 for earlier, later in pairwise(allowed))
    assert allowed[-1] >= allowed[0]


@EXAMPLES
@given(st.integers(0, 10**12))
@example(0)
@example(15)
@example(16)
def test_log_factorial_is_that_of_the_gamma_function(number: int) -> None:
    assert float(log_factorial(np.array([number]))[0]) == pytest.approx(math.lgamma(number + 1), rel=1e-12)


def test_nothing_is_too_much_where_nothing_was_seen() -> None:
    assert least_rejected(0, 0, 100) == 101
    assert least_rejected(0, 100, 0) == 1


@pytest.mark.parametrize(("outside", "seen"), [(0, 1_000_000), (1_000, LARGE), (100_000, LARGE)])
def test_large_batches_are_judged_quickly(outside: int, seen: int) -> None:
    def judge() -> None:
        least_rejected.cache_clear()
        least_rejected(outside, seen, LARGE)

    assert measure_least_seconds(judge, QUICK) < QUICK
