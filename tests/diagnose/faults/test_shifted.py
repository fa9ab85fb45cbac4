"""Numbers to which the same one is added."""

from __future__ import annotations

import pytest

from tests.diagnose.history import BOTH, change, diagnose_after, diagnose_one, list_names, make_day, make_sales


@BOTH
def test_the_offset_is_named(hide: bool) -> None:
    found = diagnose_one(change(make_day(), "weight", lambda value: value + 20), hide)
    assert (found.fault, found.columns, found.share) == ("shifted", ("weight",), 1.0)
    assert found.parameters["offset"] == pytest.approx(20, abs=0.5)
    assert found.sentence == "weight looks shifted: every value plus 20"
    assert found.repairable


def test_a_negative_offset_is_minus() -> None:
    found = diagnose_one(change(make_day(), "weight", lambda value: value - 50))
    assert (found.fault, found.sentence) == ("shifted", "weight looks shifted: every value minus 50")


def test_kelvin_is_known() -> None:
    found = diagnose_one(change(make_day(), "celsius", lambda value: value + 273.15))
    assert found.parameters == {"offset": 273.15}
    assert found.sentence.endswith("(kelvin for degrees Celsius)")


def test_numbers_times_a_factor_are_not_shifted() -> None:
    assert list_names(change(make_day(), "weight", lambda value: value * 10)) == ["scaled"]


def test_an_offset_is_round_if_that_explains_as_much() -> None:
    found = diagnose_after(make_sales, change(make_sales(12), "sold", lambda value: value + 7_100_000))
    assert found[0].parameters == {"offset": 7_100_000.0}
