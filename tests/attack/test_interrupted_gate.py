"""A kill between the commit of a run and the decision about it left the batch in staging for ever: nobody published it,
nothing was learned from it, and nobody was told, even when it had failed."""

from __future__ import annotations

from pathlib import Path

import pytest

from headgate.store.fault_points import watch
from headgate.store.port import HistoryStore
from headgate.values.account import Action
from headgate.values.run import Decision
from tests.attack.lake import Killed, Lake, broken, kill_at, orders

POINTS = ["gate.committed", "folders.claim.done", "folders.pointed", "gate.delivered", "gate.notified"]


@pytest.fixture
def lake(tmp_path: Path, store: HistoryStore) -> Lake:
    return Lake(tmp_path / "lake", store)


def judge_and_kill(lake: Lake, point: str, table: object, partition: str = "p") -> None:
    with watch(kill_at(point)), pytest.raises(Killed):
        lake.judge(table, partition)  # type: ignore[arg-type]


@pytest.mark.parametrize("point", POINTS)
def test_a_batch_that_passed_is_published_by_recover(lake: Lake, point: str) -> None:
    judge_and_kill(lake, point, orders(1))
    assert [each.partition for each in lake.gate.find_undecided()] == ["p"]
    (verdict,) = lake.gate.recover()
    assert (verdict.action, verdict.decision) == (Action.PUBLISH, Decision.PUBLISHED)
    assert lake.shown() == orders(1)
    assert lake.gate.recover() == []


@pytest.mark.parametrize("point", ["gate.committed", "folders.hold.done", "gate.delivered"])
def test_a_batch_that_failed_is_held_by_recover(lake: Lake, point: str) -> None:
    judge_and_kill(lake, point, broken(orders(1)))
    (verdict,) = lake.gate.recover()
    assert (verdict.action, verdict.decision) == (Action.HOLD, Decision.HELD)
    assert lake.shown() is None
    assert not lake.is_staged()


def test_the_next_judge_of_any_partition_finishes_it(lake: Lake) -> None:
    judge_and_kill(lake, "gate.committed", orders(1))
    lake.judge(orders(2), "q")
    assert lake.shown() == orders(1)
    assert [each.decision for each in lake.store.revisions("orders")] == [Decision.PUBLISHED] * 2


def test_somebody_is_told_though_the_gate_died_before_it_told_anybody(tmp_path: Path, store: HistoryStore) -> None:
    told: list[object] = []
    lake = Lake(tmp_path, store, notify=told.append)
    judge_and_kill(lake, "gate.delivered", broken(orders(1)))
    assert told == []
    lake.gate.recover()
    assert len(told) == 1


def test_a_batch_whose_input_is_gone_is_withdrawn(lake: Lake) -> None:
    judge_and_kill(lake, "gate.committed", orders(1))
    lake.folders.staging_path("p").rename(lake.folders.staging_path("p").with_name("moved away"))
    (verdict,) = lake.gate.recover()
    assert (verdict.action, verdict.decision) == (Action.HOLD, Decision.WITHDRAWN)
    assert "Revision 1 was withdrawn" in verdict.explain()
    assert lake.gate.find_undecided() == ()


def test_another_input_that_was_staged_since_is_not_taken_for_it(lake: Lake) -> None:
    judge_and_kill(lake, "gate.committed", orders(1))
    lake.stage(broken(orders(2)))
    lake.gate.recover()
    assert lake.shown() is None
    assert lake.is_staged()
    verdict = lake.gate.judge(lake.read(), "p")
    assert (verdict.revision.number, verdict.action) == (2, Action.HOLD)
    assert [each.decision for each in lake.store.revisions("orders")] == [Decision.WITHDRAWN, Decision.HELD]


def test_a_ruling_that_was_not_carried_out_is_carried_out_by_recover(lake: Lake) -> None:
    lake.judge(broken(orders(1)))
    with watch(kill_at("gate.ruled")), pytest.raises(Killed):
        lake.gate.accept("p")
    assert lake.shown() is None
    lake.gate.recover()
    assert lake.shown() == broken(orders(1))


def test_a_split_that_was_not_carried_out_is_carried_out_by_recover(lake: Lake) -> None:
    lake.judge(broken(orders(1)))
    good, bad = orders(1).slice(1), broken(orders(1)).slice(0, 1)
    lake.stage(good, part="good")
    lake.stage(bad, part="bad")
    with watch(kill_at("gate.ruled")), pytest.raises(Killed):
        lake.gate.split("p", lake.read(part="good"))
    lake.gate.recover()
    assert lake.shown() == good


def test_readers_get_back_what_a_killed_replacement_has_put_away(lake: Lake) -> None:
    lake.judge(orders(1))
    with watch(kill_at("folders.put_away.done")), pytest.raises(Killed):
        lake.judge(orders(2))
    assert lake.shown() is None
    lake.folders.recover("orders")
    assert lake.shown() == orders(1)
    lake.gate.recover()
    assert lake.shown() == orders(2)


def test_a_batch_that_cannot_be_moved_does_not_keep_others_from_being_judged(lake: Lake) -> None:
    judge_and_kill(lake, "gate.committed", orders(1), "first")
    claims = iter(range(9))

    def refuse_first(name: str) -> None:
        if name == "folders.claim" and next(claims) == 0:
            raise OSError(13, "Permission denied")

    with watch(refuse_first):
        assert lake.judge(orders(2), "second").action is Action.PUBLISH
    assert [each.partition for each in lake.gate.find_undecided()] == ["first"]


def test_an_observed_failure_is_decided_and_waits_no_more(tmp_path: Path, store: HistoryStore) -> None:
    lake = Lake(tmp_path, store, mode="observe")
    verdict = lake.judge(broken(orders(1)))
    assert (verdict.action, verdict.decision) == (Action.PUBLISH, Decision.OBSERVED)
    assert lake.gate.find_undecided() == ()
    assert lake.gate.learned(before="q").past is None
