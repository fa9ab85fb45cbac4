"""What moves slowly is told once for each doubling, and a batch is held beyond the limit."""

from __future__ import annotations

import datetime
import re

import numpy as np
import pyarrow as pa
import pytest

import headgate as hg
from headgate.gate.batch_verdict import BatchVerdict
from headgate.gate.notification import Notification
from headgate.values.account import Action
from headgate.values.errors import MisuseError

START, GOOD_DAYS, ROWS = datetime.date(2026, 1, 5), 25, 200


def day(number: int) -> str:
    return str(START + datetime.timedelta(days=number))


def batch(number: int, factor: float) -> pa.Table:
    """A day has a level of its own, so that a growth of a few percent is nothing unusual."""
    chance = np.random.default_rng(number)
    level = factor * (1 + 0.06 * chance.standard_normal())
    return pa.table({"price": level * chance.normal(24.0, 2.0, ROWS), "id": np.arange(ROWS) + number * ROWS})


def judge_days(gate: hg.Gate, days: int, growth: float = 1.08) -> list[BatchVerdict]:
    """Good days, then days on which the price grows; what is held is accepted."""
    verdicts = []
    for number in range(GOOD_DAYS + days):
        verdict = gate.judge(batch(number, growth ** max(0, number - GOOD_DAYS + 1)), day(number))
        verdicts.append(verdict)
        if verdict.action is Action.HOLD:
            gate.accept(day(number))
    return verdicts[GOOD_DAYS:]


def test_each_doubling_is_told_once_and_ten_times_as_much_is_held() -> None:
    notifications: list[Notification] = []
    gate = hg.Gate("orders", store=hg.open_store("memory:"), notify=notifications.append)
    verdicts = judge_days(gate, 34)
    told = {number: verdict.drifts[0] for number, verdict in enumerate(verdicts, 1) if verdict.drifts}
    times = [re.findall(r"about (\S+) times", each)[0] for each in told.values()]
    assert [round(float(each)) for each in times[:3]] == [2, 4, 8], told
    assert 9 <= min(told) <= 13  # 1.08 ** 9 is 2
    first = verdicts[min(told) - 1]
    assert first.passed
    assert f" in {day(0)} (about 2" in first.drifts[0]
    assert f"Drift: {first.drifts[0]}" in first.explain()
    assert [each.partition for each in notifications if each.kind == "drift"] == [
        verdicts[number - 1].partition for number in told if verdicts[number - 1].passed
    ]
    held = [verdict for verdict in verdicts if verdict.action is Action.HOLD]
    assert len(held) == 1
    assert "price has slowly become about 1" in held[0].causes[0].title


def test_another_limit_can_be_set_and_0_holds_nothing() -> None:
    strict = judge_days(hg.Gate("orders", store=hg.open_store("memory:"), drift=3.0), 17)
    assert [verdict.action for verdict in strict].count(Action.HOLD) == 1
    never = judge_days(hg.Gate("orders", store=hg.open_store("memory:"), drift=0), 34)
    assert all(verdict.passed for verdict in never)


def test_without_drift_nothing_is_told() -> None:
    verdicts = judge_days(hg.Gate("orders", store=hg.open_store("memory:")), 30, growth=1.0)
    assert not any(verdict.drifts or not verdict.passed for verdict in verdicts)


@pytest.mark.parametrize("drift", [1.0, -2.0, float("nan"), float("inf")])
def test_a_limit_that_is_none_is_refused(drift: float) -> None:
    with pytest.raises(MisuseError, match="drift is how many times"):
        hg.Gate("orders", store=hg.open_store("memory:"), drift=drift)
