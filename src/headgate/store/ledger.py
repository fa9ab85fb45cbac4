"""The commits of one dataset in order, and all that follows from them. Pure: a store that keeps a log reads it so."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Collection

import msgspec

from headgate.values.errors import UnknownRun
from headgate.values.run import AlreadyCommitted, Decision, Revision, Ruling, Run, partition_sort_key


class Ledger:
    """Revisions and rulings by sequence. Answers as of any commit; refuses what does not follow from what is there."""

    def __init__(self, dataset: str) -> None:
        self.dataset = dataset
        self.head = 0
        self._revisions: list[Revision] = []
        self._rulings: list[Ruling] = []
        self._by_key: dict[str, Revision] = {}
        self._by_partition: dict[str, list[Revision]] = {}
        self._places: list[tuple[str, str]] = []  # of all partitions, in their order
        self._about: dict[tuple[str, int], list[Ruling]] = {}

    def next_revision(self, run: Run) -> Revision:
        """The revision that a run would become if it were committed next, or the one that this attempt already is."""
        held = self._by_key.get(run.key)
        if held is not None:
            if held.attempt == run.attempt:
                return held
            raise AlreadyCommitted(held)
        number = len(self._by_partition.get(run.partition, ())) + 1
        return Revision.of(run, number=number, sequence=self.head + 1)

    def next_ruling(self, partition: str, decision: Decision, number: int | None, who: str, note: str) -> Ruling:
        """The ruling that a decision would become, or the one that stands if it says the same."""
        known = self._by_partition.get(partition, [])
        if not known or (number is not None and not 1 <= number <= len(known)):
            raise UnknownRun(self.dataset, partition, number)
        chosen = number if number is not None else len(known)
        standing = self._standing(partition, chosen, None)
        if standing is not None and standing.decision is decision:
            return standing
        return Ruling(
            dataset=self.dataset,
            partition=partition,
            number=chosen,
            sequence=self.head + 1,
            decision=decision,
            who=who,
            note=note,
        )

    def add(self, entry: Revision | Ruling) -> None:
        """Take in the next commit."""
        assert entry.sequence == self.head + 1, f"commit {entry.sequence} does not follow {self.head}"
        self.head = entry.sequence
        if isinstance(entry, Ruling):
            self._rulings.append(entry)
            self._about.setdefault((entry.partition, entry.number), []).append(entry)
        else:
            self._revisions.append(entry)
            self._by_key[entry.key] = entry
            if entry.partition not in self._by_partition:
                insort(self._places, standing(entry.partition))
            self._by_partition.setdefault(entry.partition, []).append(entry)

    def revisions(self, partition: str | None = None, as_of: int | None = None) -> tuple[Revision, ...]:
        found = self._revisions if partition is None else self._by_partition.get(partition, [])
        return tuple(self._with_decision(each, as_of) for each in found if as_of is None or each.sequence <= as_of)

    def rulings(self, partition: str | None = None, as_of: int | None = None) -> tuple[Ruling, ...]:
        return tuple(
            each
            for each in self._rulings
            if (partition is None or each.partition == partition) and (as_of is None or each.sequence <= as_of)
        )

    def last(
        self, runs: int, as_of: int | None, before: str | None, only: Collection[Decision] | None
    ) -> tuple[Revision, ...]:
        end = len(self._places) if before is None else bisect_left(self._places, standing(before))
        chosen: list[Revision] = []
        for _, partition in (self._places[at] for at in range(end - 1, -1, -1)):
            if len(chosen) >= runs:
                break
            newest = self._newest(partition, as_of, only)
            if newest is not None:
                chosen.append(newest)
        return tuple(reversed(chosen))

    def _newest(self, partition: str, as_of: int | None, only: Collection[Decision] | None) -> Revision | None:
        for revision in reversed(self._by_partition[partition]):
            if as_of is not None and revision.sequence > as_of:
                continue
            ruled = self._with_decision(revision, as_of)
            if only is None or ruled.decision in only:
                return ruled
        return None

    def _with_decision(self, revision: Revision, as_of: int | None) -> Revision:
        standing = self._standing(revision.partition, revision.number, as_of)
        return revision if standing is None else msgspec.structs.replace(revision, decision=standing.decision)

    def _standing(self, partition: str, number: int, as_of: int | None) -> Ruling | None:
        said = self._about.get((partition, number), [])
        return next((each for each in reversed(said) if as_of is None or each.sequence <= as_of), None)


def standing(partition: str) -> tuple[str, str]:
    """Where a partition stands among all others."""
    return partition_sort_key(partition), partition
