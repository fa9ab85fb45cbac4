"""The history of a dataset as its gate uses it: found, committed once, read once, learned from."""

from __future__ import annotations

import uuid

import msgspec
import pytest

from headgate.gate.history import DatasetHistory
from headgate.gate.settings import Settings
from headgate.store.memory import MemoryStore
from headgate.values.errors import UnknownRun
from headgate.values.expectation import Status
from headgate.values.run import Decision, Run
from tests.store.runs import a_run

DATASET = a_run().dataset


@pytest.fixture
def history() -> DatasetHistory:
    return DatasetHistory(MemoryStore(), DATASET, Settings(runs=3))


def run(partition: str, fingerprint: str = "one") -> Run:
    attempt = uuid.uuid4().hex
    return msgspec.structs.replace(a_run(), partition=partition, fingerprint=fingerprint, attempt=attempt)


def test_the_newest_revision_is_found_or_the_one_of_a_number(history: DatasetHistory) -> None:
    history.commit(run("d1"))
    history.commit(run("d1", "two"))
    assert history.find("d1").number == 2
    assert history.find("d1", 1).fingerprint == "one"
    with pytest.raises(UnknownRun, match="no revision 3"):
        history.find("d1", 3)


def test_batches_wait_while_their_newest_revision_is_held(history: DatasetHistory) -> None:
    for partition in ("d3", "d1", "d2"):
        history.commit(run(partition))
        history.decide(history.find(partition), Decision.HELD, "", "gate")
    assert [each.partition for each in history.find_waiting()] == ["d1", "d2", "d3"]
    history.decide(history.find("d2"), Decision.REJECTED, "", "ann")
    history.commit(run("d3", "repaired"))
    history.decide(history.find("d3"), Decision.PUBLISHED, "", "gate")
    assert [each.partition for each in history.find_waiting()] == ["d1"]


def test_the_same_input_is_known_only_while_it_is_the_newest(history: DatasetHistory) -> None:
    suite = a_run().suite
    first = history.commit(run("d1"))
    assert history.find_same_input("d1", "one", "", suite) == first
    assert history.find_same_input("d1", "one", "", "other checks") is None
    assert history.find_same_input("d1", None, "", suite) is None
    history.commit(run("d1", "two"))
    assert history.find_same_input("d1", "one", "", suite) is None


def test_an_input_that_comes_again_after_another_is_current_again(history: DatasetHistory) -> None:
    history.commit(run("d1"))
    history.commit(run("d1", "two"))
    again = history.commit(run("d1"))
    assert again.number == 3
    assert again.fingerprint == "one after 2"


def test_a_run_is_read_from_the_store_once(history: DatasetHistory, monkeypatch: pytest.MonkeyPatch) -> None:
    revision = history.commit(run("d1"))
    kept = history.read(revision)
    monkeypatch.setattr(history.store, "run", lambda *_: pytest.fail("the store was asked again"))
    assert history.read(revision) is kept


def test_recent_runs_are_those_before_a_partition(history: DatasetHistory) -> None:
    for day, decision in (("d1", Decision.PUBLISHED), ("d2", Decision.HELD), ("d3", Decision.PUBLISHED)):
        history.decide(history.commit(run(day)), decision, "", "gate")
    recent = history.recent_runs(history.find("d3"))
    assert (recent.runs, recent.held, recent.previous) == (2, 1, history.find("d2").status)
    assert isinstance(recent.previous, Status)


def test_only_accepted_runs_before_the_partition_are_learned_from(history: DatasetHistory) -> None:
    for day, decision in (("d1", Decision.PUBLISHED), ("d2", Decision.HELD), ("d3", Decision.ACCEPTED)):
        history.decide(history.commit(run(day)), decision, "", "gate")
    past = history.learn(before="d4").past
    assert past is not None
    assert past.partitions == ("d1", "d3")


def test_a_partition_before_all_others_is_compared_with_the_first_after_it(history: DatasetHistory) -> None:
    for day in ("d2", "d3"):
        history.decide(history.commit(run(day)), Decision.PUBLISHED, "", "gate")
    past = history.learn(before="d1").past
    assert past is not None
    assert past.partitions == ("d2", "d3")
    assert history.find_reference_runs("d1").note == "no run lies before it, so the first ones after it are taken"


def test_nothing_is_learned_again_while_the_history_is_the_same(history: DatasetHistory) -> None:
    history.decide(history.commit(run("d1")), Decision.PUBLISHED, "", "gate")
    learned = history.learn(before="d2")
    assert history.learn(before="d3") is learned
    history.decide(history.commit(run("d2")), Decision.PUBLISHED, "", "gate")
    assert history.learn(before="d3") is not learned
