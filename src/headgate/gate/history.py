"""The recorded runs of one dataset, as its gate finds, commits, caches and learns from them."""

from __future__ import annotations

import uuid

import msgspec

from headgate.explain.subject import RecentRuns
from headgate.gate.settings import Settings
from headgate.learn.learned import IssueEffectCache, Learned, ProposalPool, nothing_learned
from headgate.store.fault_points import fault_point
from headgate.store.port import HistoryStore
from headgate.values.errors import UnknownRun
from headgate.values.run import (
    STOPPED,
    TRUSTED,
    AlreadyCommitted,
    Decision,
    Revision,
    Ruling,
    Run,
    run_key,
)

_MAX_KEPT = 400  # runs in memory, so that a gate that judges again and again reads only what is new


class DatasetHistory:
    """The history of one dataset in a store, and what the gate's settings make of it."""

    def __init__(self, store: HistoryStore, dataset: str, settings: Settings) -> None:
        self.store = store
        self.dataset = dataset
        self.settings = settings
        self.effect_cache = IssueEffectCache()
        self._runs: dict[str, Run] = {}  # by attempt: a restored history gives sequences again
        self._last_learned: tuple[tuple[str, ...], Learned] | None = None

    # --- finding

    def find(self, partition: str, number: int | None = None) -> Revision:
        """The newest revision of a partition, or the one of this number."""
        known = self.store.revisions(self.dataset, partition)
        chosen = [revision for revision in known if number is None or revision.number == number]
        if not chosen:
            raise UnknownRun(self.dataset, partition, number)
        return chosen[-1]

    def find_same_input(self, partition: str, fingerprint: str | None, suite: str) -> Revision | None:
        """The partition's newest revision, if it is of this very input, judged in the same way."""
        if fingerprint is None:
            return None
        known = self.store.revisions(self.dataset, partition)
        key = run_key(self.dataset, partition, fingerprint, suite)
        return known[-1] if known and known[-1].key == key else None

    def read(self, revision: Revision) -> Run:
        """The run of a revision; it is read from the store once."""
        return self._runs.get(revision.attempt) or self.read_again(revision)

    def read_again(self, revision: Revision) -> Run:
        """The run of a revision, as the store gives it now."""
        run = self.store.run(revision)
        if len(self._runs) >= _MAX_KEPT:
            self._runs.pop(next(iter(self._runs)))
        self._runs[revision.attempt] = run
        return run

    def current_decision(self, revision: Revision) -> Decision | None:
        """What is decided about a revision by now."""
        return self.find(revision.partition, revision.number).decision

    def recent_runs(self, revision: Revision) -> RecentRuns:
        """How the dataset fared before a revision."""
        before = self.store.last(self.dataset, self.settings.runs, before=revision.partition)
        held = sum(earlier.decision in STOPPED for earlier in before)
        return RecentRuns(len(before), held, before[-1].status if before else None)

    # --- recording

    def commit(self, run: Run) -> Revision:
        """The revision of a run. An input that comes again after another one is a new revision: it is current again."""
        fault_point("gate.judged")
        while True:
            try:
                return self.store.commit(run)
            except AlreadyCommitted as earlier:
                newest = self.find(run.partition)
                if newest.number <= earlier.revision.number:
                    return earlier.revision
                name = f"{run.fingerprint} after {newest.number}"
                run = msgspec.structs.replace(run, fingerprint=name, attempt=uuid.uuid4().hex)

    def decide(self, revision: Revision, decision: Decision, note: str, who: str) -> Ruling:
        return self.store.decide(self.dataset, revision.partition, decision, number=revision.number, who=who, note=note)

    # --- learning

    def learn(self, before: str | None = None, as_of: int | None = None) -> Learned:
        """What is learned from the accepted runs before a partition, as the history was after a commit."""
        revisions = self.store.last(self.dataset, self.settings.runs, before=before, as_of=as_of, only=TRUSTED)
        attempts = tuple(revision.attempt for revision in revisions)
        if self._last_learned is None or self._last_learned[0] != attempts:
            self._last_learned = attempts, self._learn_from([self.read(revision) for revision in revisions])
        return self._last_learned[1]

    def _learn_from(self, runs: list[Run]) -> Learned:
        settings = self.settings
        if not runs:
            return nothing_learned(settings.learners)
        budget = settings.false_alarms
        pool = ProposalPool.of(runs, self.store.secret, settings.learners, self.effect_cache, max_cost=budget)
        return pool.spend_budget(budget, settings.learners)
