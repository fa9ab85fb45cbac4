"""Histories of two gates, a person and a crash keep every promise; and faults that were mended are found again."""

from __future__ import annotations

from typing import Any

import pytest

from headgate.gate.history import DatasetHistory
from headgate.gate.publish.publisher import Delivery
from headgate.store.memory import MemoryStore
from headgate.values.run import Revision
from tests.model.explore import explore


def test_every_promise_is_kept_in_every_history() -> None:
    found = explore(300, seed=7)
    assert found.broken == []
    assert found.histories == 300
    assert len(found.different) > 250
    assert found.crashes > 50
    assert {"published", "held", "withdrawn", "accepted", "rejected", "released", "discarded"} <= set(found.endings)


def find_fault(words: str) -> None:
    """Explore until a promise is broken in the expected way; other ways may be found as well."""
    found = explore(3_000, seed=1, most_broken=8)
    assert any(words in each for each in found.broken), found.broken


def test_a_gate_that_forgets_undecided_runs_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(MemoryStore, "find_undecided", lambda *_: ())
    find_fault("is staged for ever")


def test_a_delivery_that_does_not_name_its_input_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    def of(revision: Revision) -> Delivery:
        return Delivery(revision.dataset, revision.partition, revision.number, revision.key)

    monkeypatch.setattr(Delivery, "of", of)
    find_fault("without a pass of it, or a word about it")


def test_a_fingerprint_that_does_not_tell_rows_apart_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("headgate.gate.batch_judge.fingerprint_batch", lambda *_: "rows:always the same")
    monkeypatch.setattr("headgate.gate.history._checksum_of", lambda _: None)
    find_fault("was staged last, and is in no revision")


def test_a_ruling_about_the_newest_revision_whatever_was_read_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    def find_newest(self: DatasetHistory, partition: str, number: int | None) -> Revision:
        return self.find(partition)

    monkeypatch.setattr(DatasetHistory, "find_for_ruling", find_newest)
    find_fault("without a pass of it, or a word about it")


def test_a_gate_that_overrules_a_person_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    decide = MemoryStore.decide

    def decide_again(self: MemoryStore, *given: Any, **named: Any) -> Any:
        return decide(self, *given, **{**named, "only_first": False})

    monkeypatch.setattr(MemoryStore, "decide", decide_again)
    find_fault("is called held and is published")
