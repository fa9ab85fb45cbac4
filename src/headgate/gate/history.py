"""The recorded runs of one dataset, as its gate finds, commits, caches and learns from them."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import msgspec

from headgate.explain.held_sequence import MAX_HELD
from headgate.explain.subject import RecentRuns
from headgate.gate.run_cache import RunCache
from headgate.gate.settings import Settings
from headgate.learn.drift import ANCHOR_SPAN, MIN_APART, choose_anchor_runs
from headgate.learn.learned import Learned, ProposalPool, nothing_learned
from headgate.learn.past import calendar_of
from headgate.learn.pooled_rates import PooledRates
from headgate.learn.surprises import MOST_REMEMBERED, AcceptedSurprises
from headgate.metrics.checksum import Checksum
from headgate.store.fault_points import fault_point
from headgate.store.ledger import partition_order
from headgate.store.port import HistoryStore
from headgate.store.reference_runs import ReferenceRuns, find_reference_runs, form_of
from headgate.values.errors import MisuseError, StoredDataError, UnknownRun
from headgate.values.mute import Mute
from headgate.values.period import Period, read_period
from headgate.values.run import (
    STOPPED,
    TRUSTED,
    AlreadyCommitted,
    Decision,
    Revision,
    Ruling,
    Run,
)
from headgate.values.state import State

_AFTER = " after "  # in the fingerprint of an input that was recorded before, with the number of the revision between
_MAX_NAMES = 5  # partitions that an error lists
_MAX_SEARCHED = 4_000  # runs among which earlier holidays and the like are looked for


def content_of(fingerprint: str) -> str:
    """The fingerprint of the content alone.

    >>> content_of("rows:c0ffee after 3"), content_of("rows:c0ffee")
    ('rows:c0ffee', 'rows:c0ffee')
    """
    content, _, number = fingerprint.rpartition(_AFTER)
    return content if content and number.isdecimal() else fingerprint


def _checksum_of(run: Run) -> State | None:
    return run.states.get(Checksum().state_key)


class DatasetHistory:
    """The history of one dataset in a store, and what the gate's settings make of it."""

    def __init__(self, store: HistoryStore, dataset: str, settings: Settings) -> None:
        self.store = store
        self.dataset = dataset
        self.settings = settings
        self._cache = RunCache(settings.runs)
        self._last_learned: tuple[tuple[Any, ...], Learned] | None = None

    @cached_property
    def pooled_rates(self) -> PooledRates:
        """What other tables tell; a benchmark sets it to what other datasets than its own tell."""
        return self.settings.find_rates(self.store.secret, self.dataset)

    # --- finding

    def find(self, partition: str, number: int | None = None) -> Revision:
        """The newest revision of a partition, or the one of this number."""
        known = self.store.revisions(self.dataset, partition)
        chosen = [revision for revision in known if number is None or revision.number == number]
        if not chosen:
            raise UnknownRun(self.dataset, partition, number)
        return chosen[-1]

    def find_for_ruling(self, partition: str, number: int | None) -> Revision:
        """The revision that a person means. If the partition has several they must say which: a newer one may have
        come since they read about it."""
        if number is not None:
            return self.find(partition, number)
        known = self.store.revisions(self.dataset, partition)
        if len(known) > 1:
            listed = ", ".join(f"{each.number} ({each.decision or 'undecided'})" for each in known[-3:])
            raise MisuseError(
                f"{self.dataset} {partition} has {len(known)} revisions: {listed}.",
                hint=f"Say which one is meant: number={known[-1].number} is the newest.",
            )
        return self.find(partition)

    def find_held_range(self, first: str, last: str) -> list[Revision]:
        """The held batches from one partition to another, both included, in the order of the partitions.

        A held batch that has other revisions is refused: a newer one may have come since the person read about it. A
        partition whose newest revision is not held has nothing to decide about.
        """
        if partition_order(first) > partition_order(last):
            raise MisuseError(f"{first} comes after {last}.", hint="Put the first partition of the range first.")
        held = self._group_held()
        names = [known[-1].partition for known in held]
        start, end = partition_order(first), partition_order(last)
        chosen = [known for known in held if start <= partition_order(known[-1].partition) <= end]
        if not chosen:
            others = f"Held are {', '.join(names[-_MAX_NAMES:])}." if names else "None of its batches is held."
            raise MisuseError(f"no batch of {self.dataset} from {first} to {last} is held.", hint=others)
        repeated = [f"{known[-1].partition} ({len(known)})" for known in chosen if len(known) > 1]
        if repeated:
            raise MisuseError(
                f"some batches of {self.dataset} from {first} to {last} have several revisions: {', '.join(repeated)}.",
                hint="Decide about each of these alone and say which revision is meant; then about the range.",
            )
        return [known[-1] for known in chosen]

    def find_waiting(self) -> list[Revision]:
        """The batches that wait for the decision of a person, in the order of the partitions: their newest revision is
        held."""
        return [known[-1] for known in self._group_held()]

    def _group_held(self) -> list[list[Revision]]:
        """All revisions of each partition whose newest one is held, in the order of the partitions."""
        revisions: dict[str, list[Revision]] = {}
        for revision in self.store.revisions(self.dataset):
            revisions.setdefault(revision.partition, []).append(revision)
        held = [known for known in revisions.values() if known[-1].decision is Decision.HELD]
        return sorted(held, key=lambda known: partition_order(known[-1].partition))

    def find_same_input(self, partition: str, fingerprint: str | None, source: str, suite: str) -> Revision | None:
        """The partition's newest revision, if it is of this very input, judged in the same way.

        It is found before the input is scanned: by the caller's fingerprint, or by its source. What is not known of one
        of the two, which is None or empty, is not compared.
        """
        newest = self._find_standing(partition, suite)
        if newest is None:
            return None
        if fingerprint is None:
            return newest if source and source == newest.source and not newest.unread else None
        same_source = source in ("", newest.source) or not newest.source
        return newest if same_source and content_of(newest.fingerprint) == fingerprint else None

    def find_same_content(self, run: Run, is_same_batch: Callable[[Revision, Run], bool]) -> Revision | None:
        """The partition's newest revision, if it has the same rows as a run, was judged in the same way, and is the
        same batch."""
        newest = self._find_standing(run.partition, run.suite)
        if newest is None or content_of(newest.fingerprint) != run.fingerprint or newest.number < run.after:
            return None
        if not is_same_batch(newest, run):
            return None
        # a fingerprint that the caller gave may be wrong
        return newest if _checksum_of(self.read(newest)) == _checksum_of(run) else None

    def _find_standing(self, partition: str, suite: str) -> Revision | None:
        """The partition's newest revision, if it was judged in the same way and not withdrawn."""
        known = self.store.revisions(self.dataset, partition)
        stands = known and known[-1].suite == suite and known[-1].decision is not Decision.WITHDRAWN
        return known[-1] if stands else None

    def read(self, revision: Revision) -> Run:
        """The run of a revision; it is read from the store once."""
        return self._cache.find(revision.attempt) or self.read_again(revision)

    def read_again(self, revision: Revision) -> Run:
        """The run of a revision, as the store gives it now."""
        run = self.store.run(revision)
        self._cache.add(run)
        return run

    def current_decision(self, revision: Revision) -> Decision | None:
        """What is decided about a revision by now."""
        return self.find(revision.partition, revision.number).decision

    def recent_runs(self, revision: Revision) -> RecentRuns:
        """How the dataset fared before a revision."""
        before = self.store.last(self.dataset, self.settings.runs, before=revision.partition)
        held = sum(earlier.decision in STOPPED for earlier in before)
        return RecentRuns(len(before), held, before[-1].status if before else None)

    def read_held_before(self, partition: str, as_of: int) -> list[tuple[Revision, Run]]:
        """The runs directly before a partition that are held, oldest first, without their states.

        A run that a person has decided about ends them; so does one whose name has another form, or that cannot be
        read: what they have in common with a batch is told, and nothing depends on it.
        """
        held: list[tuple[Revision, Run]] = []
        for revision in reversed(self.store.last(self.dataset, MAX_HELD, before=partition, as_of=as_of)):
            if revision.decision is not Decision.HELD or form_of(revision.partition) != form_of(partition):
                break
            try:
                run = self._cache.find_numbers(revision.attempt) or self.store.run(revision, states=False)
            except StoredDataError:
                break
            held.append((revision, run))
        return held[::-1]

    # --- recording

    def commit(self, run: Run, is_same_batch: Callable[[Revision, Run], bool] = lambda *_: True) -> Revision:
        """The revision of a run: that of the newest one, if it has the same rows and is the same batch.

        An input that comes again after another one is a new revision: it is current again.
        """
        fault_point("gate.judged")
        content = run.fingerprint
        while True:
            try:
                return self.store.commit(run)
            except AlreadyCommitted:
                named = msgspec.structs.replace(run, fingerprint=content)
                if (same := self.find_same_content(named, is_same_batch)) is not None:
                    return same
                name = f"{content}{_AFTER}{self.find(run.partition).number}"
                run = msgspec.structs.replace(run, fingerprint=name, attempt=uuid.uuid4().hex)

    def decide_first(self, revision: Revision, decision: Decision, note: str, who: str) -> Ruling:
        """Record a decision, unless there is one: then that one stands, and is returned."""
        partition, number = revision.partition, revision.number
        return self.store.decide(self.dataset, partition, decision, number=number, who=who, note=note, only_first=True)

    def decide(self, revision: Revision, decision: Decision, note: str, who: str, source: str = "") -> Ruling:
        partition, number = revision.partition, revision.number
        return self.store.decide(self.dataset, partition, decision, number=number, who=who, note=note, source=source)

    # --- learning

    def find_reference_runs(
        self, partition: str | None = None, as_of: int | None = None, period: Period | None = None
    ) -> ReferenceRuns:
        """The accepted runs that a batch is judged by, as the history was after a commit.

        For a batch on a listed day, earlier days of its list are added, however long ago, if their names tell them.
        """
        runs, days = self.settings.runs, self.settings.days
        found = find_reference_runs(self.store, self.dataset, runs, partition=partition, as_of=as_of, only=TRUSTED)
        name = days.find(period or read_period(partition)) if partition is not None else ""
        if not name or found.note:
            return found
        known = {each.attempt for each in found.revisions}
        earlier = self.store.last(self.dataset, _MAX_SEARCHED, before=partition, as_of=as_of, only=TRUSTED)
        listed = [
            each for each in earlier if each.attempt not in known and days.find(read_period(each.partition)) == name
        ]
        return found._replace(revisions=(*listed[-runs:], *found.revisions))

    def learn(self, before: str | None = None, as_of: int | None = None, *, mutes: Sequence[Mute] = ()) -> Learned:
        """What is learned from the accepted runs before a partition, as the history was after a commit."""
        return self.learn_from(self.find_reference_runs(before, as_of).revisions, before, mutes=mutes, as_of=as_of)

    def learn_from(
        self,
        revisions: Sequence[Revision],
        following: str | None = None,
        period: Period | None = None,
        *,
        mutes: Sequence[Mute] = (),
        as_of: int | None = None,
    ) -> Learned:
        """What is learned from these runs about the batch of the partition that follows. The last result is kept.

        Args:
            revisions: The runs, oldest first.
            following: The partition that is judged next.
            period: Its period, if its name does not tell it.
            mutes: The columns that are muted. Nothing is expected of them.
            as_of: The commit as of which accepted surprises are remembered; the last one by default.
        """
        runs = [self.read(revision) for revision in revisions]
        # by the period of the batch, not its name, so that what `prepare` learned about the next batch serves
        expected = calendar_of(runs, following, period).periods[-1]
        accepted = self.find_accepted(as_of)
        oldest = self._find_anchor_runs(revisions, accepted, as_of)
        attempts = [tuple(each.attempt for each in listed) for listed in (revisions, accepted, oldest)]
        basis = expected, self._settings_with(mutes).scope, *attempts
        if self._last_learned is None or self._last_learned[0] != basis:
            pool = self.make_pool(runs, accepted, following, period, mutes=mutes, oldest=oldest)
            self._last_learned = basis, self.spend_budget(pool, mutes=mutes)
        return self._last_learned[1]

    def find_accepted(self, as_of: int | None = None) -> tuple[Revision, ...]:
        """The newest runs that a person accepted: what was surprising in them is remembered."""
        return self.store.last(self.dataset, MOST_REMEMBERED, as_of=as_of, only={Decision.ACCEPTED})

    def _find_anchor_runs(
        self, revisions: Sequence[Revision], accepted: Sequence[Revision], as_of: int | None
    ) -> list[Revision]:
        """The runs before these that drift is measured from."""
        if not revisions:
            return []
        span = max(0, ANCHOR_SPAN - len(revisions))
        older = self.store.last(self.dataset, span, before=revisions[0].partition, as_of=as_of, only=TRUSTED)
        by_person = {each.attempt for each in accepted}
        return choose_anchor_runs(older, [each.attempt in by_person for each in older])

    def make_pool(
        self,
        runs: Sequence[Run],
        accepted: Sequence[Revision],
        following: str | None = None,
        period: Period | None = None,
        *,
        mutes: Sequence[Mute] = (),
        oldest: Sequence[Revision] = (),
    ) -> ProposalPool | None:
        """The proposals for the next batch; None without runs.

        Args:
            runs: The runs that are learned from, oldest first.
            accepted: The runs whose surprises are remembered, oldest first.
            following: The partition that is judged next.
            period: Its period, if its name does not tell it.
            mutes: The columns that are muted. Nothing is expected of them.
            oldest: Earlier runs, from which drift is measured.
        """
        if not runs:
            return None
        settings = self._settings_with(mutes)
        asked = {each.attempt for each in (*accepted, *oldest)}
        pool = ProposalPool.of(
            runs,
            self.store.secret,
            settings.learners,
            following=following,
            period=period,
            days=settings.days,
            pooled_rates=self.pooled_rates,
            scope=settings.scope,
            pins=settings.pins,
            surprises=AcceptedSurprises.of(map(self._read_outcomes, accepted)),
            anchor_runs=[*map(self._read_outcomes, oldest), *runs[:-MIN_APART]],
        )
        self._cache.keep_numbers(asked)
        return pool

    def spend_budget(self, pool: ProposalPool | None, *, mutes: Sequence[Mute] = ()) -> Learned:
        """What is learned from proposals within the budget of the dataset."""
        settings = self._settings_with(mutes)
        if pool is None:
            return nothing_learned(settings.learners, settings.scope, settings.pins)
        return pool.spend_budget(settings.false_alarms, settings.learners, settings.drift)

    def _settings_with(self, mutes: Sequence[Mute]) -> Settings:
        return self.settings.ignore_columns(each.column for each in mutes)

    def _read_outcomes(self, revision: Revision) -> Run:
        """A run, of which the states are not needed."""
        run = self._cache.find_numbers(revision.attempt)
        if run is None:
            run = self.store.run(revision, states=False)
            self._cache.add_numbers(run)
        return run
