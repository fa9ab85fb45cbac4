"""Times of another zone, dates of another day."""

from __future__ import annotations

from datetime import date, timedelta

import pytest

from tests.diagnose.history import BOTH, change, diagnose_one, list_names, make_day


@BOTH
@pytest.mark.parametrize(("hours", "words"), [(-8, "8 hours back"), (8, "8 hours ahead")])
def test_a_shift_by_hours_is_named(hours: int, words: str, hide: bool) -> None:
    """Some of the times then are of another day, but no rows of another day are in the batch."""
    found = diagnose_one(change(make_day(), "ordered_at", lambda value: value + timedelta(hours=hours)), hide)
    assert (found.fault, found.columns, found.share) == ("time_shifted", ("ordered_at",), 1.0)
    assert found.parameters == {"seconds": hours * 3600.0}
    assert found.sentence == f"ordered_at looks shifted by {words}"
    assert found.repairable


@BOTH
def test_a_shift_by_days_is_named(hide: bool) -> None:
    found = diagnose_one(change(make_day(), "due", lambda value: value + timedelta(days=7)), hide)
    assert (found.fault, found.parameters) == ("time_shifted", {"seconds": 7 * 86_400.0})


def test_rows_of_another_day_are_not_shifted() -> None:
    broken = change(make_day(), "ordered_at", lambda value: value - timedelta(days=3))
    assert list_names(broken) == ["other_partition"]


def test_a_date_at_the_end_of_the_calendar_stops_nothing() -> None:
    last = iter(range(10_000))
    broken = change(make_day(), "due", lambda value: date(9999, 12, 31) if next(last) % 3 == 0 else value)
    assert "placeholder" in list_names(broken)
