"""What the next batch is learned from: the traps by name, and what a person's word changes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from headgate.checks.check import Check
from headgate.gate.batch_verdict import BatchVerdict
from headgate.gate.gate import Gate
from headgate.learn.history.rarity import is_rarity
from headgate.learn.past import DEFAULT_DISTANCES, Past
from headgate.values.account import Action
from headgate.values.errors import MisuseError
from headgate.values.expectation import Status
from headgate.values.run import Decision
from tests.gate.orders import dearer, elsewhere, gate_after, judged, named, new_gate, orders, torn

DAYS = 12
COMPLETE = Check("orders").is_complete("price")


def past_of(gate: Gate, before: int | None = None) -> Past:
    past = gate.learned(before=None if before is None else named(before)).past
    assert past is not None
    return past


def program_of(gate: Gate, before: int) -> str:
    return str(gate.learned(before=named(before)).program)


def learned(verdict: BatchVerdict) -> list[tuple[str, str]]:
    return [(str(each.expectation), each.status.value) for each in verdict.judgements]


def same_series(one: Past, other: Past) -> None:
    """The same runs with the same values of every metric and every distance."""
    assert one.partitions == other.partitions
    assert {each.key for each in one.metrics} == {each.key for each in other.metrics}
    for each in one.metrics:
        np.testing.assert_array_equal(one.series(each.key), other.series(each.key), err_msg=str(each.key))


def test_a_gate_follows_every_distance_from_the_second_run_on() -> None:
    past = past_of(gate_after(DAYS))
    assert {each.key.name for each in past.metrics if each.is_distance} == set(DEFAULT_DISTANCES)
    followed = ["cohen_d(price)", "ks_dist(price)", "value_l1(country)", "pattern_l1(code)", "unchanged(code)"]
    for metric in followed:
        assert np.isnan(past.series(metric)).tolist() == [True] + [False] * (DAYS - 1), metric


# --- the tested run in its own baseline


def test_the_tested_run_is_not_in_its_own_baseline() -> None:
    gate = gate_after(DAYS)
    before = program_of(gate, DAYS)
    verdict = judged(gate, DAYS)
    assert verdict.account.runs == DAYS
    assert program_of(gate, DAYS) == before


def test_a_run_that_was_judged_and_accepted_is_not_in_its_own_baseline_when_it_is_replayed() -> None:
    gate = gate_after(DAYS)
    first = judged(gate, DAYS, elsewhere(orders(DAYS)))
    gate.accept(named(DAYS))
    again = judged(gate, DAYS, dearer(elsewhere(orders(DAYS))))
    assert again.account.runs == first.account.runs == DAYS
    assert any("country" in each.columns for each in again.causes)


# --- past incidents poisoning thresholds


@pytest.mark.parametrize("word", [None, "reject", "release", "discard"])
def test_a_bad_batch_that_was_not_accepted_does_not_teach(word: str | None) -> None:
    gate, clean = gate_after(DAYS), gate_after(DAYS)
    for day in (DAYS, DAYS + 1):
        assert judged(gate, day, dearer(orders(day))).action is Action.HOLD
        if word is not None:
            getattr(gate, word)(named(day), who="ada", note="prices in cents")
    same_series(past_of(gate, DAYS + 2), past_of(clean, DAYS + 2))


def test_a_bad_batch_that_was_published_and_rejected_leaves_nothing_behind() -> None:
    gate, clean = gate_after(DAYS), gate_after(DAYS)
    judged(gate, DAYS, elsewhere(dearer(orders(DAYS))))
    gate.accept(named(DAYS))
    judged(gate, DAYS + 1)
    gate.accept(named(DAYS + 1))
    gate.reject(named(DAYS), who="ada", note="prices in cents")
    judged(clean, DAYS + 1)
    same_series(past_of(gate), past_of(clean))


def test_a_rejected_batch_is_out_of_the_history_though_it_was_published() -> None:
    gate = gate_after(DAYS)
    gate.reject(named(DAYS - 1), note="it was wrong after all")
    assert past_of(gate).partitions == tuple(named(day) for day in range(DAYS - 1))


def test_a_released_batch_is_published_and_does_not_teach() -> None:
    gate = gate_after(DAYS)
    judged(gate, DAYS, dearer(orders(DAYS)))
    gate.release(named(DAYS), who="ada", note="needed today")
    again = judged(gate, DAYS, dearer(orders(DAYS)))
    assert (again.action, again.decision) == (Action.PUBLISH, Decision.RELEASED)
    assert named(DAYS) not in past_of(gate).partitions


def test_a_discarded_batch_stays_in_the_history_and_does_not_teach() -> None:
    gate = gate_after(DAYS)
    judged(gate, DAYS, dearer(orders(DAYS)))
    gate.discard(named(DAYS), who="ada", note="will not be repaired")
    assert gate.explain(named(DAYS)).decision is Decision.DISCARDED
    assert named(DAYS) not in past_of(gate).partitions


def test_who_decided_and_why_is_kept() -> None:
    gate = gate_after(1)
    gate.accept(named(0), who="ada", note="new tariff")
    gate.reject(named(0), who="bob", note="no")
    told = [(each.decision, each.who, each.note) for each in gate.store.rulings("orders")][1:]
    assert told == [(Decision.ACCEPTED, "ada", "new tariff"), (Decision.REJECTED, "bob", "no")]


# --- a new regime


def test_a_new_regime_that_a_person_accepts_is_what_is_expected_next() -> None:
    gate = gate_after(DAYS)
    assert judged(gate, DAYS, elsewhere(orders(DAYS))).action is Action.HOLD
    gate.accept(named(DAYS), who="ada", note="we sell to XX now")
    assert judged(gate, DAYS + 1, elsewhere(orders(DAYS + 1))).action is Action.PUBLISH


def test_a_new_column_that_a_person_accepts_is_expected_next_and_missed_when_it_goes() -> None:
    gate = gate_after(1)
    wide = [orders(day).append_column("note", pa.array(["x"] * len(orders(day)))) for day in range(1, 9)]
    assert judged(gate, 1, wide[0]).action is Action.HOLD
    gate.accept(named(1))
    for day in range(2, 8):
        assert judged(gate, day, wide[day - 1]).action is Action.PUBLISH
    assert [each.title for each in judged(gate, 8).causes] == ["note is gone"]


def test_an_empty_day_that_a_person_accepts_does_not_hold_the_days_after_it() -> None:
    gate = gate_after(DAYS)
    assert judged(gate, DAYS, orders(DAYS).slice(0, 0)).action is Action.HOLD
    gate.accept(named(DAYS), who="ada", note="a holiday")
    verdict = judged(gate, DAYS + 1)
    assert (verdict.status, verdict.action) == (Status.PASS, Action.PUBLISH)


def test_an_empty_day_that_a_person_accepts_does_not_unlearn_how_texts_are_built() -> None:
    gate = gate_after(3)
    before = gate.learned().text_rules
    judged(gate, 3, orders(3).slice(0, 0))
    gate.accept(named(3), who="ada", note="a holiday")
    assert gate.learned().text_rules == before != ()


def test_a_run_that_was_never_read_cannot_teach() -> None:
    gate, clean = gate_after(DAYS), gate_after(DAYS)
    judged(gate, DAYS, torn())
    with pytest.raises(MisuseError, match="read"):
        gate.accept(named(DAYS))
    same_series(past_of(gate), past_of(clean))


# --- a backfill out of order


def test_a_backfill_is_judged_by_the_runs_before_it_only() -> None:
    late, early = new_gate(gate_after(8).store), new_gate(gate_after(DAYS).store)
    for day in [*range(8, DAYS), DAYS + 1, DAYS + 2]:
        judged(late, day)
        late.accept(named(day))
    for table in (elsewhere(orders(DAYS)), orders(DAYS)):
        backfilled, in_order = judged(late, DAYS, table), judged(early, DAYS, table)
        assert backfilled.account.runs == in_order.account.runs == DAYS
        assert learned(backfilled) == learned(in_order)


def test_after_a_backfill_the_history_is_as_if_it_had_come_in_order() -> None:
    late, in_order = gate_after(DAYS), gate_after(DAYS)
    for gate, days in ((late, (13, 14, 12)), (in_order, (12, 13, 14))):
        for day in days:
            judged(gate, day)
            gate.accept(named(day))
    same_series(past_of(late), past_of(in_order))
    first, second = (gate.learned(before=named(15)).program for gate in (late, in_order))
    assert [each.metric for each in first.clauses] == [each.metric for each in second.clauses]
    for one, other in zip(first.clauses, second.clauses, strict=True):
        if is_rarity(one.metric):  # how rare a batch was is told as of the day on which it was judged
            assert one.expectation.predicate.ceiling == pytest.approx(other.expectation.predicate.ceiling, rel=0.02)
        else:
            assert one == other


def test_a_backfill_does_not_change_what_was_decided_about_later_runs() -> None:
    gate = gate_after(DAYS)
    judged(gate, DAYS + 1)
    judged(gate, DAYS, dearer(orders(DAYS)))
    assert gate.explain(named(DAYS + 1)).decision is Decision.PUBLISHED


# --- a repaired re-run


def test_a_repaired_batch_replaces_the_bad_one() -> None:
    gate, clean = gate_after(DAYS), gate_after(DAYS)
    bad = judged(gate, DAYS, dearer(orders(DAYS)))
    repaired = judged(gate, DAYS)
    judged(clean, DAYS)
    assert (bad.revision.number, repaired.revision.number) == (1, 2)
    assert (bad.action, repaired.action) == (Action.HOLD, Action.PUBLISH)
    same_series(past_of(gate), past_of(clean))


def test_a_repaired_batch_replaces_one_that_had_been_accepted_by_mistake() -> None:
    gate, clean = gate_after(DAYS), gate_after(DAYS)
    judged(gate, DAYS, dearer(orders(DAYS)))
    gate.accept(named(DAYS))
    judged(gate, DAYS)
    judged(clean, DAYS)
    same_series(past_of(gate), past_of(clean))


def test_a_worse_second_try_does_not_take_the_place_of_a_good_one() -> None:
    gate = gate_after(DAYS)
    judged(gate, DAYS)
    assert judged(gate, DAYS, dearer(orders(DAYS))).action is Action.HOLD
    assert past_of(gate).series("mean(price)")[-1] == pytest.approx(np.mean(orders(DAYS)["price"].to_numpy()))


def test_a_word_may_be_about_an_earlier_revision() -> None:
    gate = gate_after(DAYS)
    judged(gate, DAYS, dearer(orders(DAYS)))
    judged(gate, DAYS)
    gate.discard(named(DAYS), number=1)
    assert [each.decision for each in gate.store.revisions("orders", named(DAYS))] == [
        Decision.DISCARDED,
        Decision.PUBLISHED,
    ]


# --- replay


def replayed(gate: Gate, day: int, **given: Any) -> list[tuple[str, str]]:
    return [(str(each.expectation), each.status.value) for each in gate.replay(named(day), **given).judgements]


@pytest.mark.parametrize("table", [orders(DAYS), elsewhere(orders(DAYS))], ids=["good", "bad"])
def test_a_replay_reaches_the_same_verdict_after_all_that_came_later(table: pa.Table) -> None:
    gate = gate_after(DAYS)
    first = [each for each in learned(judged(gate, DAYS, table)) if each[0] != "has_rows() at least 1"]
    assert replayed(gate, DAYS) == first
    gate.accept(named(DAYS), note="new tariff")
    for day in (DAYS + 1, DAYS + 2):
        judged(gate, day, dearer(orders(day)))
        gate.accept(named(day))
    gate.reject(named(2))
    assert replayed(gate, DAYS) == first
    assert replayed(new_gate(gate.store), DAYS) == first


def test_what_is_learned_does_not_depend_on_how_long_the_gate_has_been_there() -> None:
    old = new_gate(gate_after(6).store)
    for day in range(6, 15):
        if day in (8, 9, 14):
            assert program_of(new_gate(old.store), day) == program_of(old, day), day
        judged(old, day)


def test_preparing_ahead_changes_nothing() -> None:
    ready, plain = gate_after(DAYS), gate_after(DAYS)
    ready.prepare(before=named(DAYS))
    assert learned(judged(ready, DAYS)) == learned(judged(plain, DAYS))
