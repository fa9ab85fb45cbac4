"""A history in the memory of this process, for tests and experiments."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from secrets import token_bytes
from threading import RLock

from headgate.store.ledger import Ledger
from headgate.store.port import Series, make_series
from headgate.store.record import Record, key_texts, make_record, open_states, restore_run
from headgate.values.key import MetricKey
from headgate.values.mute import Mute
from headgate.values.run import Decision, Revision, Ruling, Run
from headgate.values.state import State


class MemoryStore:
    """Keeps the same records as a store on disk, in the same encoding, until the process ends."""

    def __init__(self, *, hide: bool = True, secret: bytes | None = None) -> None:
        self.secret = (secret or token_bytes(32)) if hide else None
        self._ledgers: dict[str, Ledger] = {}
        self._records: dict[tuple[str, int], Record] = {}
        self._lock = RLock()

    def commit(self, run: Run) -> Revision:
        record = make_record(run, self.secret)
        with self._lock:
            ledger = self._ledgers.setdefault(run.dataset, Ledger(run.dataset))
            revision = ledger.next_revision(run)
            if revision.sequence > ledger.head:
                self._records[run.dataset, revision.sequence] = record
                ledger.add(revision)
            return revision

    def decide(
        self,
        dataset: str,
        partition: str,
        decision: Decision,
        *,
        number: int | None = None,
        who: str = "",
        note: str = "",
        source: str = "",
        only_first: bool = False,
    ) -> Ruling:
        with self._lock:
            ledger = self._ledger_of(dataset)
            ruling = ledger.next_ruling(partition, decision, number, who, note, source, only_first)
            if ruling.sequence > ledger.head:
                ledger.add(ruling)
            return ruling

    def datasets(self) -> tuple[str, ...]:
        with self._lock:
            return tuple(sorted(name for name, ledger in self._ledgers.items() if ledger.head))

    def head(self, dataset: str) -> int:
        return self._ledger_of(dataset).head

    def revisions(
        self, dataset: str, partition: str | None = None, *, as_of: int | None = None
    ) -> tuple[Revision, ...]:
        with self._lock:
            return self._ledger_of(dataset).revisions(partition, as_of)

    def find_undecided(self, dataset: str) -> tuple[Revision, ...]:
        with self._lock:
            return self._ledger_of(dataset).find_undecided()

    def rulings(self, dataset: str, partition: str | None = None, *, as_of: int | None = None) -> tuple[Ruling, ...]:
        with self._lock:
            return self._ledger_of(dataset).rulings(partition, as_of)

    def mute(self, dataset: str, column: str, until: float | None, *, who: str = "", note: str = "") -> Mute:
        with self._lock:
            ledger = self._ledger_of(dataset)
            mute = ledger.next_mute(column, until, who, note)
            if mute.sequence > ledger.head:
                ledger.add(mute)
            return mute

    def mutes(self, dataset: str, *, as_of: int | None = None) -> tuple[Mute, ...]:
        with self._lock:
            return self._ledger_of(dataset).mutes(as_of)

    def last(
        self,
        dataset: str,
        runs: int,
        *,
        as_of: int | None = None,
        before: str | None = None,
        only: Collection[Decision] | None = None,
    ) -> tuple[Revision, ...]:
        with self._lock:
            return self._ledger_of(dataset).last(runs, as_of, before, only)

    def first(
        self,
        dataset: str,
        runs: int,
        *,
        after: str,
        as_of: int | None = None,
        only: Collection[Decision] | None = None,
    ) -> tuple[Revision, ...]:
        with self._lock:
            return self._ledger_of(dataset).first(runs, after, as_of, only)

    def series(self, revisions: Sequence[Revision], metrics: Iterable[MetricKey | str] | None = None) -> Series:
        return make_series(revisions, [self._record_of(each).numbers for each in revisions], key_texts(metrics))

    def states(
        self, revisions: Sequence[Revision], keys: Iterable[MetricKey | str] | None = None
    ) -> list[dict[MetricKey, State]]:
        wanted = key_texts(keys)
        sealed = [self._record_of(each).states for each in revisions]
        return [
            open_states(each if wanted is None else {key: each[key] for key in wanted if key in each})
            for each in sealed
        ]

    def run(self, revision: Revision, *, states: bool = True) -> Run:
        return restore_run(revision, self._record_of(revision), states)

    def close(self) -> None:
        pass

    def _ledger_of(self, dataset: str) -> Ledger:
        return self._ledgers.get(dataset) or Ledger(dataset)

    def _record_of(self, revision: Revision) -> Record:
        return self._records[revision.dataset, revision.sequence]
