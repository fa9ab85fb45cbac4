"""Which numbers and timestamps follow from the period of a batch."""

from __future__ import annotations

import datetime

import numpy as np
import pytest

from headgate.learn.date_functions import FUNCTIONS, find_functions, find_moments, tabulate
from headgate.values.period import Period, Unit, read_period, to_period

DAYS = [Period(datetime.datetime(2026, 10, 20) + datetime.timedelta(days=day), Unit.DAY) for day in range(31)]
DAY = 86_400


@pytest.mark.parametrize(
    ("name", "time", "expected"),
    [
        ("year", "2026-11-14", 2026),
        ("quarter", "2026-11-14", 4),
        ("quarter from 0", "2026-01-14", 0),
        ("month from 0", "2026-11-14", 10),
        ("ISO week", "2027-01-01", 53),
        ("year and ISO week", "2027-01-01", 202653),
        ("week from Monday", "2026-01-04", 0),
        ("week from Sunday", "2026-01-04", 1),
        ("day of the year", "2024-12-31", 366),
        ("day of the month", "2024-02-29", 29),
        ("hour", "2026-11-14T05", 5),
        ("date", "2026-11-14", 20261114),
        ("date and hour", "2026-11-14T05", 2026111405),
        ("date of the day before", "2026-11-01", 20261031),
        ("date of the last day", "2026-11", 20261130),
        ("year and month", "2026-11", 202611),
        ("year and quarter", "2026-11", 20264),
        ("days since 1970", "1970-02-01", 31),
        ("seconds since 1970", "1970-01-02", 86_400),
        ("milliseconds since 1970", "1970-01-02", 86_400_000),
        ("day of the week (Monday is 1)", "2026-11-14", 6),
        ("day of the week (Sunday is 1)", "2026-11-14", 7),
        ("day of the week (Monday is 0)", "2026-11-16", 0),
    ],
)
def test_a_function_of_the_period(name: str, time: str, expected: float) -> None:
    assert FUNCTIONS[name](to_period(time)) == expected


def test_the_functions_that_equal_all_values_are_found_with_their_next_value() -> None:
    months = np.array([each.start.month for each in DAYS[:-1]], np.float64)
    found = find_functions(months, tabulate(DAYS))
    assert found == {"month": 11.0, "month of the last day": 11.0}
    months[3] = np.nan
    assert "month" in find_functions(months, tabulate(DAYS))
    months[4] = 9
    assert find_functions(months, tabulate(DAYS)) == {}


@pytest.mark.parametrize("offset", [0, -DAY, 2 * DAY])
def test_dates_go_with_the_day_of_the_batch(offset: int) -> None:
    dates = np.array([each.seconds + offset for each in DAYS[:-1]])
    assert set(find_moments(dates, DAYS).values()) == {DAYS[-1].seconds + offset}


def test_the_last_day_of_a_month_goes_with_its_end() -> None:
    months = [each for month in (1, 2, 3, 4) if (each := read_period(f"2026-{month:02}"))]
    ends = np.array([Period(each.end, Unit.DAY).seconds - DAY for each in months[:-1]])
    assert find_moments(ends, months) == {"end -1 days": to_period("2026-04-30").seconds}


def test_a_time_of_the_day_is_no_date() -> None:
    six = np.array([each.seconds + 6 * 3_600 for each in DAYS[:-1]])
    assert find_moments(six, DAYS) == {}
