"""A held batch whose fault is known is repaired and judged again, and nothing is recorded."""

from __future__ import annotations

import pyarrow.compute as pc
import pytest

from headgate.gate.gate import Gate
from headgate.store.memory import MemoryStore
from headgate.values.account import Action
from headgate.values.errors import MisuseError
from tests.gate.orders import BUDGET, SECRET, dearer, emptied, named, orders, replaced

DAYS = 20


def make_gate(secret: bytes | None = None) -> Gate:
    gate = Gate("orders", store=MemoryStore(secret=secret), learn=["history"], false_alarms=BUDGET)
    for day in range(DAYS):
        gate.judge(orders(day), named(day))
    return gate


@pytest.mark.parametrize("secret", [None, SECRET], ids=["plain", "hidden"])
def test_a_repaired_batch_would_pass_and_nothing_is_recorded(secret: bytes | None) -> None:
    gate, batch = make_gate(secret), dearer(orders(DAYS))
    verdict = gate.judge(batch, named(DAYS))
    assert verdict.action is Action.HOLD
    assert verdict.repairs == ("price is divided by 100",)
    repaired = verdict.repair(batch)
    assert pc.round(repaired["price"], 6).equals(orders(DAYS)["price"])
    assert repaired.drop_columns(["price"]).equals(orders(DAYS).drop_columns(["price"]))
    head = gate.store.head("orders")
    trial = gate.try_repair(batch, named(DAYS))
    assert trial.passed
    assert trial.repairs == verdict.repairs
    assert trial.data.equals(repaired)
    assert str(trial).startswith(f"orders {named(DAYS)} would pass after this repair: price is divided by 100.")
    assert "gate." not in str(trial)
    assert trial.commands == trial.shell_commands == ()
    assert gate.store.head("orders") == head


def test_what_was_repaired_is_recorded_with_the_run_and_shown() -> None:
    gate, batch = make_gate(), dearer(orders(DAYS))
    gate.judge(batch, named(DAYS))
    trial = gate.try_repair(batch, named(DAYS))
    verdict = gate.judge(trial.data, named(DAYS), repaired=trial.repairs)
    assert verdict.action is Action.PUBLISH
    read = gate.explain(named(DAYS), verdict.revision.number)
    assert read.account.repaired == ("price is divided by 100",)
    assert read.to_dict()["repaired"] == ["price is divided by 100"]
    assert "Repaired: price is divided by 100" in read.explain()
    assert gate.explain(named(DAYS), 1).account.repaired == ()


def test_the_next_steps_of_a_held_batch_name_the_repair() -> None:
    gate, batch = make_gate(), dearer(orders(DAYS))
    verdict = gate.judge(batch, named(DAYS))
    assert any(each.startswith("verdict.repair(df)   # wrong: price is divided by 100") for each in verdict.commands)
    assert f"headgate repair orders {named(DAYS)}" in verdict.shell_commands
    assert "verdict.repair(df)" in verdict.explain()
    read = gate.explain(named(DAYS))
    assert read.repair(batch).equals(verdict.repair(batch))


def test_what_is_still_wrong_after_the_repair_is_said() -> None:
    gate = make_gate()
    batch = emptied(dearer(orders(DAYS)), "country", 0.9)
    gate.judge(batch, named(DAYS))
    trial = gate.try_repair(lambda: batch, named(DAYS))
    assert not trial.passed
    assert all("country" in obstacle for obstacle in trial.obstacles)
    assert "would still not pass" in trial.headline
    assert any("country" in cause.title for cause in trial.causes)


def test_a_change_of_case_is_undone_by_the_case_of_earlier_runs() -> None:
    gate = make_gate()
    batch = replaced(orders(DAYS), "country", pc.utf8_lower(orders(DAYS)["country"]))
    verdict = gate.judge(batch, named(DAYS))
    assert verdict.account.diagnoses[0].fault == "casing"
    trial = gate.try_repair(batch, named(DAYS))
    assert trial.passed
    assert trial.data.equals(orders(DAYS))


def test_a_batch_that_no_known_inverse_explains_is_refused_with_the_reason() -> None:
    gate, batch = make_gate(), emptied(orders(DAYS), "country")
    verdict = gate.judge(batch, named(DAYS))
    assert verdict.repairs == ()
    with pytest.raises(MisuseError, match=r"cannot be repaired here: .*what was there before is not in the batch"):
        verdict.repair(batch)
    with pytest.raises(MisuseError, match="cannot be repaired here"):
        gate.try_repair(batch, named(DAYS))
    with pytest.raises(MisuseError, match="no known fault explains it"):
        gate.explain(named(1)).repair(batch)
    assert not any("repair(" in each for each in verdict.commands)
