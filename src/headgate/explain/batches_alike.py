"""Finds held batches that failed for the same causes and can be decided about together, and counts those that wait."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from headgate.explain.subject import Subject
from headgate.values.run import Decision


def find_batches_alike(verdict: Subject, held: Collection[str] | None = None) -> tuple[str, ...]:
    """The held batches that failed for the same causes, up to this one; none if it is the only one.

    `held` are the partitions that are held now; without it, those that were when the batch was judged. Of a partition
    with several revisions a person has to say which one is meant, so it is decided about alone.
    """
    if verdict.decision not in (None, Decision.HELD) or verdict.revision.number > 1:
        return ()
    before = [each for each in verdict.account.held.alike_partitions if held is None or each in held]
    return (*before, verdict.partition) if before else ()


def group_batches_alike(verdicts: Sequence[Subject]) -> list[tuple[str, ...]]:
    """Those of some batches, in the order of their partitions, that are held and failed for the same causes.

    The groups come in that order, too. A batch that is alone with its causes is in none.
    """
    held = {each.partition for each in verdicts if each.decision is Decision.HELD}
    groups: list[tuple[str, ...]] = []
    for verdict in reversed(verdicts):
        group = find_batches_alike(verdict, held) if verdict.partition in held else ()
        if group:
            groups.append(group)
            held.difference_update(group)
    return groups[::-1]


def describe_batches(batches: Sequence[str]) -> str:
    """How many batches are held for the same reason, and which.

    >>> describe_batches(("2026-11-12", "2026-11-13", "2026-11-14"))
    '3 batches are held for the same reason: 2026-11-12 to 2026-11-14'
    """
    return f"{len(batches)} batches are held for the same reason: {batches[0]} to {batches[-1]}"


def describe_waiting(batches: Sequence[str]) -> str:
    """How many held batches nobody has decided about, and which is the oldest; empty if there are none.

    >>> describe_waiting(["2026-11-14"]), describe_waiting(["2026-11-02", "2026-11-13", "2026-11-14"])
    ('1 batch waits for a decision: 2026-11-14', '3 batches wait for a decision, the oldest is 2026-11-02')
    """
    if not batches:
        return ""
    if len(batches) == 1:
        return f"1 batch waits for a decision: {batches[0]}"
    return f"{len(batches):,} batches wait for a decision, the oldest is {batches[0]}"
