"""Columns that hold the values of others."""

from __future__ import annotations

import pyarrow as pa
import pytest

from tests.diagnose.history import BOTH, change, diagnose_one, list_names, make_day, replace


def swap(table: pa.Table, one: str, two: str) -> pa.Table:
    return replace(replace(table, one, table[two]), two, table[one])


@BOTH
@pytest.mark.parametrize(("one", "two"), [("city", "carrier"), ("price", "weight")])
def test_swapped_columns_are_named_as_they_stand(one: str, two: str, hide: bool) -> None:
    found = diagnose_one(swap(make_day(), two, one), hide)
    assert (found.fault, found.columns) == ("columns_swapped", (one, two))
    assert found.sentence == f"{one} and {two} are swapped"
    assert found.repairable


@BOTH
def test_shifted_columns_are_named(hide: bool) -> None:
    day = make_day()
    broken = replace(
        replace(replace(day, "city", pa.nulls(len(day), pa.string())), "carrier", day["city"]), "note", day["carrier"]
    )
    found = diagnose_one(broken, hide)
    assert (found.fault, found.columns) == ("columns_shifted", ("city", "carrier", "note"))
    assert found.sentence == "city, carrier and note hold the values of the column before them"
    assert found.parameters == {"by": 1.0}


def test_a_column_that_is_copied_over_another_is_no_swap() -> None:
    broken = replace(make_day(), "carrier", make_day()["city"])
    assert not {"columns_swapped", "columns_shifted"} & set(list_names(broken))


def test_columns_between_two_that_hold_others_are_not_shifted_if_most_hold_none() -> None:
    day = make_day()
    broken = replace(replace(day, "weight", day["price"]), "carrier", day["city"])
    for column in ("price", "items", "celsius"):
        broken = change(broken, column, lambda value: value**2 + 5)
    broken = change(broken, "city", lambda value: f"{value[::-1]}.")
    assert "columns_shifted" not in list_names(broken)
