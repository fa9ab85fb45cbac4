"""`accept` without a revision accepted the newest one, also if it came after the one that the person had read about."""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet as pq
import pytest

from headgate.store.memory import MemoryStore
from headgate.values.errors import InputChanged, MisuseError, PublishError
from headgate.values.run import Decision
from tests.attack.lake import Lake, broken, orders


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    return Lake(tmp_path / "lake", MemoryStore())


@pytest.mark.parametrize("word", ["accept", "reject", "release", "discard"])
def test_a_ruling_must_say_which_revision_is_meant_if_there_are_several(lake: Lake, word: str) -> None:
    lake.judge(broken(orders(1)))
    lake.judge(broken(orders(2)))
    with pytest.raises(MisuseError, match=r"orders p has 2 revisions: 1 \(held\), 2 \(held\).*number=2 is the newest"):
        getattr(lake.gate, word)("p")
    (ruling,) = getattr(lake.gate, word)("p", number=2)
    assert ruling.number == 2


def test_an_older_revision_is_not_let_through_after_a_newer_one_was_published(lake: Lake) -> None:
    lake.judge(broken(orders(1)))
    lake.judge(orders(2))
    with pytest.raises(PublishError):
        lake.gate.accept("p", number=1)
    assert lake.shown() == orders(2)
    assert lake.store.revisions("orders", "p")[0].decision is Decision.HELD


def test_every_command_that_is_told_names_the_revision(lake: Lake) -> None:
    lake.judge(broken(orders(1)))
    verdict = lake.judge(broken(orders(2)))
    rulings = [each for each in verdict.shell_commands if each.split()[1] in ("accept", "reject", "release")]
    assert len(rulings) == 3
    assert all("--revision 2" in each for each in rulings)
    assert all("number=2" in each for each in verdict.commands)
    assert verdict.notification().revision == 2


def test_who_and_when_is_recorded(lake: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOGNAME", "bea")
    lake.judge(broken(orders(1)))
    (ruling,) = lake.gate.reject("p")
    assert ruling.who == "bea"
    assert ruling.at > 0


# --- a range


def test_a_range_publishes_every_held_batch_in_it_and_no_other(lake: Lake) -> None:
    for partition in ("p1", "p2", "p3", "p4"):
        lake.judge(broken(orders(int(partition[1]))), partition)
    lake.gate.accept("p1", to="p3")
    assert [lake.shown(partition) is not None for partition in ("p1", "p2", "p3", "p4")] == [True, True, True, False]


def test_a_range_does_not_reach_a_revision_that_came_since_the_person_read(lake: Lake) -> None:
    for partition in ("p1", "p2"):
        lake.judge(broken(orders(1)), partition)
    lake.judge(broken(orders(7)), "p2")
    with pytest.raises(MisuseError, match=r"several revisions: p2 \(2\)"):
        lake.gate.accept("p1", to="p2")
    assert lake.shown("p1") is lake.shown("p2") is None


def test_a_held_batch_that_was_edited_refuses_the_whole_range(lake: Lake) -> None:
    places = {partition: Path(lake.judge(broken(orders(1)), partition).location) for partition in ("p1", "p2", "p3")}
    pq.write_table(orders(9), next(places["p2"].rglob("*.parquet")))
    with pytest.raises(InputChanged, match="holds other files than those that were judged as orders p2"):
        lake.gate.accept("p1", to="p3")
    assert lake.shown("p1") is lake.shown("p2") is lake.shown("p3") is None
    assert {each.decision for each in lake.store.rulings("orders")} == {Decision.HELD}
