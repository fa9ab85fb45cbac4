"""The commits of one dataset in order, in memory, and the queries on them. Stores that keep a log build on it."""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections.abc import Collection
from itertools import islice
from typing import TypeAlias

import msgspec

from headgate.values.errors import UnknownRun
from headgate.values.mute import Mute, find_same, refuse_mute
from headgate.values.run import AlreadyCommitted, Decision, Revision, Ruling, Run, partition_sort_key

Commit: TypeAlias = Revision | Ruling | Mute
"""What a history consists of: a committed run, a decision about one, or a muted column."""


class Ledger:
    """Revisions, rulings and mutes by sequence. It answers as of any commit, and refuses a gap in the sequence."""

    def __init__(self, dataset: str) -> None:
        self.dataset = dataset
        self.head = 0
        self._revisions: list[Revision] = []
        self._rulings: list[Ruling] = []
        self._mutes: list[Mute] = []
        self._by_key: dict[str, Revision] = {}
        self._by_partition: dict[str, list[Revision]] = {}
        self._order: list[tuple[str, str]] = []  # the sort keys of all partitions, sorted
        self._by_run: dict[tuple[str, int], list[Ruling]] = {}
        self._undecided: dict[tuple[str, int], Revision] = {}

    def next_revision(self, run: Run) -> Revision:
        """The revision that a run would get if committed next, or the one that this attempt already got."""
        known = self._by_key.get(run.key)
        if known is not None:
            if known.attempt == run.attempt:
                return known
            raise AlreadyCommitted(known)
        earlier = self._by_partition.get(run.partition, ())
        number = max(run.after, earlier[-1].number if earlier else 0) + 1
        return Revision.of(run, number=number, sequence=self.head + 1)

    def next_ruling(
        self,
        partition: str,
        decision: Decision,
        number: int | None,
        who: str,
        note: str,
        source: str,
        only_first: bool,
    ) -> Ruling:
        """The ruling that a decision would become, or the current ruling if it is the same decision."""
        known = [each.number for each in self._by_partition.get(partition, [])]
        if not known or (number is not None and number not in known):
            raise UnknownRun(self.dataset, partition, number)
        chosen = number if number is not None else known[-1]
        current = self._current_ruling(partition, chosen, None)
        if current is not None and (only_first or (current.decision, current.source) == (decision, source)):
            return current
        return Ruling(
            dataset=self.dataset,
            partition=partition,
            number=chosen,
            sequence=self.head + 1,
            decision=decision,
            who=who,
            note=note,
            source=source,
        )

    def next_mute(self, column: str, until: float | None, who: str, note: str) -> Mute:
        """The mute that would be recorded next, or the newest one of the column if it says the same."""
        if not self._revisions:
            raise refuse_mute(self.dataset)
        wanted = Mute(dataset=self.dataset, sequence=self.head + 1, column=column, until=until, who=who, note=note)
        return find_same(self._mutes, wanted) or wanted

    def add(self, entry: Commit) -> None:
        """Add the next commit."""
        assert entry.sequence == self.head + 1, f"commit {entry.sequence} does not follow {self.head}"
        self.head = entry.sequence
        if isinstance(entry, Ruling):
            self._rulings.append(entry)
            self._by_run.setdefault((entry.partition, entry.number), []).append(entry)
            self._undecided.pop((entry.partition, entry.number), None)
        elif isinstance(entry, Mute):
            self._mutes.append(entry)
        else:
            self._revisions.append(entry)
            if entry.awaits_decision:
                self._undecided[entry.partition, entry.number] = entry
            self._by_key[entry.key] = entry
            if entry.partition not in self._by_partition:
                insort(self._order, partition_order(entry.partition))
            self._by_partition.setdefault(entry.partition, []).append(entry)

    def revisions(self, partition: str | None = None, as_of: int | None = None) -> tuple[Revision, ...]:
        revisions = self._revisions if partition is None else self._by_partition.get(partition, [])
        return tuple(self._with_decision(each, as_of) for each in revisions if as_of is None or each.sequence <= as_of)

    def find_undecided(self) -> tuple[Revision, ...]:
        return tuple(self._undecided.values())

    def rulings(self, partition: str | None = None, as_of: int | None = None) -> tuple[Ruling, ...]:
        return tuple(
            each
            for each in self._rulings
            if (partition is None or each.partition == partition) and (as_of is None or each.sequence <= as_of)
        )

    def mutes(self, as_of: int | None = None) -> tuple[Mute, ...]:
        return tuple(each for each in self._mutes if as_of is None or each.sequence <= as_of)

    def last(
        self, runs: int, as_of: int | None, before: str | None, only: Collection[Decision] | None
    ) -> tuple[Revision, ...]:
        end = len(self._order) if before is None else bisect_left(self._order, partition_order(before))
        return self._choose(range(end - 1, -1, -1), runs, as_of, only)[::-1]

    def first(
        self, runs: int, after: str, as_of: int | None, only: Collection[Decision] | None
    ) -> tuple[Revision, ...]:
        start = bisect_right(self._order, partition_order(after))
        return self._choose(range(start, len(self._order)), runs, as_of, only)

    def _choose(
        self, places: range, runs: int, as_of: int | None, only: Collection[Decision] | None
    ) -> tuple[Revision, ...]:
        found = (self._newest(self._order[place][1], as_of, only) for place in places)
        return tuple(islice((each for each in found if each is not None), max(0, runs)))

    def _newest(self, partition: str, as_of: int | None, only: Collection[Decision] | None) -> Revision | None:
        for revision in reversed(self._by_partition[partition]):
            if as_of is not None and revision.sequence > as_of:
                continue
            ruled = self._with_decision(revision, as_of)
            if only is None or ruled.decision in only:
                return ruled
        return None

    def _with_decision(self, revision: Revision, as_of: int | None) -> Revision:
        ruling = self._current_ruling(revision.partition, revision.number, as_of)
        if ruling is None:
            return revision
        return msgspec.structs.replace(revision, decision=ruling.decision, awaits_decision=False)

    def _current_ruling(self, partition: str, number: int, as_of: int | None) -> Ruling | None:
        rulings = self._by_run.get((partition, number), [])
        return next((each for each in reversed(rulings) if as_of is None or each.sequence <= as_of), None)


def partition_order(partition: str) -> tuple[str, str]:
    """The sort key of a partition; its text decides where two partitions compare equal."""
    return partition_sort_key(partition), partition
