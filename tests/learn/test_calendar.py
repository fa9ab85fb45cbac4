"""How often a batch comes, where runs lie in time, and what recurs."""

from __future__ import annotations

import datetime

import numpy as np
import pytest

from headgate.learn.calendar import Cadence, Calendar, infer_cadence
from headgate.values.period import Period, read_period

MONDAY = datetime.datetime(2026, 3, 2)


def names(form: str, hours: list[int]) -> list[str]:
    return [(MONDAY + datetime.timedelta(hours=hour)).strftime(form) for hour in hours]


DAYS = names("%Y-%m-%d", [24 * day for day in range(40)])
WEEKDAYS = [each for each in DAYS if datetime.date.fromisoformat(each).weekday() < 5]


def periods(partitions: list[str]) -> list[Period]:
    found = [read_period(each) for each in partitions]
    return [each for each in found if each is not None]


@pytest.mark.parametrize(
    ("partitions", "cadence"),
    [
        (DAYS, Cadence.DAILY),
        (DAYS[::7], Cadence.WEEKLY),
        (WEEKDAYS, Cadence.BUSINESS_DAYS),
        (WEEKDAYS[:4], Cadence.DAILY),
        ([each for each in WEEKDAYS if each not in ("2026-03-16", "2026-04-06")], Cadence.BUSINESS_DAYS),
        ([each for at, each in enumerate(DAYS) if at % 5], Cadence.DAILY),
        ([f"2026-{month:02}" for month in range(1, 9)], Cadence.MONTHLY),
        ([f"2026-{month:02}-28" for month in range(1, 9)], Cadence.MONTHLY),
        ([f"2025-W{week:02}" for week in range(1, 40)], Cadence.WEEKLY),
        ([f"{year}Q{quarter}" for year in (2024, 2025) for quarter in range(1, 5)], Cadence.QUARTERLY),
        ([str(year) for year in range(2010, 2020)], Cadence.YEARLY),
        (names("%Y-%m-%dT%H", list(range(50))), Cadence.HOURLY),
        (names("%Y%m%d%H%M", list(range(0, 200, 6))), Cadence.REGULAR),
        ([f"{day} batch {number}" for day in DAYS[:9] for number in (1, 2)], Cadence.SEVERAL_A_DAY),
        (names("%Y-%m-%dT%H", [hour**2 for hour in range(30)]), Cadence.IRREGULAR),
    ],
)
def test_the_cadence_is_inferred(partitions: list[str], cadence: Cadence) -> None:
    assert infer_cadence(periods(partitions)) is cadence
    assert Calendar.of(partitions).cadence is cadence


@pytest.mark.parametrize("partitions", [["1", "2", "3"], ["week 9", "week 10"], [*DAYS[:5], "extra"], []])
def test_without_a_readable_time_runs_are_one_step_apart(partitions: list[str]) -> None:
    found = Calendar.of(partitions)
    assert found.cadence is Cadence.ORDER
    assert found.slots.tolist() == list(range(len(partitions) + 1))
    assert found.horizon == 1.0
    assert set(found.shifts("middle").tolist()) <= {0.0}


def test_so_are_runs_if_the_time_of_the_batch_cannot_be_read() -> None:
    assert Calendar.of(DAYS[:9], "extra").cadence is Cadence.ORDER


def test_missing_days_leave_a_gap() -> None:
    found = Calendar.of([each for at, each in enumerate(DAYS[:20]) if at not in (3, 4, 9)], DAYS[23])
    assert np.diff(found.slots).tolist() == [1, 1, 3, 1, 1, 1, 2, *[1] * 9, 4]
    assert found.horizon == 4.0


def test_over_a_weekend_business_days_are_one_step_apart() -> None:
    assert set(np.diff(Calendar.of(WEEKDAYS[:20], WEEKDAYS[20]).slots).tolist()) == {1.0}


@pytest.mark.parametrize(
    ("partitions", "following"),
    [
        (DAYS[:9], DAYS[9]),
        (WEEKDAYS[:10], WEEKDAYS[10]),
        (DAYS[:29:7], DAYS[35]),
        (["2026-10", "2026-11", "2026-12"], "2027-01"),
        (["2025-10-31", "2025-11-30", "2025-12-31"], "2026-01-31"),
        (names("%Y-%m-%dT%H", [21, 22, 23]), "2026-03-03T00"),
    ],
)
def test_the_next_batch_is_the_one_that_the_cadence_lets_expect(partitions: list[str], following: str) -> None:
    found, expected = Calendar.of(partitions), Calendar.of(partitions, following)
    assert found.periods == expected.periods
    assert found.slots.tolist() == expected.slots.tolist()


def test_timestamps_are_shifted_to_the_period_of_the_batch() -> None:
    found = Calendar.of(["2026-01", "2026-02", "2026-03"], "2026-04")
    days = {anchor: (found.shifts(anchor) / 86_400).tolist() for anchor in ("start", "end", "middle")}
    assert days == {"start": [90, 59, 31], "end": [89, 61, 30], "middle": [89.5, 60, 30.5]}


def test_days_of_a_week_recur() -> None:
    found = Calendar.of(DAYS[:9], DAYS[13])
    assert found.phases["by day of the week"].tolist() == [0, 1, 2, 3, 4, 5, 6, 0, 1, 6]
    assert Calendar.of(DAYS[:40]).phases["by month end"].sum() == 1
    assert Calendar.of(WEEKDAYS[:25]).phases["by month end"].tolist().index(1) == WEEKDAYS.index("2026-03-31")


def test_hours_of_a_day_recur_also_when_the_clock_changes() -> None:
    hours = [f"2026-10-25T{hour:02}" for hour in (0, 1, 2, 3, 4)]
    assert Calendar.of(hours).phases["by hour of the day"].tolist() == [0, 1, 2, 3, 4, 5]
    spring = [f"2026-03-29T{hour:02}" for hour in (0, 1, 3, 4)]
    assert np.diff(Calendar.of(spring).slots).tolist() == [1, 2, 1, 1]


def test_a_leap_day_is_a_day() -> None:
    found = Calendar.of(["2024-02-27", "2024-02-28", "2024-02-29"], "2024-03-01")
    assert np.diff(found.slots).tolist() == [1, 1, 1]


def test_batches_of_a_day_recur_by_their_number() -> None:
    found = Calendar.of([f"{day}/{number}" for day in DAYS[:5] for number in "abc"], f"{DAYS[5]}/a")
    assert found.phases["by batch of the day"].tolist() == [0, 1, 2] * 5 + [0]
    assert set(np.diff(found.slots).tolist()) == {1.0}


def test_stated_times_come_before_names() -> None:
    stated = {str(at): Period(MONDAY + datetime.timedelta(days=2 * at), periods(DAYS)[0].unit) for at in range(5)}
    found = Calendar.of(["0", "1", "2", "3"], "4", stated)
    assert found.cadence.by_time
    assert found.periods[-1] == stated["4"]
