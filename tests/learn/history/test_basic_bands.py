"""The ranges of rows, complete columns, keys and times: those of a table cost together what one of them states."""

from __future__ import annotations

import pytest

from headgate.learn.history.basic_bands import LEAST_CHANGES, BasicBands
from headgate.learn.history.rarity import Rarities
from headgate.learn.past import Past
from headgate.learn.pooled_rates import PooledRates, load_pooled_rates
from headgate.values.proposal import Proposal
from headgate.values.rarity_memory import Part
from tests.learn.histories import past_of


def bands(past: Past, pooled: PooledRates | None = None) -> BasicBands:
    pooled = pooled or load_pooled_rates()
    return BasicBands(Rarities.of(past, pooled), pooled)


def propose(bands: BasicBands, part: Part, budget: float) -> list[Proposal]:
    limit = bands.find_limit(part, budget)
    return [] if limit is None else bands.propose(part, limit)


def by_name(proposals: list[Proposal]) -> dict[str, Proposal]:
    return {str(each.expectation.metric): each for each in proposals}


def test_one_null_in_fifty_rows_is_inside_the_range_and_six_are_not() -> None:
    past = past_of({"size()": [50.0] * 30, "completeness(x)": [1.0] * 30})
    nulls = by_name(propose(bands(past), Part.BASICS, 0.002))["completeness(x)"]
    assert nulls.expectation.predicate.holds(0.98)
    assert not nulls.expectation.predicate.holds(0.88)


@pytest.mark.parametrize("budget", [0.0005, 0.001, 0.01])
def test_rows_have_a_range_however_small_the_budget(budget: float) -> None:
    past = past_of({"size()": [1_000.0] * 30, "completeness(x)": [1.0] * 30})
    (rows,) = propose(bands(past), Part.ROWS, budget)
    assert str(rows.expectation.metric) == "size()"
    assert rows.cost <= budget
    assert rows.expectation.predicate.holds(1_010)


def test_many_columns_cost_as_much_as_one() -> None:
    past = past_of({"size()": [1_000.0] * 30, **{f"completeness(c{at})": [1.0] * 30 for at in range(40)}})
    found = propose(bands(past), Part.BASICS, 0.002)
    assert len(found) == 40
    assert sum(each.cost for each in found) <= 0.002
    assert len({each.expectation.predicate for each in found}) == 1


def test_few_late_rows_are_inside_the_range_of_the_period_however_many_runs_have_none() -> None:
    past = past_of({"size()": [1e6] * 30, "outside_period(at)": [0.0] * 30})
    period = by_name(propose(bands(past), Part.BASICS, 0.05))["outside_period(at)"]
    assert period.expectation.predicate.holds(LEAST_CHANGES["outside_period"])


def test_without_evidence_there_is_no_range() -> None:
    past = past_of({"size()": [1_000.0] * 30})
    pooled = load_pooled_rates()
    assert propose(bands(past, PooledRates(pooled.grid, pooled.curves)), Part.ROWS, 0.5) == []
    assert propose(bands(past), Part.BASICS, 0.5) == []


@pytest.mark.parametrize("budget", [0.0005, 0.002])
def test_no_range_is_wider_than_a_reader_believes(budget: float) -> None:
    """Ten times what the runs lay within, or a tenth of what is possible for a share that never changed."""
    sizes = [1_000.0 + number % 3 for number in range(30)]
    past = past_of({"size()": sizes, "completeness(x)": [0.97] * 30, "completeness(y)": [1.0] * 30})
    (rows,) = propose(bands(past), Part.ROWS, budget)
    found = rows.expectation.predicate
    assert found.floor is not None
    assert found.ceiling is not None
    assert found.ceiling - found.floor <= 10 * max(2.0, 10.0)  # a hundredth of the typical value counts at least
    ends = [
        each.expectation.predicate.floor
        for part in (Part.BASICS, Part.NULLS)
        for each in propose(bands(past), part, budget)
    ]
    assert ends
    assert all(end is not None and end >= 0.87 - 1e-9 for end in ends)


def test_after_few_runs_a_range_may_be_of_any_width() -> None:
    past = past_of({"size()": [1_000.0, 1_001.0] * 4, "completeness(x)": [1.0] * 8})
    (rows,) = propose(bands(past), Part.ROWS, 0.0005)
    assert rows.expectation.predicate.holds(1_150.0)
