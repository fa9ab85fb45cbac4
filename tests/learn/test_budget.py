"""One budget for the proposals of all learners."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headgate.learn.budget import TARGET_CLAUSES, choose_proposals
from headgate.values.errors import MisuseError
from headgate.values.expectation import Expectation, Source
from headgate.values.key import MetricKey
from headgate.values.predicate import Between
from headgate.values.proposal import Proposal


def proposal(
    metric: str,
    cost: float | None,
    catches: str,
    source: Source = Source.HISTORY,
    pinned: bool = False,
    high: float = 1.0,
) -> Proposal:
    expected = Expectation(MetricKey.parse(metric), Between(high=high), source, false_alarm=cost)
    return Proposal(expected, frozenset(("c", issue) for issue in catches), pinned=pinned)


def metrics(chosen: list[Proposal]) -> list[str]:
    return sorted(str(each.expectation.metric) for each in chosen)


def test_proposals_of_all_learners_are_chosen_from_together() -> None:
    offered = [
        proposal("mean(c)", 0.002, "abc"),
        proposal("pattern_match(c)", 0.001, "de", Source.PATTERNS),
        proposal("size()", 0.003, "f", Source.NOVELTY),
        proposal("max(c)", 0.009, "abc"),
    ]
    found = choose_proposals(offered, 0.006)
    assert {each.expectation.source for each in found} == {Source.HISTORY, Source.PATTERNS, Source.NOVELTY}
    assert metrics(found) == ["mean(c)", "pattern_match(c)", "size()"]


def test_the_cheaper_learner_wins_where_both_catch_the_same_and_one_can_be_paid() -> None:
    offered = [proposal("mean(c)", 0.005, "abc"), proposal("pattern_match(c)", 0.001, "abc", Source.PATTERNS)]
    assert metrics(choose_proposals(offered, 0.005)) == ["pattern_match(c)"]


def test_the_rest_of_the_budget_goes_to_a_redundant_proposal_of_another_metric() -> None:
    offered = [proposal("pattern_match(c)", 0.001, "abc", Source.PATTERNS), proposal("mean(c)", 0.0005, "ab")]
    assert metrics(choose_proposals(offered, 0.01)) == ["mean(c)", "pattern_match(c)"]
    assert metrics(choose_proposals(offered, 0.001)) == ["pattern_match(c)"]


def test_a_redundant_proposal_is_only_for_columns_with_few_clauses() -> None:
    names = ("mean", "max", "min", "median", "stddev")
    offered = [proposal(f"{name}(c)", 0.0001, "abc") for name in names]
    assert len(choose_proposals(offered, 1.0)) == TARGET_CLAUSES
    needed = [proposal(f"{name}(c)", 0.0001, issue) for name, issue in zip(names, "abcde", strict=True)]
    assert len(choose_proposals([*needed, proposal("sum(c)", 0.0001, "a")], 1.0)) == len(needed)


def test_redundant_proposals_never_make_more_clauses_than_allowed() -> None:
    offered = [proposal(f"{name}(c)", 0.0001, "abc") for name in ("mean", "max", "min")]
    assert len(choose_proposals(offered, 1.0, max_per_column=1)) == 1
    assert len(choose_proposals(offered, 1.0, max_per_column=2)) == 2


def test_of_one_family_one_is_chosen() -> None:
    offered = [proposal("mean(c)", 0.001, "a", high=9.0), proposal("mean(c)", 0.004, "ab", high=2.0)]
    assert [each.cost for each in choose_proposals(offered, 0.01)] == [0.004]
    assert [each.cost for each in choose_proposals(offered, 0.002)] == [0.001]


def test_a_proposal_that_catches_nothing_is_not_chosen() -> None:
    assert choose_proposals([proposal("mean(c)", 0.0, "")], 1.0) == []


def test_pins_are_always_chosen() -> None:
    offered = [proposal("mean(c)", None, "", Source.DECLARED, pinned=True), proposal("max(c)", 0.001, "a")]
    assert metrics(choose_proposals(offered, 0.0, max_per_column=0)) == ["mean(c)"]
    assert metrics(choose_proposals(offered, 0.01)) == ["max(c)", "mean(c)"]


def test_pins_are_always_chosen_by_the_plain_algorithm_too() -> None:
    offered = [proposal("mean(c)", None, "", Source.DECLARED, pinned=True), proposal("max(c)", 0.001, "a")]
    assert metrics(choose_proposals(offered, 0.01, paper_algorithm=True)) == ["max(c)", "mean(c)"]


@pytest.mark.parametrize("budget", [-1e-9, 1.0001, float("nan"), float("inf")])
def test_a_budget_that_is_no_share_is_misuse(budget: float) -> None:
    with pytest.raises(MisuseError, match="share of runs"):
        choose_proposals([], budget)


def test_nothing_offered_is_nothing_chosen() -> None:
    assert choose_proposals([], 0.5) == []


offers = st.lists(
    st.builds(
        proposal,
        st.sampled_from(["mean(a)", "mean(b)", "max(a)", "max(b)", "size()"]),
        st.floats(0.0, 0.2),
        st.text("abcdef", max_size=6),
        st.sampled_from(list(Source)),
        st.just(False),
        st.floats(0, 9),
    ),
    max_size=12,
)


@settings(max_examples=150, deadline=None)
@given(offers, st.floats(0.0, 0.5), st.sampled_from([None, 0, 1, 2]), st.booleans())
def test_whatever_is_offered_the_budget_and_the_limits_hold(
    offered: list[Proposal], budget: float, most: int | None, plain: bool
) -> None:
    found = choose_proposals(offered, budget, max_per_column=most, paper_algorithm=plain)
    assert sum(each.cost for each in found) <= budget * (1 + 1e-12)
    assert all(each in offered for each in found)
    if not plain:
        assert len({each.family for each in found}) == len(found)
        for column in ("", "a", "b"):
            assert most is None or sum(each.column == column for each in found) <= most
