"""Dates that are written in another way."""

from __future__ import annotations

from datetime import date

import pytest

from tests.diagnose.history import BOTH, change, diagnose_one, list_names, make_day


@BOTH
@pytest.mark.parametrize("form", ["%d.%m.%Y", "%m/%d/%Y", "%d-%b-%Y", "%Y-%m-%dT00:00:00"])
def test_text_dates_in_another_format_are_named(form: str, hide: bool) -> None:
    found = diagnose_one(change(make_day(), "printed", lambda value: f"{date.fromisoformat(value):{form}}"), hide)
    assert (found.fault, found.sentence) == ("date_format", "printed has dates written in another way")
    assert found.columns == ("printed",)


@pytest.mark.parametrize(
    ("column", "form"),
    [("due", "%d/%m/%Y"), ("due", "%Y%m%d"), ("ordered_at", "%Y-%m-%dT%H:%M:%S"), ("ordered_at", "%m/%d/%Y")],
)
def test_dates_that_are_read_as_text_are_named(column: str, form: str) -> None:
    found = diagnose_one(change(make_day(), column, lambda value: f"{value:{form}}"))
    assert (found.fault, found.columns) == ("date_format", (column,))
    assert found.sentence == f"{column} is a date written in another way, which is read as text"


def test_other_texts_are_no_dates() -> None:
    assert "date_format" not in list_names(change(make_day(), "printed", lambda value: f"day {value[-1]}"))
