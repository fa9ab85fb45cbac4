"""Muted columns: until their time they hold no batch, and runs tell which columns were muted."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

import headgate as hg
from headgate.values.errors import MisuseError
from tests.gate.orders import dearer, gate_after, judged, named, new_gate, orders

DAYS = 12
TOMORROW = datetime.now(UTC) + timedelta(days=1)
LATER = TOMORROW + timedelta(days=1)


def test_a_muted_column_holds_nothing_until_its_time() -> None:
    gate = gate_after(DAYS)
    gate.mute("price", until=TOMORROW, note="backfill", who="ann")
    assert judged(gate, DAYS, dearer(orders(DAYS)), now=LATER).action == "hold"
    assert judged(gate, DAYS, dearer(orders(DAYS))).passed
    over = judged(gate, DAYS, dearer(orders(DAYS)), now=LATER)
    assert (over.action, over.revision.number) == ("hold", 3)
    assert over.account.mutes == ()


def test_what_is_published_meanwhile_is_learned_from_like_every_run() -> None:
    gate = gate_after(DAYS)
    gate.mute("price", until=TOMORROW)
    assert judged(gate, DAYS, dearer(orders(DAYS))).passed
    assert judged(gate, DAYS + 1, dearer(orders(DAYS + 1)), now=LATER).passed


def test_what_was_held_is_judged_again_once_the_column_is_muted() -> None:
    gate = gate_after(DAYS)
    assert judged(gate, DAYS, dearer(orders(DAYS))).action == "hold"
    gate.mute("price", until=TOMORROW)
    again = judged(gate, DAYS, dearer(orders(DAYS)))
    assert (again.action, again.revision.number) == ("publish", 2)
    assert judged(gate, DAYS, dearer(orders(DAYS))).revision.number == 2


def test_other_columns_and_checks_still_hold() -> None:
    gate = gate_after(DAYS, checks=hg.Check("orders").has_max("price", at_most=500))
    gate.mute("price", until=TOMORROW)
    assert judged(gate, DAYS, dearer(orders(DAYS))).causes[0].is_declared
    assert judged(gate, DAYS + 1, orders(DAYS + 1).drop_columns(["country"])).action == "hold"


def test_unmuting_ends_it_before_its_time() -> None:
    gate = gate_after(DAYS)
    gate.mute("price", until=TOMORROW)
    gate.unmute("price", note="done", who="bea")
    assert gate.mutes.find_active() == ()
    assert judged(gate, DAYS, dearer(orders(DAYS))).action == "hold"
    assert [(each.who, each.note, each.until is None) for each in gate.store.mutes("orders")][-1] == (
        *("bea", "done"),
        True,
    )


def test_many_columns_may_be_muted_at_once() -> None:
    gate = gate_after(DAYS)
    gate.mute("*", until=TOMORROW)
    assert judged(gate, DAYS, dearer(orders(DAYS))).passed


def test_a_column_that_the_newest_run_lacks_can_be_muted() -> None:
    gate = gate_after(DAYS)
    without = orders(DAYS).drop_columns(["price"])
    assert judged(gate, DAYS, without).action == "hold"
    gate.mute("price", until=TOMORROW)
    assert judged(gate, DAYS, without).passed


def test_the_page_tells_of_it_from_the_history() -> None:
    gate = gate_after(DAYS)
    gate.mute("price", until=TOMORROW.date() + timedelta(days=1), note="backfill", who="ann")
    judged(gate, DAYS)
    day = TOMORROW.date() + timedelta(days=1)
    assert f"  Muted: price is muted until {day} by ann: backfill" in gate.explain(named(DAYS)).explain().splitlines()


def test_a_replay_gives_the_same_after_the_mute_was_ended() -> None:
    gate = gate_after(DAYS)
    gate.mute("price", until=TOMORROW)
    recorded = judged(gate, DAYS, dearer(orders(DAYS)))
    gate.unmute("price")
    expected = [each for each in recorded.judgements if each.expectation.rule != "has_rows()"]
    assert list(gate.replay(named(DAYS)).judgements) == expected


def test_a_backtest_judges_a_batch_by_what_was_muted_then() -> None:
    gate = gate_after(DAYS, learn=["history"])
    gate.mute("price", until=TOMORROW)
    judged(gate, DAYS, dearer(orders(DAYS)))
    gate.unmute("price")
    assert gate.backtest(budgets=[], spots=0).held_batches == ()


def test_what_is_prepared_knows_what_is_muted() -> None:
    gate = gate_after(DAYS)
    gate.mute("price", until=TOMORROW)
    assert not gate.prepare().scope.learns_column("price")


@pytest.mark.parametrize("until", ["2020-01-01", datetime.now(UTC) - timedelta(seconds=1)])
def test_a_time_that_is_past_is_refused(until: str | datetime) -> None:
    with pytest.raises(MisuseError, match="Name a time to come"):
        gate_after(2).mute("price", until=until)


def test_a_column_that_no_recent_run_has_is_refused_with_the_nearest() -> None:
    with pytest.raises(MisuseError, match="Did you mean 'price'"):
        gate_after(2).mute("prise", until=TOMORROW)


def test_before_the_first_run_there_is_nothing_to_mute() -> None:
    with pytest.raises(MisuseError, match="orders has no run"):
        new_gate().mute("price", until=TOMORROW)


def test_unmuting_what_is_not_muted_tells_what_is() -> None:
    gate = gate_after(2)
    gate.mute("price", until=TOMORROW)
    with pytest.raises(MisuseError, match="prise is not muted; there are price"):
        gate.unmute("prise")
