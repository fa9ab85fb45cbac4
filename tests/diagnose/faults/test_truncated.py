"""Texts that are cut off."""

from __future__ import annotations

import pytest

from tests.diagnose.history import BOTH, change, diagnose_one, list_names, make_day


@BOTH
@pytest.mark.parametrize(("column", "most"), [("city", 5), ("note", 12), ("note", 25)])
def test_the_number_of_characters_is_named(column: str, most: int, hide: bool) -> None:
    found = diagnose_one(change(make_day(), column, lambda value: value[:most]), hide)
    assert (found.fault, found.columns, found.parameters) == ("truncated", (column,), {"characters": float(most)})
    assert found.sentence == f"{column} is cut off after {most} characters"


@BOTH
def test_a_part_of_the_values_is_cut_off(hide: bool) -> None:
    found = diagnose_one(change(make_day(), "carrier", lambda value: value[:3], share=0.4), hide)
    assert (found.fault, found.parameters) == ("truncated", {"characters": 3.0})
    assert found.share == pytest.approx(0.4, abs=0.06)


def test_shorter_texts_are_not_cut_off() -> None:
    assert "truncated" not in list_names(change(make_day(), "note", lambda value: value.split(",")[0]))
