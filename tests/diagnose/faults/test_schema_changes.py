"""Columns that are renamed, gone or new."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from tests.diagnose.history import BOTH, change, diagnose, diagnose_after, diagnose_one, make_day


@BOTH
def test_a_renamed_column_is_recognised_by_what_it_holds(hide: bool) -> None:
    names = ["town" if name == "city" else name for name in make_day().column_names]
    found = diagnose_one(make_day().rename_columns(names), hide)
    assert (found.fault, found.columns, found.parameters) == ("column_renamed", ("city",), {"name": "town"})
    assert found.sentence == "city is now named town"
    assert found.repairable


@BOTH
def test_a_column_that_is_gone_is_named(hide: bool) -> None:
    found = diagnose_one(make_day().drop_columns(["city"]), hide)
    assert (found.fault, found.columns, found.sentence) == ("column_missing", ("city",), "city is gone")


def test_columns_that_are_gone_are_one_sentence() -> None:
    found = diagnose_one(make_day().drop_columns(["city", "note"]))
    assert (found.columns, found.sentence) == (("city", "note"), "city and note are gone")


def test_a_column_that_is_new_is_named() -> None:
    found = diagnose_one(make_day().append_column("rank", pa.array(np.arange(len(make_day())))))
    assert (found.fault, found.columns, found.sentence) == ("column_added", ("rank",), "rank is new")


def test_a_new_column_of_other_values_is_no_new_name() -> None:
    other = make_day().drop_columns(["city"])
    found = diagnose(other.append_column("town", pa.array([f"T{row}" for row in range(len(other))])))
    assert sorted(each.fault for each in found) == ["column_added", "column_missing"]


def test_what_is_gone_is_told_before_what_is_new() -> None:
    other = make_day().drop_columns(["city"])
    found = diagnose(other.append_column("a_town", pa.array([f"T{row}" for row in range(len(other))])))
    assert [each.fault for each in found] == ["column_missing", "column_added"]


def test_a_longer_name_is_the_same_column_though_some_of_its_values_are_gone() -> None:
    day = make_day()
    names = ["weight_kg" if name == "weight" else name for name in day.column_names]
    broken = change(day, "weight", lambda _: None, share=0.25).rename_columns(names)
    found = next(each for each in diagnose(broken) if each.fault == "column_renamed")
    assert (found.columns, found.parameters) == (("weight",), {"name": "weight_kg"})
    names = ["mass" if name == "weight" else name for name in day.column_names]
    assert "column_renamed" not in [each.fault for each in diagnose(broken.rename_columns(names))]


def test_a_column_whose_case_changed_is_renamed_though_its_values_changed_too() -> None:
    names = ["Price" if name == "price" else name for name in make_day().column_names]
    broken = change(make_day(), "price", lambda value: value * 100).rename_columns(names)
    assert "column_renamed" in [each.fault for each in diagnose(broken)]


def test_names_without_letters_are_not_the_same() -> None:
    def make(day: int) -> pa.Table:
        return make_day(day).append_column("%", make_day(day)["price"])

    broken = change(make(12), "%", lambda value: value**2 + 5_000)
    names = ["#" if name == "%" else name for name in broken.column_names]
    found = {each.fault: each.columns for each in diagnose_after(make, broken.rename_columns(names))}
    assert found["column_missing"] == ("%",)
    assert "column_renamed" not in found
