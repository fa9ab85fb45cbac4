"""What must be true of a history after any fault."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from headgate.store.port import HistoryStore
from tests.faults.work import Answer


@dataclass
class Findings:
    """Acknowledged commits that are gone or changed, and commits that are there twice."""

    lost: int = 0
    doubled: int = 0


def examined(store: HistoryStore, datasets: Iterable[str], answers: Iterable[Answer]) -> Findings:
    """Every entry read and checked; raises where the history is not one at all."""
    found = Findings()
    told: dict[tuple[str, int], Answer] = {(each.item.dataset, each.sequence): each for each in answers}
    for dataset in datasets:
        revisions, rulings = store.revisions(dataset), store.rulings(dataset)
        by_sequence = {each.sequence: each for each in (*revisions, *rulings)}
        assert sorted(by_sequence) == list(range(1, store.head(dataset) + 1)), "the log has holes or repeats"
        found.doubled += len(revisions) + len(rulings) - len(by_sequence)
        found.doubled += sum(times - 1 for times in Counter(each.key for each in revisions).values())
        for revision in revisions:
            assert store.run(revision).key == revision.key, "an entry does not read back"
        first = {(each.partition, each.number): each.sequence for each in revisions}
        for ruling in rulings:
            assert first[ruling.partition, ruling.number] < ruling.sequence, "a ruling without its committed run"
        mine = {sequence: answer for (name, sequence), answer in told.items() if name == dataset}
        found.lost += sum(not _kept(answer, by_sequence.get(sequence)) for sequence, answer in mine.items())
    return found


def _kept(answer: Answer, entry: object) -> bool:
    if answer.kind == "ruling":
        return getattr(entry, "decision", None) == answer.item.decision and not hasattr(entry, "attempt")
    return getattr(entry, "attempt", None) == answer.attempt
