"""How a metric lies beside the runs before, in words: the past range first, the allowed one second, and factors."""

from __future__ import annotations

import math

import pytest

from headgate.explain.change_wording import (
    describe_beside_past,
    describe_expected,
    describe_factor,
    find_column_factor,
    find_factor,
)
from headgate.values.account import MetricChange
from headgate.values.expectation import Expectation, Source
from headgate.values.key import MetricKey
from headgate.values.outcome import Measured
from headgate.values.predicate import Between, OneOf, Predicate
from headgate.values.schema import Kind

DAY = 86_400.0
PRICE = MetricKey("median", ("price",))


@pytest.mark.parametrize(
    ("metric", "change", "allowed", "words"),
    [
        (
            "median(price)",
            MetricChange(30.5, 23.9, 24.9, 30, 24.4),
            Between(22, 27),
            "price: median 30.5 (23.9 to 24.9 in 30 runs; allowed 22 to 27)",
        ),
        (
            "median(price)",
            MetricChange(27.00004, 23.9, 24.9, 1, 24.4),
            Between(22, 27),
            "price: median 27.00004 (23.9 to 24.9 in 1 run; allowed 22 to 27)",
        ),
        ("size()", MetricChange(12, 110, 130, 30, 120), Between(90.4, 151.2), "12 rows (110 to 130 in 30 runs; "),
        (
            "size()",
            MetricChange(12, 110, 130, 30, 120),
            Between(90.4, 151.2),
            "12 rows (110 to 130 in 30 runs; allowed 91 to 151), about a tenth as many",
        ),
        (
            "completeness(price)",
            MetricChange(0.9889, 1, 1, 30, 1),
            Between(low=0.989),
            "price is 1.11% empty (0.00% in 30 runs; allowed at most 1.10%)",
        ),
        (
            "approx_count_distinct(origin)",
            MetricChange(2, 3, 3, 30, 3),
            Between(2.7, 3.301),
            "origin: 2 different values (3 in 30 runs; allowed 3)",
        ),
        (
            "new_values(origin)",
            MetricChange(0.348, 0, 0, 25, 0),
            Between(high=0.1),
            "34.8% of origin are values that no run had before (0.0% in 25 runs; allowed at most 10.0%)",
        ),
        (
            "ks_dist(price)",
            MetricChange(1, 0.01, 0.04, 29, 0.02),
            Between(high=0.1),
            "ks_dist(price) is 1 (0.01 to 0.04 in 29 runs; allowed at most 0.1)",
        ),
        (
            "max(day)",
            MetricChange(0, 10 * DAY, 10 * DAY, 8, 10 * DAY, Kind.DATE, is_shifted=True),
            Between(9 * DAY, 11 * DAY, moments=True),
            "day: largest 1970-01-01 (1970-01-11 by the times of 8 runs; allowed 1970-01-10 to 1970-01-12)",
        ),
        ("sum(n)", MetricChange(5, 7, 7, 30, 7), OneOf((7.0,)), "sum(n) is 5 (7 in 30 runs; allowed 7)"),
    ],
)
def test_the_past_range_comes_before_the_allowed_one(
    metric: str, change: MetricChange, allowed: Predicate, words: str
) -> None:
    judgement = Expectation(MetricKey.parse(metric), allowed, Source.HISTORY).judge(Measured(change.value))
    assert describe_beside_past(judgement, change).startswith(words)
    assert describe_expected(judgement.expectation, change) in describe_beside_past(judgement, change)


def test_what_has_no_past_is_told_by_what_is_allowed() -> None:
    assert describe_expected(Expectation(PRICE, Between(22, 27)), None) == "22 to 27"


@pytest.mark.parametrize(
    ("change", "factor"),
    [
        (MetricChange(2_440, 23.9, 24.9, 30, 24.4), 100),
        (MetricChange(-2_440, -24.9, -23.9, 30, -24.4), 100),
        (MetricChange(2.44, 23.9, 24.9, 30, 24.4), 0.1),
        (MetricChange(36.6, 23.9, 24.9, 30, 24.4), None),  # half as much again
        (MetricChange(80, 5, 70, 30, 20), None),  # it was nearly as large before
        (MetricChange(80, -1, 1, 30, 0.1), None),  # what may be 0 has no factor
        (MetricChange(-2_440, 23.9, 24.9, 30, 24.4), None),
        (MetricChange(math.inf, 23.9, 24.9, 30, 24.4), None),
        (MetricChange(2_440, 23.9, 24.9, 30), None),
    ],
)
def test_a_factor_is_found_where_a_value_is_several_times_as_large(change: MetricChange, factor: float | None) -> None:
    assert find_factor(PRICE, change) == (None if factor is None else pytest.approx(factor))


def test_shares_distances_and_timestamps_have_no_factor() -> None:
    change = MetricChange(0.9, 0.1, 0.11, 30, 0.1)
    assert find_factor(MetricKey("most_frequent_ratio", ("a",)), change) is None
    assert find_factor(MetricKey("ks_dist", ("a",)), change) is None
    assert find_factor(MetricKey("max", ("a",)), MetricChange(9 * DAY, DAY, DAY, 30, DAY, Kind.DATE)) is None


def test_a_column_has_a_factor_if_its_mean_and_its_median_agree() -> None:
    def factor_of(mean: float, median: float) -> float | None:
        past = {"mean(a)": MetricChange(mean, 9, 11, 30, 10), "median(a)": MetricChange(median, 9, 11, 30, 10)}
        return find_column_factor("a", past)

    assert factor_of(1_000, 990) == pytest.approx(100)
    assert factor_of(1_000, 10) is None
    assert factor_of(1_000, 300) is None
    assert find_column_factor("b", {}) is None


@pytest.mark.parametrize(
    ("factor", "words"),
    [
        (100.4, "about 100 times as large"),
        (97, "about 100 times as large"),
        (2.34, "about 2.3 times as large"),
        (123_456, "about 120,000 times as large"),
        (0.5, "about half as large"),
        (0.01, "about a hundredth as large"),
        (1 / 24.9, "about 1/25 as large"),
        (0.42, "about 42% as large"),
    ],
)
def test_a_factor_is_said_in_words(factor: float, words: str) -> None:
    assert describe_factor(factor) == words


@pytest.mark.parametrize("value", [1e-310, 5e-324, 1e300])
def test_how_many_times_is_not_said_of_what_is_beyond_all_measure(value: float) -> None:
    assert find_factor(MetricKey("mean", ("price",)), MetricChange(value, 23.9, 24.9, 30, 24.4)) is None
