"""Degrees Celsius and Fahrenheit."""

from __future__ import annotations

from tests.diagnose.history import BOTH, change, diagnose_after, diagnose_one, list_names, make_day, make_sales


@BOTH
def test_fahrenheit_is_named(hide: bool) -> None:
    found = diagnose_one(change(make_day(), "celsius", lambda value: value * 1.8 + 32), hide)
    assert (found.fault, found.columns, found.parameters) == (
        "unit_with_offset",
        ("celsius",),
        {"unit": "fahrenheit"},
    )
    assert found.sentence == "celsius looks like degrees Fahrenheit instead of Celsius"
    assert found.repairable


def test_other_numbers_that_are_doubled_are_no_degrees() -> None:
    assert list_names(change(make_day(), "price", lambda value: value * 1.8)) == ["scaled"]


def test_large_numbers_may_be_degrees_too_but_are_less_likely() -> None:
    found = diagnose_after(make_sales, change(make_sales(12), "sold", lambda value: round(value * 1.8 + 32)))[0]
    assert {"scaled", "unit_with_offset"} <= {found.fault, *found.others}
