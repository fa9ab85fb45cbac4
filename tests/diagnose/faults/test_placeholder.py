"""One value stands where others were, in a part of the rows or in all of them."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from headgate.gate.gate import Gate
from headgate.store.memory import MemoryStore
from tests.diagnose.history import (
    BOTH,
    DAYS,
    change,
    diagnose_after,
    diagnose_one,
    list_names,
    make_day,
    name_day,
    replace,
)


@BOTH
@pytest.mark.parametrize(
    ("column", "value", "words"),
    [
        ("city", "N/A", "the value N/A"),
        ("city", "", "the value ''"),
        ("price", -1.0, "the value -1.0"),
        ("items", 9999, "the value 9999"),
        ("ordered_at", datetime(1970, 1, 1), "the value 1970-01-01 00:00:00.000000"),
    ],
)
def test_a_known_placeholder_is_named(column: str, value: Any, words: str, hide: bool) -> None:
    found = diagnose_one(change(make_day(), column, lambda _: value, share=0.3), hide)
    assert (found.fault, found.columns) == ("placeholder", (column,))
    assert found.sentence.startswith(f"{column} has {words} in 3")
    assert found.parameters["share"] == pytest.approx(0.3, abs=0.06)


def test_a_default_where_nulls_were_is_named() -> None:
    found = diagnose_one(replace(make_day(), "coupon", pc.fill_null(make_day()["coupon"], -99.0)))
    assert found.fault == "placeholder"
    assert found.sentence.startswith("coupon has the value -99.0 where it was null")


def test_clipped_numbers_have_no_placeholder() -> None:
    assert "placeholder" not in list_names(change(make_day(), "price", lambda value: min(value, 35.0)))


@BOTH
@pytest.mark.parametrize(("column", "value"), [("price", 9.9), ("city", "Berlin")])
def test_one_value_in_all_rows_is_constant(column: str, value: Any, hide: bool) -> None:
    found = diagnose_one(change(make_day(), column, lambda _: value), hide)
    assert (found.fault, found.sentence) == ("constant", f"{column} has one value in all rows")


def test_a_constant_that_stands_for_unknown_is_told() -> None:
    found = diagnose_one(change(make_day(), "items", lambda _: 0))
    assert (found.fault, found.sentence) == ("constant", "items has one value in all rows, 0")


def test_texts_that_are_alike_since_they_are_cut_off_are_not_constant() -> None:
    found = diagnose_one(change(make_day(), "printed", lambda value: value[:4]))
    assert found.fault == "truncated"


def test_numbers_that_were_rounded_to_zero_are_no_placeholder() -> None:
    def make(day: int) -> pa.Table:
        table = make_day(day)
        return replace(table, "weight", pc.multiply(pc.subtract(table["weight"], 8.0), 0.25))

    found = diagnose_after(make, replace(make(12), "weight", pc.round(make(12)["weight"])))
    assert [each.fault for each in found] == ["precision_lost"]


def test_a_value_that_is_left_of_fewer_rows_is_no_placeholder() -> None:
    day = replace(make_day(), "items", pc.if_else(pc.less(make_day()["items"], 5), 0, make_day()["items"]))
    gate = Gate("shop", store=MemoryStore(), false_alarms=0.05)
    for number in range(12):
        table = make_day(number)
        gate.judge(replace(table, "items", pc.if_else(pc.less(table["items"], 5), 0, table["items"])), name_day(number))
    first = day.take(pc.sort_indices(day, sort_keys=[("items", "ascending")])).slice(0, 120)
    verdict = gate.judge(first, name_day(DAYS))
    assert verdict.diagnoses[0].fault == "rows_missing"
    assert "placeholder" not in [each.fault for each in verdict.diagnoses]


def test_a_default_where_nearly_all_was_null_is_no_constant() -> None:
    def make(day: int) -> pa.Table:
        rare = pa.array([f"K{at}" if at % 100 == 0 else None for at in range(len(make_day(day)))])
        return make_day(day).append_column("contact", rare)

    filled = replace(make(12), "contact", pc.fill_null(make(12)["contact"], "unknown"))
    [found] = [each for each in diagnose_after(make, filled) if each.columns == ("contact",)]
    assert (found.fault, found.sentence) == ("placeholder", "contact has the value unknown where it was null")


def test_the_first_day_of_all_silences_no_diagnosis() -> None:
    broken = change(make_day(), "ordered_at", lambda _: datetime(1, 1, 1), share=0.3)
    names = list_names(change(broken, "price", lambda value: value * 100))
    assert {"placeholder", "scaled"} <= set(names)
