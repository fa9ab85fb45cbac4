"""A level that stays is told as one cause, and is accepted together by a person, never by itself."""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import headgate as hg
from headgate.gate.batch_verdict import BatchVerdict
from headgate.gate.gate import Gate
from headgate.store.memory import MemoryStore
from headgate.store.port import HistoryStore
from headgate.values.account import Action, HeldSequence
from headgate.values.errors import CorruptBytes, MisuseError, PublishError, RangeStopped
from headgate.values.run import Decision, Revision, Run

BEFORE = 20  # good batches
SECRET = b"prices" * 6
START = datetime.datetime(2026, 10, 1)


def prices(number: int, level: float = 1.0) -> pa.Table:
    chance = np.random.default_rng([7, number])
    return pa.table(
        {
            "price": np.round(chance.normal(25, 1, 300) * level, 2),
            "city": chance.choice(["Bonn", "Köln", "Trier"], 300),
        }
    )


def daily(number: int) -> str:
    return f"{START + datetime.timedelta(days=number):%Y-%m-%d}"


def hourly(number: int) -> str:
    return f"{START + datetime.timedelta(hours=number):%Y-%m-%dT%H}"


def irregular(number: int) -> str:
    return f"load {7000 + number * number}"


class Recorder(MemoryStore):
    """Notes which runs are read, and whether with their states."""

    def __init__(self) -> None:
        super().__init__(secret=SECRET)
        self.reads: list[tuple[str, bool]] = []

    def run(self, revision: Revision, *, states: bool = True) -> Run:
        self.reads.append((revision.partition, states))
        return super().run(revision, states=states)


@cache
def good_runs(named: Callable[[int], str]) -> tuple[Run, ...]:
    """The runs of some good batches, judged once for all tests."""
    gate = hg.Gate("orders", store=MemoryStore(secret=SECRET), learn=["history"])
    verdicts = [gate.judge(prices(number), named(number)) for number in range(BEFORE)]
    assert {each.action for each in verdicts} == {Action.PUBLISH}
    return tuple(gate.store.run(each.revision) for each in verdicts)


def gate_of(named: Callable[[int], str] = daily, store: HistoryStore | None = None, **given: Any) -> Gate:
    """A gate after some good batches."""
    store = store or MemoryStore(secret=SECRET)
    for run in good_runs(named):
        store.commit(run)
        store.decide("orders", run.partition, Decision.PUBLISHED, who="gate")
    return hg.Gate("orders", store=store, learn=["history"], **given)


def shifted(
    gate: Gate, count: int, named: Callable[[int], str] = daily, level: float = 5.0, first: int = BEFORE
) -> list[BatchVerdict]:
    """The verdicts on batches at another level."""
    return [gate.judge(prices(number, level), named(number)) for number in range(first, first + count)]


def title(verdict: BatchVerdict) -> str:
    (cause,) = verdict.causes
    return cause.title


# --- told as one cause


def test_a_level_that_stays_is_told_day_by_day_and_accepted_at_once() -> None:
    gate = gate_of()
    first, second, third, fourth = shifted(gate, 4)
    assert first.account.held == HeldSequence()
    assert "level" not in first.explain()
    assert "range" not in first.explain()
    assert title(second).startswith("price: second day at the new level (")
    assert title(third).startswith("price: third day at the new level (")
    assert re.fullmatch(
        r"orders 2026-10-23 failed and was held: price looks multiplied by [45][.\d]*, for the third day\.",
        third.headline,
    )
    assert "2026-10-21 and 2026-10-22 were held for the same reason" in third.explain()
    assert title(fourth).startswith("price: fourth day at the new level (")
    assert {each.action for each in (first, second, third, fourth)} == {Action.HOLD}

    rulings = gate.accept("2026-10-21", to="2026-10-24", note="new tariff", who="ann")
    assert [each.partition for each in rulings] == [each.partition for each in (first, second, third, fourth)]
    assert {(each.decision, each.who, each.note) for each in rulings} == {(Decision.ACCEPTED, "ann", "new tariff")}
    (fifth,) = shifted(gate, 1, first=BEFORE + 4)
    assert fifth.action is Action.PUBLISH


def test_the_page_is_drawn_from_the_history_alone() -> None:
    gate = gate_of()
    verdict = shifted(gate, 3)[-1]
    again = hg.Gate("orders", store=gate.store, learn=["history"]).explain(verdict.partition)
    assert again.explain("shell") == verdict.explain("shell")
    assert again.causes == verdict.causes


@pytest.mark.parametrize(("named", "step"), [(hourly, "hour"), (irregular, "batch")])
def test_a_step_is_named_as_the_batches_come(named: Callable[[int], str], step: str) -> None:
    verdicts = shifted(gate_of(named), 3, named)
    assert title(verdicts[1]).startswith(f"price: second {step} at the new level (")
    assert title(verdicts[2]).startswith(f"price: third {step} at the new level (")


def test_next_steps_decide_about_all_of_them_with_one_command() -> None:
    verdict = shifted(gate_of(), 3)[-1]
    assert verdict.shell_commands[1:3] == (
        'headgate accept orders 2026-10-21..2026-10-23 --note "why it is right"',
        'headgate reject orders 2026-10-21..2026-10-23 --note "..."',
    )
    assert verdict.commands[0].startswith("gate.accept('2026-10-21', to='2026-10-23', note=")
    assert verdict.commands[1].startswith("gate.reject('2026-10-21', to='2026-10-23', note=")
    notification = verdict.notification()
    assert notification.commands == verdict.commands
    assert "third day at the new level" in notification.causes[0].title
    assert "were held for the same reason" in notification.causes[0].detail
    assert verdict.to_dict()["causes"][0]["held_before"] == ["2026-10-21", "2026-10-22"]


def test_what_another_day_has_wrong_is_not_the_same_cause() -> None:
    gate = gate_of()
    shifted(gate, 1)
    wrong = hg.inject_issue(prices(BEFORE + 1), "increased_nulls", "city", share=0.6, value="null")
    verdict = gate.judge(wrong, daily(BEFORE + 1))
    assert verdict.action is Action.HOLD
    assert verdict.account.held == HeldSequence()


@pytest.mark.parametrize("levels", [(5.0, 25.0), (5.0, 0.1)], ids=["farther", "the other side"])
def test_another_level_is_not_the_same_cause(levels: tuple[float, float]) -> None:
    gate = gate_of()
    shifted(gate, 1, level=levels[0])
    (verdict,) = shifted(gate, 1, level=levels[1], first=BEFORE + 1)
    assert verdict.action is Action.HOLD
    assert verdict.account.held == HeldSequence()


# --- what ends a sequence, and that nothing is accepted by itself


@pytest.mark.parametrize("word", ["reject", "release", "discard"])
def test_a_batch_that_a_person_decided_about_ends_the_sequence(word: str) -> None:
    gate = gate_of()
    shifted(gate, 2)
    getattr(gate, word)(daily(BEFORE + 1))
    (verdict,) = shifted(gate, 1, first=BEFORE + 2)
    assert verdict.account.held == HeldSequence()


def test_a_batch_that_was_repaired_ends_the_sequence() -> None:
    gate = gate_of()
    shifted(gate, 2)
    assert gate.judge(prices(BEFORE + 1), daily(BEFORE + 1)).action is Action.PUBLISH
    (verdict,) = shifted(gate, 1, first=BEFORE + 2)
    assert verdict.account.held == HeldSequence()


def test_a_partition_that_is_named_in_another_way_is_not_in_the_sequence() -> None:
    gate = gate_of()
    shifted(gate, 1)
    verdict = gate.judge(prices(BEFORE + 1, 5.0), "2026-10-31 again")
    assert verdict.action is Action.HOLD
    assert verdict.account.held == HeldSequence()


def test_nothing_is_accepted_by_itself() -> None:
    gate = gate_of()
    learned_from = shifted(gate, 6)[-1].account.reference_attempts
    assert learned_from == shifted(gate, 1, first=BEFORE + 6)[0].account.reference_attempts
    newest = gate.store.last("orders", 7)
    assert {each.decision for each in newest} == {Decision.HELD}
    assert {each.who for each in gate.store.rulings("orders")} == {"gate"}


def test_a_level_that_nobody_answers_stays_held() -> None:
    """Ranges that widen with the time since the last accepted run let it pass after two weeks."""
    assert {each.action for each in shifted(gate_of(), 30)} == {Action.HOLD}


def test_a_gate_that_observes_holds_nothing_and_tells_no_sequence() -> None:
    verdict = shifted(gate_of(mode="observe"), 2)[-1]
    assert verdict.decision is Decision.OBSERVED
    assert verdict.account.held == HeldSequence()


# --- what it costs


def test_held_runs_are_read_without_states_and_only_after_a_failure() -> None:
    store = Recorder()
    gate_of(store=store)
    gate = hg.Gate("orders", store=store, learn=["history"])
    shifted(gate, 2)
    other = hg.Gate("orders", store=store, learn=["history"])
    store.reads.clear()
    shifted(other, 1, first=BEFORE + 2)
    assert [each for each in store.reads if not each[1]] == [(daily(BEFORE + 1), False), (daily(BEFORE), False)]
    store.reads.clear()
    assert other.judge(prices(BEFORE + 3), daily(BEFORE + 3)).action is Action.PUBLISH
    assert [each for each in store.reads if not each[1]] == []


def test_a_held_run_that_cannot_be_read_does_not_keep_the_next_from_being_judged() -> None:
    class Damaged(MemoryStore):
        def run(self, revision: Revision, *, states: bool = True) -> Run:
            if not states:
                raise CorruptBytes("the bytes do not hold the details of a run.")
            return super().run(revision, states=states)

    store = Damaged(secret=SECRET)
    shifted(gate_of(store=store), 1)
    (verdict,) = shifted(hg.Gate("orders", store=store, learn=["history"]), 1, first=BEFORE + 1)
    assert (verdict.action, verdict.account.held) == (Action.HOLD, HeldSequence())


# --- rulings on a range


@pytest.fixture
def held() -> Gate:
    """A gate that holds three batches and has published the one after them."""
    gate = hg.Gate("orders", store=MemoryStore(), learn=(), checks=hg.Check("orders").is_complete("price"))
    broken = pa.table({"price": [1.0, None]})
    for number in range(3):
        assert gate.judge(broken, f"day {number + 8}").action is Action.HOLD
    assert gate.judge(pa.table({"price": [1.0, 2.0]}), "day 11").action is Action.PUBLISH
    return gate


@pytest.mark.parametrize(
    ("word", "decision"),
    [
        ("accept", Decision.ACCEPTED),
        ("reject", Decision.REJECTED),
        ("release", Decision.RELEASED),
        ("discard", Decision.DISCARDED),
    ],
)
def test_a_range_is_decided_in_the_order_of_the_partitions(held: Gate, word: str, decision: Decision) -> None:
    rulings = getattr(held, word)("day 9", to="day 11", note="so it is", who="ann")
    assert [(each.partition, each.decision) for each in rulings] == [("day 9", decision), ("day 10", decision)]
    assert [each.decision for each in held.store.last("orders", 9)] == [
        Decision.HELD,
        decision,
        decision,
        Decision.PUBLISHED,
    ]


def test_the_ends_of_a_range_need_no_batch_of_their_own(held: Gate) -> None:
    assert [each.partition for each in held.reject("day 1", to="day 9")] == ["day 8", "day 9"]


def test_a_range_without_a_held_batch_is_an_error_that_names_the_held_ones(held: Gate) -> None:
    with pytest.raises(MisuseError, match=r"no batch of orders from day 11 to day 12 is held\. Held are day 8, day 9"):
        held.accept("day 11", to="day 12")
    held.reject("day 8", to="day 10")
    with pytest.raises(MisuseError, match="None of its batches is held"):
        held.accept("day 8", to="day 10")


def test_a_range_begins_with_its_first_partition(held: Gate) -> None:
    with pytest.raises(MisuseError, match=r"day 10 comes after day 9\."):
        held.accept("day 10", to="day 9")


def test_a_range_takes_no_number_of_a_revision(held: Gate) -> None:
    with pytest.raises(MisuseError, match="a revision is of one batch, not of a range"):
        held.accept("day 8", to="day 10", number=1)
    assert {each.who for each in held.store.rulings("orders")} == {"gate"}


def test_a_range_does_not_decide_about_a_batch_with_several_revisions(held: Gate) -> None:
    held.judge(pa.table({"price": [3.0, None]}), "day 9")
    with pytest.raises(MisuseError, match=r"have several revisions: day 9 \(2\)\. Decide about each of these alone"):
        held.accept("day 8", to="day 10")
    assert {each.who for each in held.store.rulings("orders")} == {"gate"}
    held.accept("day 9", number=2)
    assert [each.partition for each in held.accept("day 8", to="day 10")] == ["day 8", "day 10"]


def test_a_held_revision_of_a_batch_that_was_repaired_is_not_decided_about(held: Gate) -> None:
    held.judge(pa.table({"price": [3.0, 4.0]}), "day 9")
    assert [each.partition for each in held.accept("day 8", to="day 10")] == ["day 8", "day 10"]
    assert held.store.revisions("orders", "day 9")[0].decision is Decision.HELD


def test_a_batch_that_was_never_read_refuses_the_whole_range(held: Gate) -> None:
    def lost() -> pa.Table:
        raise OSError("the connection was reset")

    held.judge(lost, "day 12")
    with pytest.raises(MisuseError, match="day 12 was never read"):
        held.accept("day 8", to="day 12")
    assert {each.who for each in held.store.rulings("orders")} == {"gate"}


def test_rulings_before_one_that_fails_stand(held: Gate, monkeypatch: pytest.MonkeyPatch) -> None:
    carry_out = held.mover.carry_out_ruling

    def fail_once(revision: Revision, *given: Any) -> None:
        if revision.partition == "day 9":
            raise PublishError("the disk is full.")
        carry_out(revision, *given)

    monkeypatch.setattr(held.mover, "carry_out_ruling", fail_once)
    with pytest.raises(RangeStopped) as caught:
        held.release("day 8", to="day 10")
    assert str(caught.value).startswith(
        "day 9 stopped it: the disk is full. Already released: day 8. Still held: day 10. Then recover"
    )
    decisions = {each.partition: each.decision for each in held.store.last("orders", 9)}
    assert (decisions["day 8"], decisions["day 10"]) == (Decision.RELEASED, Decision.HELD)


def test_a_range_whose_first_ruling_fails_raises_its_error(held: Gate, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any) -> None:
        raise PublishError("the disk is full.")

    monkeypatch.setattr(held.mover, "carry_out_ruling", fail)
    with pytest.raises(PublishError, match="the disk is full") as caught:
        held.release("day 8", to="day 10")
    assert not isinstance(caught.value, RangeStopped)
