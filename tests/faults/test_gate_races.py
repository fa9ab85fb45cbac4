"""F4 through the gate: a person decides while the gate does. Races of gates are in test_gate_stores.py."""

from __future__ import annotations

from pathlib import Path

import pytest

from headgate.store.memory import MemoryStore
from headgate.store.steps import watched
from headgate.values.run import Decision
from tests.faults.gate_work import Batch, Lake, judged


@pytest.mark.xfail(strict=True, reason="the gate's late decision overrules what a person said meanwhile")
@pytest.mark.parametrize(("flaw", "word"), [("nulls", Decision.ACCEPTED), ("", Decision.REJECTED)])
def test_the_word_of_a_person_stands_though_the_gate_decides_later(tmp_path: Path, flaw: str, word: Decision) -> None:
    lake, store, said = Lake("memory:", "orders", tmp_path), MemoryStore(), []
    batch = Batch("p", 1, flaw)
    lake.stage(batch)

    def watcher(name: str) -> None:
        if name == "gate.delivered" and not said:
            said.append(store.decide("orders", "p", word, who="ann"))

    with watched(watcher):
        judged(lake.gate(store), batch)
    assert [each.decision for each in store.revisions("orders")] == [word]
