"""Stretches of runs with the same outcome."""

from __future__ import annotations

import pytest

from headgate.explain.run_stretches import count_runs_a_day, group_runs
from headgate.values.expectation import Status
from headgate.values.run import Decision, Revision


def make_revision(at: int, status: Status = Status.PASS, number: int = 1) -> Revision:
    decision = Decision.PUBLISHED if status is Status.PASS else Decision.OBSERVED
    partition = f"2026-11-{18 + at // 288}T{at // 12 % 24:02}:{at * 5 % 60:02}"
    return Revision(
        dataset="clicks",
        partition=partition,
        number=number,
        sequence=at + 1,
        fingerprint="",
        suite="",
        status=status,
        basis=at,
        at=float(at),
        attempt=str(at),
        decision=decision,
    )


def test_runs_with_one_outcome_are_a_stretch() -> None:
    outcomes = [Status.PASS] * 4 + [Status.FAIL] * 3 + [Status.PASS] * 2
    stretches = group_runs(make_revision(at, status) for at, status in enumerate(outcomes))
    assert [(each.name, len(each.revisions), each.last.status.value) for each in stretches] == [
        ("2026-11-18T00:00 to 00:15", 4, "pass"),
        ("2026-11-18T00:20 to 00:30", 3, "fail"),
        ("2026-11-18T00:35 to 00:40", 2, "pass"),
    ]


def test_a_stretch_over_midnight_has_both_days() -> None:
    [stretch] = group_runs(make_revision(at) for at in range(286, 290))
    assert stretch.name == "2026-11-18T23:50 to 2026-11-19T00:05"


def test_a_partition_that_was_judged_again_is_alone() -> None:
    revisions = [make_revision(0), make_revision(1, number=2), make_revision(2, number=2), make_revision(3)]
    assert [each.name for each in group_runs(revisions)] == [each.partition for each in revisions]


@pytest.mark.parametrize(
    ("partitions", "count"),
    [
        ([f"2026-11-{day:02}" for day in range(1, 20)], 1),
        ([make_revision(at).partition for at in range(90)], 288),
        (["2026-11-18T08:00"], 0),
        (["2026-11-18T08:00", "a batch"], 0),
        (["2026-11-18", "2026-11-18"], 0),
        ([], 0),
    ],
)
def test_runs_of_a_day_are_counted_by_their_names(partitions: list[str], count: int) -> None:
    assert count_runs_a_day(partitions) == count
