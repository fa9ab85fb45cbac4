"""Blanks around texts."""

from __future__ import annotations

import pytest

from tests.diagnose.history import BOTH, change, diagnose_one, list_names, make_day


@BOTH
@pytest.mark.parametrize(("column", "form"), [("city", "{} "), ("city", "  {}"), ("note", "{:<60}")])
def test_blanks_are_named(column: str, form: str, hide: bool) -> None:
    found = diagnose_one(change(make_day(), column, form.format), hide)
    assert (found.fault, found.sentence) == ("padding", f"{column} has blanks around the values")
    assert found.columns == (column,)
    assert found.repairable


def test_a_part_of_the_values_has_its_share() -> None:
    found = diagnose_one(change(make_day(), "carrier", "{}  ".format, share=0.4))
    assert found.fault == "padding"
    assert found.share == pytest.approx(0.4, abs=0.06)


def test_blanks_within_values_are_no_padding() -> None:
    assert "padding" not in list_names(change(make_day(), "carrier", lambda value: value.replace(" ", "   ")))
