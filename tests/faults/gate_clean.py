"""What becomes of batches when nothing goes wrong, to hold against what became of them when something did."""

from __future__ import annotations

import tempfile
from collections import Counter
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

from headgate.gate.gate import Gate
from headgate.store.fault_points import watch
from headgate.store.memory import MemoryStore
from headgate.store.open import open_store
from headgate.values.run import Decision
from tests.faults.gate_work import FEW, WORDS, Batch, Lake, judged, printed_as, summed


@dataclass(frozen=True)
class Clean:
    """By the text of each batch: its fingerprint, its verdict, what was last decided, the steps of gate and folders.
    And what readers see in the end."""

    prints: dict[str, str] = field(default_factory=dict)
    verdicts: dict[str, list[tuple[object, ...]]] = field(default_factory=dict)
    decisions: dict[str, Decision | None] = field(default_factory=dict)
    steps: dict[str, Counter[str]] = field(default_factory=dict)
    passed: set[str] = field(default_factory=set)
    seen: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, batches: list[Batch], *, manifest: bool = False, runs: int = FEW, secret: bytes | None = None) -> Clean:
        """Judged one by one, in memory. What is learned of hidden values depends on the `secret` that hides them."""
        found = cls()
        with tempfile.TemporaryDirectory(prefix="headgate-clean-") as folder:
            lake = Lake("memory:", "orders", Path(folder), manifest, runs=runs)
            gate = lake.gate(MemoryStore(secret=secret))
            for batch in batches:
                seen = found.steps.setdefault(batch.text, Counter())
                with watch(lambda name, seen=seen: seen.update([name])):  # type: ignore[misc]
                    found._add(lake, gate, batch)
            found.seen.update(lake.seen())
        return found

    def _add(self, lake: Lake, gate: Gate, batch: Batch) -> None:
        lake.stage(batch)
        verdict = judged(gate, batch)
        self.prints[batch.text] = printed_as(verdict.run.fingerprint)
        self.verdicts[batch.text] = summed(verdict.verdict)
        self.decisions[batch.text] = verdict.decision
        if verdict.passed:
            self.passed.add(batch.text)
        if batch.word is not None:
            WORDS[batch.word](gate, batch.partition, number=verdict.revision.number)
            self.decisions[batch.text] = batch.word

    def assert_same(self, lake: Lake) -> None:
        """Each run is there once, judged and decided as here, and readers see the same."""
        assert lake.seen() == self.seen, "readers see something else than without faults"
        with closing(open_store(lake.url)) as store:
            revisions = [each for each in store.revisions(lake.dataset) if each.decision is not Decision.WITHDRAWN]
            found = {(each.partition, printed_as(each.fingerprint)): each for each in revisions}
            wanted = {(text.partition("|")[0], each): text for text, each in self.prints.items()}
            assert set(found) == set(wanted), "a run is missing, or there is one too many"
            for key, text in wanted.items():
                assert summed(store.run(found[key]).verdict) == self.verdicts[text], "another verdict"
                assert found[key].decision == self.decisions[text], "another decision"
