"""The form of the paper: Propositions 1 to 3, Algorithms 1 and 4, on series made by hand."""

from __future__ import annotations

import math
from collections.abc import Sequence

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headgate.learn.history.learn import learn_program
from headgate.learn.history.paper import REACHES, PaperBounds
from headgate.learn.history.paper_proposals import PaperProposals
from headgate.learn.issue_effects import AppliedEffect
from headgate.learn.past import Past
from headgate.stats.tails import cantelli, chebyshev, normal
from headgate.values.predicate import Between
from headgate.values.proposal import Proposal
from headgate.values.schema import Kind
from tests.learn.histories import orders, orders_effects, past_of

LEVEL = (10.0 + np.random.default_rng(2).normal(0, 1, 30)).tolist()
GROWTH = [100.0 * day + float(noise) for day, noise in enumerate(np.random.default_rng(2).normal(0, 3, 30))]


def offered(
    name: str, series: Sequence[float], broken_values: Sequence[float], paper: PaperBounds | None = None
) -> list[Proposal]:
    """What the paper proposes for one metric that issues would bring to these values."""
    past = past_of({name: series}, Kind.FLOAT)
    return list((paper or PaperBounds()).propose_bands(past, effects_of(broken_values)))


def effects_of(values: Sequence[float]) -> list[AppliedEffect]:
    issues = tuple(f"issue {at}" for at in range(len(values)))
    return [AppliedEffect("x", issues, np.array([0]), np.array([[value] for value in values]))]


def reach_of(proposal: Proposal, mean: float) -> float:
    predicate = proposal.expectation.predicate
    assert isinstance(predicate, Between)
    assert predicate.high is not None
    return predicate.high - mean


WIDE = [10.0 + reach for reach in (1.2, 2.2, 4.0, 8.0, 15.0, 30.0, 60.0)]


@pytest.mark.parametrize("name", ["max(x)", "stddev(x)", "unique_ratio(x)", "sum(x)"])
def test_metrics_of_no_known_distribution_have_the_bound_of_chebyshev(name: str) -> None:
    check_bound(name, chebyshev)


@pytest.mark.parametrize("name", ["mean(x)", "completeness(x)", "size()", "str_len(x)"])
def test_metrics_that_are_means_over_rows_have_that_of_the_normal_distribution(name: str) -> None:
    check_bound(name, normal)


@pytest.mark.parametrize("name", ["value_l1(x)", "ks_dist(x)", "pattern_l1(x)"])
def test_distances_have_that_of_cantelli_and_no_lower_end(name: str) -> None:
    series = [math.nan, *LEVEL]
    check_bound(name, cantelli, series)
    for each in offered(name, series, WIDE):
        assert isinstance(each.expectation.predicate, Between)
        assert each.expectation.predicate.low is None


def check_bound(name: str, bound: object, series: Sequence[float] = LEVEL) -> None:
    mean, deviation = float(np.nanmean(series)), float(np.nanstd(series, ddof=1))
    found = offered(name, series, WIDE)
    assert len(found) > 3
    for each in found:
        reach = reach_of(each, mean)
        assert each.cost == pytest.approx(float(bound(reach, deviation)), rel=1e-6, abs=1e-300)  # type: ignore[operator]
        assert np.isclose(reach / deviation, REACHES).any()


def test_a_narrower_band_costs_more_and_catches_more() -> None:
    found = offered("max(x)", LEVEL, WIDE)
    assert [len(each.catches) for each in found] == sorted(len(each.catches) for each in found)
    assert [each.cost for each in found] == sorted(each.cost for each in found)


@pytest.mark.parametrize("value", [0.0, 1.0, 3.0, 100.0, -7.0])
def test_a_constant_history_costs_nothing_and_allows_its_value_alone(value: float) -> None:
    (found,) = offered("max(x)", [value] * 30, [value + 1e-9 * max(abs(value), 1.0)])
    assert found.cost == 0.0
    assert found.expectation.predicate == Between(value, value)


@pytest.mark.parametrize("value", [0.1])
def test_so_does_one_that_is_no_whole_number(value: float) -> None:
    (found,) = offered("max(x)", [value] * 30, [value + 1.0])
    assert found.cost == 0.0
    assert found.expectation.predicate == Between(value, value)


def test_a_trend_is_judged_by_its_difference() -> None:
    found = offered("size()", GROWTH, [0.0, 10_000.0])
    assert found
    steps = np.diff(GROWTH)
    for each in found:
        predicate = each.expectation.predicate
        assert isinstance(predicate, Between)
        assert each.note == "lag 1"
        assert predicate.low is not None
        assert predicate.high is not None
        assert (predicate.low + predicate.high) / 2 == pytest.approx(GROWTH[-1] + steps.mean())
        assert np.isclose((predicate.high - predicate.low) / 2 / steps.std(ddof=1), REACHES).any()


def test_without_making_it_stationary_a_trend_is_a_wide_level() -> None:
    found = offered("size()", GROWTH, [0.0, 100_000.0], PaperBounds(stationary=False))
    assert found
    for each in found:
        predicate = each.expectation.predicate
        assert isinstance(predicate, Between)
        assert predicate.low is not None
        assert predicate.high is not None
        assert (predicate.low + predicate.high) / 2 == pytest.approx(np.mean(GROWTH))


def test_without_distances_none_is_proposed() -> None:
    assert offered("value_l1(x)", [math.nan, *LEVEL], WIDE)
    assert not offered("value_l1(x)", [math.nan, *LEVEL], WIDE, PaperBounds(distances=False))


def test_a_metric_that_a_run_lacks_is_left_out() -> None:
    assert not offered("max(x)", [*LEVEL[:10], math.nan, *LEVEL[11:]], WIDE)


@pytest.mark.parametrize("delta", [0.0, 0.001, 0.01, 0.1])
def test_the_clauses_of_each_column_cost_delta_at_most(delta: float) -> None:
    found = learn_program(
        orders(), bounds="paper", budget="column", false_alarms=delta, schema=False, issue_effects=orders_effects()
    )
    for column in orders().schema.labels:
        assert sum(each.expectation.false_alarm or 0.0 for each in found.clauses_of(column)) <= delta


def test_the_row_count_is_paid_by_every_column() -> None:
    cost = 0.004
    offers = shared(cost)
    assert len(offers.build_program(cost, budget="column").clauses) == 1
    assert not offers.build_program(cost / 2, budget="column").clauses


def shared(cost: float) -> PaperProposals:
    past = past_of({"size()": LEVEL}, Kind.FLOAT)
    made = next(iter(PaperBounds().propose_bands(past, effects_of([1e6]))))
    expensive = msgspec.structs.replace(made, expectation=msgspec.structs.replace(made.expectation, false_alarm=cost))
    return PaperProposals(past, (expensive,), (("x", "issue 0"),))


def test_no_column_has_more_clauses_than_allowed() -> None:
    found = learn_program(orders(), bounds="paper", clauses=1, schema=False, issue_effects=orders_effects())
    for column in orders().schema.labels:
        assert len(found.clauses_of(column)) <= 1


numbers = st.one_of(st.sampled_from([0.0, 0.1, math.nan, math.inf, 5e-324]), st.floats(-9, 9), st.floats(-1e100, 1e100))


@settings(max_examples=100, deadline=None)
@given(
    st.lists(numbers, min_size=7, max_size=30),
    st.sampled_from(["completeness(x)", "ks_dist(x)", "size()", "max(x)"]),
    st.lists(numbers, min_size=1, max_size=3),
)
def test_nothing_that_is_not_a_number_ever_becomes_a_threshold(
    series: list[float], name: str, broken_values: list[float]
) -> None:
    for each in offered(name, series, broken_values):
        predicate = each.expectation.predicate
        assert isinstance(predicate, Between)
        ends = [end for end in (predicate.low, predicate.high) if end is not None]
        assert ends
        assert all(map(math.isfinite, ends))
        assert 0 <= each.cost <= 1


def test_the_largest_numbers_raise_no_warning() -> None:
    offered("max(x)", [0.0, 1e300, 0.0, 0.0, 0.0, 1e300, 0.0], [1e9])


def test_a_past_without_measures_proposes_nothing() -> None:
    empty = Past(("1",), (), np.zeros((1, 0)), orders().schemas[:1], {})
    assert list(PaperBounds().propose_bands(empty, [])) == []
