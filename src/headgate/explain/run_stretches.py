"""Runs one after another that have the same outcome, so that a day of five-minute windows is read in a few lines."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import NamedTuple

from headgate.values.period import read_period
from headgate.values.run import Revision

DENSE = 6
"""Runs a day from which on lists show stretches of runs."""
MOST_A_DAY = 288
"""Runs of a day that are looked at, at most: windows of five minutes."""
_SECONDS_A_DAY = 86_400


class RunStretch(NamedTuple):
    """Runs one after another with the same status and decision, oldest first."""

    revisions: tuple[Revision, ...]

    @property
    def last(self) -> Revision:
        return self.revisions[-1]

    @property
    def name(self) -> str:
        """The partition, or the first and the last one."""
        first, last = self.revisions[0].partition, self.last.partition
        return first if first == last else f"{first} to {shorten_name(last, first)}"


def shorten_name(name: str, beside: str) -> str:
    """A partition without the day, if the one beside it is of the same day.

    >>> shorten_name("2026-11-18T08:15", "2026-11-18T08:00"), shorten_name("2026-11-19T00:00", "2026-11-18T23:55")
    ('08:15', '2026-11-19T00:00')
    """
    day, mark, time = name.partition("T")
    return time if mark and beside.startswith(day + mark) else name


def count_runs_a_day(partitions: Sequence[str]) -> int:
    """How many runs there are on a day, by the times that the names of partitions tell; 0 if they tell none.

    >>> count_runs_a_day([f"2026-11-18T{hour:02}" for hour in range(10)]), count_runs_a_day(["a", "b"])
    (24, 0)
    """
    periods = [read_period(each) for each in partitions]
    known = [each.seconds for each in periods if each is not None]
    if len(known) < max(2, len(partitions)):
        return 0
    span = max(known) - min(known)
    return round((len(known) - 1) * _SECONDS_A_DAY / span) if span else 0


def group_runs(revisions: Iterable[Revision]) -> list[RunStretch]:
    """The stretches of runs, in their order. A partition that was judged again is alone."""
    groups = groupby(enumerate(revisions), lambda each: _find_outcome(*each))
    return [RunStretch(tuple(revision for _, revision in group)) for _, group in groups]


def _find_outcome(at: int, revision: Revision) -> tuple[object, ...]:
    return revision.status, revision.decision, at if revision.number > 1 else -1
