"""A batch that is an exact copy of an earlier one is recognised, and said to be one."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import headgate as hg
from headgate.learn.copies import COPIES
from headgate.values.account import Action


def day(number: int, rows: int = 40) -> pa.Table:
    chance = np.random.default_rng(number)
    return pa.table({"id": np.arange(rows), "price": chance.normal(20, 1, rows), "code": ["a", "b"] * (rows // 2)})


def name(number: int) -> str:
    return f"2026-11-{number:02}"


def gate_after(days: int) -> hg.Gate:
    gate = hg.Gate("orders", store=hg.open_store("memory:"))
    for number in range(1, days + 1):
        assert gate.judge(day(number), partition=name(number)).action is Action.PUBLISH
    return gate


@pytest.mark.parametrize("days", [1, 2, 12])
@pytest.mark.parametrize("before", [1, -1])
def test_a_copy_is_held_and_named(days: int, before: int) -> None:
    copied = before % (days + 1)
    verdict = gate_after(days).judge(day(copied), partition=name(days + 1))
    assert verdict.action is Action.HOLD
    (cause, *others) = verdict.causes
    assert cause.title == f"the rows of {name(copied)} came again"
    assert others == []
    assert cause.columns == ()


def test_the_order_of_rows_makes_no_difference() -> None:
    copied = day(3).take(pa.array(np.random.default_rng(0).permutation(40)))
    verdict = gate_after(5).judge(copied, partition=name(6))
    assert verdict.causes[0].title == f"the rows of {name(3)} came again"


def test_a_table_that_does_not_change_is_accepted_once_and_then_passes() -> None:
    gate = gate_after(1)
    assert gate.judge(day(1), partition=name(2)).action is Action.HOLD
    gate.accept(name(2))
    for number in range(3, 12):
        assert gate.judge(day(1), partition=name(number)).action is Action.PUBLISH


def test_the_same_batch_judged_again_is_no_copy_of_itself() -> None:
    gate = gate_after(9)
    assert gate.judge(day(9), partition=name(9)).action is Action.PUBLISH


def test_a_batch_without_rows_is_a_copy_of_nothing() -> None:
    gate = hg.Gate("orders", store=hg.open_store("memory:"), checks=[hg.Check("rows").has_size(at_least=0)])
    for number in (1, 2, 3):
        verdict = gate.judge(day(1).slice(0, 0), partition=name(number))
        assert not any(each.expectation.metric == COPIES and each.status == "fail" for each in verdict.judgements)


def test_it_costs_nothing() -> None:
    program = gate_after(4).learned().program
    clause = next(each for each in program.clauses if each.metric == COPIES)
    assert clause.expectation.false_alarm == 0.0
    assert clause.note == "no copy in 4 runs"
    assert program.cost == pytest.approx(sum(each.cost for each in program.clauses if each != clause))
