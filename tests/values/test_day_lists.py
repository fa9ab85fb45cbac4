"""Named lists of days."""

from __future__ import annotations

import datetime

import pytest

from headgate.values.day_lists import NO_LISTS, DayLists
from headgate.values.errors import MisuseError
from headgate.values.period import to_period

CHRISTMAS = datetime.date(2026, 12, 25)


def test_days_may_be_dates_or_texts_in_any_order() -> None:
    given = {"holidays": ["2027-01-01", CHRISTMAS, datetime.datetime(2026, 12, 25, 7)]}
    assert DayLists.of(given) == DayLists((("holidays", (CHRISTMAS, datetime.date(2027, 1, 1))),))
    assert str(DayLists.of(given)) == "holidays: 2026-12-25, 2027-01-01"


@pytest.mark.parametrize("wrong", ["Christmas", "2026-12", "25.12.2026", 7])
def test_what_is_no_day_is_refused(wrong: str) -> None:
    with pytest.raises(MisuseError, match=r"holidays has .* which is no day"):
        DayLists.of({"holidays": [wrong]})


@pytest.mark.parametrize(
    ("time", "name"),
    [("2026-12-25", "holidays"), ("2026-12-25T07", "holidays"), ("2026-12-24", ""), ("2026-12", ""), ("2026-W52", "")],
)
def test_the_list_of_a_day(time: str, name: str) -> None:
    days = DayLists.of({"holidays": [CHRISTMAS, "2026-12-01"], "sales": [CHRISTMAS]})
    assert days.find(to_period(time)) == name
    assert days.find(None) == ""


def test_no_lists_are_false() -> None:
    assert not NO_LISTS
    assert DayLists.of({"holidays": []})
