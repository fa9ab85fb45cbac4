"""What a review of the protocol found: runs without a source, rulings that cannot be carried out, damaged folders."""

from __future__ import annotations

import shutil
from pathlib import Path

import pyarrow.parquet as pq
import pytest

import headgate as hg
from headgate.store.fault_points import watch
from headgate.store.memory import MemoryStore
from headgate.values.errors import PublishError
from headgate.values.run import Decision
from tests.attack.lake import CHECK, Killed, Lake, broken, kill_at, orders


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    return Lake(tmp_path / "lake", MemoryStore())


def decisions(lake: Lake) -> list[Decision | None]:
    return [each.decision for each in lake.store.revisions("orders")]


def test_a_failing_batch_that_is_not_staged_is_not_recorded_either(lake: Lake) -> None:
    with pytest.raises(PublishError, match="nothing is staged"):
        lake.gate.judge(broken(orders(1)), "p")
    assert decisions(lake) == []


@pytest.mark.parametrize("word", ["accept", "release", "reject", "discard"])
def test_a_ruling_on_a_batch_that_was_never_staged_moves_nothing(lake: Lake, word: str) -> None:
    hg.Gate("orders", store=lake.store, checks=CHECK, learn=()).judge(broken(orders(1)), "p")  # without a publisher
    lake.stage(broken(orders(2)))
    getattr(lake.gate, word)("p")
    lake.gate.recover()
    assert lake.shown() is None
    assert lake.is_staged()


def test_a_failure_that_was_let_through_by_observing_teaches_nothing_whoever_finishes_it(tmp_path: Path) -> None:
    lake = Lake(tmp_path, MemoryStore(), mode="observe")
    with watch(kill_at("gate.committed")), pytest.raises(Killed):
        lake.judge(broken(orders(1)))
    Lake(tmp_path, lake.store, mode="guard").gate.recover()
    assert decisions(lake) == [Decision.OBSERVED]


def test_a_split_needs_both_parts_before_it_is_recorded(lake: Lake) -> None:
    lake.judge(broken(orders(1)))
    with pytest.raises(PublishError, match="the good rows of orders p are not staged"):
        lake.gate.split("p", orders(1).slice(1))
    lake.stage(orders(1).slice(1), part="good")
    with pytest.raises(PublishError, match="the bad rows of orders p are not staged"):
        lake.gate.split("p", lake.read(part="good"))
    assert decisions(lake) == [Decision.HELD]


def test_a_split_that_is_done_again_with_new_files_is_carried_out_with_these(lake: Lake) -> None:
    lake.judge(broken(orders(1)))
    for _ in range(2):
        lake.stage(orders(1).slice(1), part="good")
        lake.stage(orders(1).slice(0, 1), part="bad")
        with watch(kill_at("gate.ruled")), pytest.raises(Killed):
            lake.gate.split("p", lake.read(part="good"))
    lake.gate.recover()
    assert lake.shown() == orders(1).slice(1)


def test_a_ruling_that_cannot_be_carried_out_is_not_recorded(lake: Lake) -> None:
    verdict = lake.judge(broken(orders(1)))
    (Path(verdict.location) / ".DS_Store").write_text("")
    with pytest.raises(PublishError, match="holds other files"):
        lake.gate.release("p")
    assert decisions(lake) == [Decision.HELD]
    lake.gate.recover()


def test_a_ruling_that_can_no_longer_be_carried_out_is_tried_once(lake: Lake) -> None:
    verdict = lake.judge(broken(orders(1)))
    with watch(kill_at("gate.ruled")), pytest.raises(Killed):
        lake.gate.release("p")
    (Path(verdict.location) / ".DS_Store").write_text("")
    lake.gate.recover()
    assert decisions(lake) == [Decision.HELD]
    assert "released could not be carried out" in lake.store.rulings("orders")[-1].note
    lake.gate.recover()


def test_rows_that_readers_lost_can_be_published_again(lake: Lake) -> None:
    lake.judge(orders(1))
    (lake.folders.path("p") / "part-0.parquet").unlink()
    verdict = lake.judge(orders(1))
    assert (verdict.revision.number, verdict.decision) == (2, Decision.PUBLISHED)
    assert lake.shown() == orders(1)


def test_a_held_folder_of_another_history_is_not_taken_for_this_one(tmp_path: Path) -> None:
    Lake(tmp_path, MemoryStore()).judge(broken(orders(1)))
    new = Lake(tmp_path, MemoryStore())
    verdict = new.judge(broken(orders(1)))
    assert (verdict.revision.number, verdict.decision) == (2, Decision.HELD)
    assert not new.is_staged()
    new.gate.release("p", number=2)
    assert new.shown() == broken(orders(1))


def test_a_damaged_manifest_concerns_its_own_partition_alone(lake: Lake) -> None:
    with watch(kill_at("gate.committed")), pytest.raises(Killed):
        lake.judge(orders(1), "a")
    (lake.folders.staging_path("a").parents[1] / "published" / "_manifests" / "a.json").write_text("")
    assert lake.judge(orders(2), "p").decision is Decision.PUBLISHED
    with watch(kill_at("folders.put_away.done")), pytest.raises(Killed):
        lake.judge(orders(3), "p")
    with pytest.raises(PublishError, match=r"a\.json is not a manifest"):
        lake.folders.recover("orders")
    assert pq.read_table(lake.folders.path("p")) == orders(2)


def test_a_published_batch_is_not_discarded(lake: Lake) -> None:
    lake.judge(orders(1))
    with pytest.raises(PublishError, match="Only a held batch can be discarded"):
        lake.gate.discard("p")
    assert decisions(lake) == [Decision.PUBLISHED]


def test_a_folder_that_nobody_knows_is_put_away_beside_an_earlier_one(tmp_path: Path) -> None:
    lake = Lake(tmp_path, MemoryStore())
    for number in (1, 2):
        shutil.rmtree(tmp_path / "published" / "_manifests")
        (tmp_path / "published" / "_manifests").mkdir()
        assert lake.judge(orders(number)).decision is Decision.PUBLISHED
    assert lake.shown() == orders(2)


def test_eight_gates_at_once_tell_of_a_batch_once(tmp_path: Path) -> None:
    told: list[str] = []
    lake = Lake(tmp_path, MemoryStore(), notify=lambda each: told.append(each.partition))
    lake.stage(broken(orders(1)), "first")
    started = False

    def judge_others(name: str) -> None:
        nonlocal started
        if name == "gate.committed" and not started:
            started = True
            for number in range(7):
                lake.judge(orders(number + 2), f"other {number}")

    with watch(judge_others):
        lake.gate.judge(lake.read("first"), "first")
    assert told.count("first") == 1
