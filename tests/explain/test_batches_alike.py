"""Held batches that failed for the same causes, found from what each recorded of those before it."""

from __future__ import annotations

import pytest

from headgate.explain.batches_alike import find_batches_alike, group_batches_alike
from headgate.gate.batch_verdict import BatchVerdict
from headgate.values.account import Account, HeldSequence
from headgate.values.run import Decision, Revision, Run


def verdict(
    day: int, *before: int, others: int = 0, decision: Decision | None = Decision.HELD, number: int = 1
) -> BatchVerdict:
    """The verdict on a day that failed as the days before it did; `others` of these failed for other causes, too."""
    sequence = HeldSequence(tuple(map(str, before)), alike=len(before) - others)
    run = Run(dataset="orders", partition=str(day), fingerprint="", account=Account(held=sequence))
    return BatchVerdict(run, Revision.of(run, number=number, sequence=day), decision=decision)


def test_the_batches_are_those_that_failed_for_the_same_causes_up_to_this_one() -> None:
    assert find_batches_alike(verdict(3, 1, 2)) == ("1", "2", "3")
    assert find_batches_alike(verdict(3, 1, 2, others=1)) == ("2", "3")
    assert find_batches_alike(verdict(3, 1, 2, others=2)) == find_batches_alike(verdict(3)) == ()


def test_what_is_no_longer_held_is_not_among_them() -> None:
    assert find_batches_alike(verdict(3, 1, 2), {"2", "3"}) == ("2", "3")
    assert find_batches_alike(verdict(3, 1, 2), {"3"}) == ()


@pytest.mark.parametrize("decision", [Decision.ACCEPTED, Decision.REJECTED, Decision.OBSERVED])
def test_a_batch_that_is_not_held_has_none(decision: Decision) -> None:
    assert find_batches_alike(verdict(3, 1, 2, decision=decision)) == ()


def test_a_batch_with_several_revisions_has_none() -> None:
    assert find_batches_alike(verdict(3, 1, 2, number=2)) == ()


def test_batches_are_grouped_and_each_is_in_one_group() -> None:
    days = [verdict(1), verdict(2, 1), verdict(3), verdict(4), verdict(5, 4), verdict(6, 4, 5)]
    assert group_batches_alike(days) == [("1", "2"), ("4", "5", "6")]


def test_decided_batches_are_in_no_group() -> None:
    days = [verdict(1, decision=Decision.REJECTED), verdict(2, 1), verdict(3, 1, 2)]
    assert group_batches_alike(days) == [("2", "3")]
    assert group_batches_alike(days[:2]) == []
