"""A person's word, spoken while the gate decides, or after it was killed. Races of gates are in test_gate_stores.py."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from headgate.gate.publish.publisher import Delivery
from headgate.store.fault_points import watch
from headgate.store.memory import MemoryStore
from headgate.values.account import Action
from headgate.values.run import Decision, Ruling
from tests.faults.gate_work import WORDS, Batch, Lake, judged


class Killed(BaseException):
    """As sudden as a kill: nothing in the package catches it."""


@pytest.mark.parametrize(("flaw", "word"), [("nulls", Decision.ACCEPTED), ("", Decision.REJECTED)])
def test_the_word_of_a_person_stands_though_the_gate_decides_later(tmp_path: Path, flaw: str, word: Decision) -> None:
    lake, store, batch = Lake("memory:", "orders", tmp_path), MemoryStore(), Batch("p", 1, flaw)
    said: list[Ruling] = []
    lake.stage(batch)

    def watcher(name: str) -> None:
        if name == "gate.delivered" and not said:
            said.append(store.decide("orders", "p", word, who="ann"))

    with watch(watcher):
        judged(lake.gate(store), batch)
    assert [each.decision for each in store.revisions("orders")] == [word]


@pytest.mark.parametrize("word", [Decision.ACCEPTED, Decision.RELEASED])
def test_a_word_that_was_killed_before_it_was_carried_out_is_carried_out_by_the_next_run(
    tmp_path: Path, word: Decision
) -> None:
    lake, store, batch = Lake("memory:", "orders", tmp_path), MemoryStore(), Batch("p", 1, "nulls")
    lake.stage(batch)
    judged(lake.gate(store), batch)
    with watch(_killing("gate.ruled")), pytest.raises(Killed):
        WORDS[word](lake.gate(store), "p")
    assert lake.seen() == {}
    assert judged(lake.gate(store), batch).decision is word
    assert lake.seen() == {"p": batch.text}


@pytest.mark.parametrize(
    "point",
    [
        "gate.committed",
        "folders.claim.done",
        "folders.point",
        "folders.pointed",
    ],
)
def test_a_batch_that_is_rejected_before_readers_saw_it_is_held(tmp_path: Path, point: str) -> None:
    lake, store, batch = Lake("memory:", "orders", tmp_path), MemoryStore(), Batch("p", 1)
    lake.stage(batch)
    with watch(_killing(point)), pytest.raises(Killed):
        judged(lake.gate(store), batch)
    lake.gate(store).reject("p", who="ann")
    verdict = judged(lake.gate(store), batch)
    assert (verdict.action, lake.seen()) == (Action.HOLD, {})
    assert lake.folders.state(Delivery.of(verdict.revision)) == "held"


def test_a_published_batch_that_was_rejected_can_be_judged_again(tmp_path: Path) -> None:
    lake, store, batch = Lake("memory:", "orders", tmp_path), MemoryStore(), Batch("p", 1)
    lake.stage(batch)
    judged(lake.gate(store), batch)
    lake.gate(store).reject("p", who="ann")
    assert judged(lake.gate(store), batch).decision is Decision.REJECTED


def _killing(point: str) -> Callable[[str], None]:
    def watcher(name: str) -> None:
        if name == point:
            raise Killed

    return watcher
