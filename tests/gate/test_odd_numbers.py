"""The first NaN or infinity of a column is held with its reason in words; where they are usual they are not."""

from __future__ import annotations

import json
import math
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import headgate as hg
from headgate.gate.batch_verdict import BatchVerdict
from headgate.values.account import Action
from tests.gate.orders import named

GOOD, ROWS = 15, 2_000
NAN, INFINITY = math.nan, math.inf


def prices(day: int, odd: tuple[float, ...] = ()) -> pa.Table:
    """A day of prices, the first of which are odd."""
    chance = np.random.default_rng([3, day])
    values = chance.lognormal(3.0, 0.5, ROWS)
    values[: len(odd)] = odd
    return pa.table({"price": values, "city": chance.choice(["Bonn", "Köln", "Trier"], ROWS)})


def gate_after(days: int, store: str = "memory:", **given: Any) -> hg.Gate:
    gate = hg.Gate("prices", store=hg.open_store(store), false_alarms=0.01, **given)
    for day in range(days):
        assert gate.judge(prices(day), named(day)).action is Action.PUBLISH
    return gate


@cache
def past() -> hg.Gate:
    return gate_after(GOOD)


def judge(*odd: float) -> BatchVerdict:
    gate = hg.Gate("prices", store=past().store, false_alarms=0.01, mode="observe")
    return gate.judge(prices(GOOD, odd), named(GOOD))


FIRST = {
    "three NaN": ((NAN,) * 3, "0.1% of price is NaN or infinite; expected none", "3 of 2,000 rows"),
    "one NaN": ((NAN,), "0.05% of price is NaN or infinite; expected none", "1 of 2,000 rows"),
    "an infinity": ((INFINITY,), "0.05% of price is NaN or infinite; expected none", "largest infinity ("),
    "minus infinity": ((-INFINITY,), "0.05% of price is NaN or infinite; expected none", "least -infinity ("),
}


@pytest.mark.parametrize(("odd", "title", "detail"), FIRST.values(), ids=FIRST)
def test_the_first_odd_number_fails_with_the_reason_in_words(odd: tuple[float, ...], title: str, detail: str) -> None:
    verdict = judge(*odd)
    assert [each.title for each in verdict.causes] == [title]
    text = verdict.explain()
    assert detail in text
    assert "it was finite in 15 runs; no accepted run did this" in text
    assert f"{len(odd):,} of 2,000 rows" in text
    assert "Infinity" not in json.dumps(verdict.to_dict(), allow_nan=False)


def test_a_good_day_passes_and_expects_finite_numbers() -> None:
    verdict = judge()
    assert verdict.passed
    assert "finiteness(price)" in {str(each.expectation.metric) for each in verdict.judgements}


@pytest.mark.parametrize("store", ["memory:", "file:{0}/history", "sqlite:///{0}/history.db"])
def test_odd_numbers_that_were_accepted_pass_from_then_on(store: str, tmp_path: Path) -> None:
    gate = gate_after(GOOD, store.format(tmp_path))
    assert gate.judge(prices(GOOD, (INFINITY, NAN)), named(GOOD)).action is Action.HOLD
    gate.accept(named(GOOD), note="a division by zero, as announced")
    for day in range(GOOD + 1, GOOD + 4):
        verdict = gate.judge(prices(day, (INFINITY, NAN)), named(day))
        assert verdict.action is Action.PUBLISH, verdict.explain()
    assert gate.judge(prices(GOOD + 4), named(GOOD + 4)).action is Action.PUBLISH
    held = gate.explain(named(GOOD)).run.outcomes
    assert {str(key): value for key, value in held.items()}["max(price)"] == hg.Measured(INFINITY)


@pytest.mark.parametrize("every", [1, 2])
def test_a_column_that_is_often_infinite_is_not_held_for_it(every: int) -> None:
    gate = hg.Gate("prices", store=hg.open_store("memory:"), false_alarms=0.01)
    for day in range(2 * GOOD):
        odd = (INFINITY, -INFINITY, NAN) if day % every == 0 else ()
        assert gate.judge(prices(day, odd), named(day)).action is Action.PUBLISH


def test_a_check_that_is_broken_by_an_infinity_says_so() -> None:
    gate = hg.Gate("prices", store=hg.open_store("memory:"), checks=hg.Check("c").has_max("price", at_most=1_000))
    verdict = gate.judge(prices(0, (INFINITY,)), named(0))
    assert [each.title for each in verdict.causes] == ["max(price) is infinity, expected at most 1,000"]
    assert verdict.rows(prices(0, (INFINITY,))).num_rows == 1
