"""What must be true of a history and of the folders that readers see after any fault: the gate never fails open."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from contextlib import closing
from dataclasses import dataclass

from headgate.gate.publish.publisher import Delivery
from headgate.store.open import open_store
from headgate.store.port import HistoryStore
from headgate.values.expectation import Status
from headgate.values.run import Decision, Revision
from tests.faults.checks import examined
from tests.faults.gate_work import Batch, Lake, Told, printed_as
from tests.faults.table import Row

OPENS = {Decision.ACCEPTED, Decision.RELEASED}


@dataclass
class World:
    """A lake with all batches that were ever staged in it, and the fingerprint that each is known by."""

    lake: Lake
    prints: dict[str, str]

    def look(self, row: Row, told: Iterable[Told] = (), busy: Collection[str] = ()) -> None:
        """Read everything and count what is wrong. `busy` are partitions about which somebody was interrupted."""
        seen = self.lake.seen()
        with closing(open_store(self.lake.url)) as store:
            row.doubled += examined(store, [self.lake.dataset], ()).doubled
            row.doubled += _doubled_rulings(store, self.lake.dataset)
            row.leaked += sum(not self.is_allowed(store, text) for text in seen.values())
            row.lost += sum(not self._stands(store, each, seen, busy) for each in told)

    def _stands(self, store: HistoryStore, told: Told, seen: dict[str, str], busy: Collection[str]) -> bool:
        """Whether what the driver was told is in the history, and was carried out."""
        made = _revision(store, self.lake.dataset, told)
        if made is None or not self._is_kept(store, made, told):
            return False
        return made.partition in busy or self._is_carried_out(made, told.batch, seen)

    def is_allowed(self, store: HistoryStore, text: str) -> bool:
        """Whether readers may see it: a committed pass of exactly this input, or a person's committed word on it."""
        partition, print_ = text.partition("|")[0], self.prints[text]
        for made in store.revisions(self.lake.dataset, partition):
            about = [each for each in store.rulings(self.lake.dataset, partition) if each.number == made.number]
            if printed_as(made.fingerprint) == print_ and (
                made.status is Status.PASS or OPENS & {each.decision for each in about}
            ):
                return True
        return False

    def _is_kept(self, store: HistoryStore, made: Revision, told: Told) -> bool:
        """Whether what the driver was told is in the history."""
        if told.kind == "word":
            rulings = store.rulings(self.lake.dataset, made.partition)
            return (told.sequence, told.decision) in {(each.sequence, each.decision) for each in rulings}
        same = (made.sequence, made.attempt, made.status) == (told.sequence, told.attempt, told.status)
        return same and printed_as(made.fingerprint) == self.prints[told.batch.text] and made.decision is not None

    def _is_carried_out(self, made: Revision, batch: Batch, seen: dict[str, str]) -> bool:
        """Whether the batch lies where the last decision about it wants it."""
        lies, shown = self.lake.folders.state(Delivery.of(made)), seen.get(made.partition)
        if made.decision in (Decision.PUBLISHED, *OPENS):
            return shown == batch.text if lies == "published" else lies == "absent" and shown is not None
        if made.decision is Decision.DISCARDED:
            return lies in ("absent", "staged")
        if made.decision is Decision.REJECTED and made.status is Status.PASS:
            return True  # it stays where it was when somebody said so
        return lies == "held" and batch.text in self.lake.kept()


def _revision(store: HistoryStore, dataset: str, told: Told) -> Revision | None:
    made = store.revisions(dataset, told.batch.partition)
    return next((each for each in made if each.number == told.number), None)


def _doubled_rulings(store: HistoryStore, dataset: str) -> int:
    """A decision is recorded once for each revision, by the gate and by the person."""
    every = Counter((each.partition, each.number, each.decision) for each in store.rulings(dataset))
    return sum(times - 1 for times in every.values())
