"""The period of time that a batch is about, as the name of its partition tells it."""

from __future__ import annotations

import calendar
import datetime
import re
from enum import StrEnum
from typing import NamedTuple

from headgate.values.errors import MisuseError

_YEARS = range(1900, 2200)
_YEAR, _TWO = r"(?P<year>[0-9]{4})", "[0-9]{2}"
_MINUTE = rf"(?P<colon>:?)(?P<minute>{_TWO})(?:(?P=colon)(?P<second>{_TWO})(?:\.[0-9]+)?)?"
_CLOCK = rf"(?:[T _-]?(?P<hour>{_TWO})(?:h|{_MINUTE})?(?:Z|[+-][0-9]{{2}}:?[0-9]{{2}})?)?"
_FORMS = tuple(
    re.compile(rf"(?<![0-9]){form}(?![0-9])")
    for form in (
        rf"{_YEAR}-?W(?P<week>{_TWO})(?:-?(?P<weekday>[1-7]))?",
        rf"year={_YEAR}(?:[^0-9]+month=(?P<month>[0-9]{{1,2}})(?:[^0-9]+day=(?P<day>[0-9]{{1,2}})"
        r"(?:[^0-9]+hour=(?P<hour>[0-9]{1,2}))?)?)?",
        rf"{_YEAR}(?P<between>[-/_.]?)(?P<month>{_TWO})(?P=between)(?P<day>{_TWO}){_CLOCK}",
        rf"(?P<day>{_TWO})\.(?P<month>{_TWO})\.{_YEAR}",
        rf"{_YEAR}[-/_.](?P<month>[0-9]{{1,2}})[-/_.](?P<day>[0-9]{{1,2}})",
        rf"{_YEAR}[-/_.]?(?P<month>{_TWO})",
        rf"{_YEAR}[-_ ]?Q(?P<quarter>[1-4])",
        _YEAR,
    )
)
_EPOCH = re.compile(r"(?<![0-9])(1[0-8][0-9]{8})([0-9]{3})?(?![0-9])")  # seconds or milliseconds since 1970, to 2030


class Unit(StrEnum):
    """How long a period is."""

    SECOND = "second"
    MINUTE = "minute"
    HOUR = "hour"
    DAY = "day"
    WEEK = "week"
    MONTH = "month"
    QUARTER = "quarter"
    YEAR = "year"


_LENGTHS = {
    Unit.SECOND: datetime.timedelta(seconds=1),
    Unit.MINUTE: datetime.timedelta(minutes=1),
    Unit.HOUR: datetime.timedelta(hours=1),
    Unit.DAY: datetime.timedelta(days=1),
    Unit.WEEK: datetime.timedelta(days=7),
}
_MONTHS = {Unit.MONTH: 1, Unit.QUARTER: 3, Unit.YEAR: 12}


class Period(NamedTuple):
    """A period from `start` on, by the clock of whoever named it: a time zone is not looked at."""

    start: datetime.datetime
    unit: Unit

    @property
    def end(self) -> datetime.datetime:
        """The start of the next period."""
        if self.unit in _LENGTHS:
            return self.start + _LENGTHS[self.unit]
        months = self.start.year * 12 + self.start.month - 1 + _MONTHS[self.unit]
        return self.start.replace(year=months // 12, month=months % 12 + 1)

    def __str__(self) -> str:
        return f"{self.start.isoformat()} {self.unit}"

    @property
    def seconds(self) -> float:
        """The start in seconds since 1970."""
        return calendar.timegm(self.start.timetuple())


def to_period(time: datetime.date | datetime.datetime | str) -> Period:
    """The period that somebody states: a day, a moment, or a text as names of partitions have it.

    >>> to_period(datetime.date(2026, 11, 14)).unit.value, to_period("2026-11").unit.value
    ('day', 'month')
    """
    if isinstance(time, datetime.datetime):
        return Period(time.replace(tzinfo=None, microsecond=0), Unit.SECOND)
    if isinstance(time, datetime.date):
        return Period(datetime.datetime(time.year, time.month, time.day), Unit.DAY)
    if (found := read_period(time)) is None:
        raise MisuseError(f"{time!r} is no time.", hint='Write a date, "2026-11-14T05", "2026-11" or "2026-W46".')
    return found


def parse_period(text: str) -> Period | None:
    """A period from its text in a store; None if there is none.

    >>> parse_period(str(to_period("2026-11-14T05"))) == to_period("2026-11-14T05")
    True
    """
    start, _, unit = text.partition(" ")
    try:
        return Period(datetime.datetime.fromisoformat(start), Unit(unit)) if text else None
    except ValueError:
        return None


def read_period(text: str) -> Period | None:
    """The period that a name tells, the first one that stands in it; None if there is none.

    >>> read_period("2026-11-14"), read_period("dt=20261114/part 3")[0].day
    (Period(start=datetime.datetime(2026, 11, 14, 0, 0), unit=<Unit.DAY: 'day'>), 14)
    >>> [read_period(each).unit.value for each in ("2026-11", "2026-W46", "2026-11-14T05", "year=2026/month=11")]
    ['month', 'week', 'hour', 'month']
    >>> read_period("batch 7") is read_period("2026-13-45") is None
    True
    """
    if (epoch := _EPOCH.search(text)) is not None:
        start = datetime.datetime.fromtimestamp(int(epoch[1]), datetime.UTC).replace(tzinfo=None)
        return Period(start, Unit.SECOND)
    match = next((found for form in _FORMS if (found := form.search(text)) is not None), None)
    return None if match is None else _read_match(match.groupdict())


def _read_match(found: dict[str, str | None]) -> Period | None:
    numbers = {name: int(text) for name, text in found.items() if text and text.isdecimal()}
    year = numbers["year"]
    if year not in _YEARS:
        return None
    try:
        if "week" in numbers:
            day = datetime.date.fromisocalendar(year, numbers["week"], numbers.get("weekday", 1))
            return _make_period([day.year, day.month, day.day], Unit.DAY if "weekday" in numbers else Unit.WEEK)
        if "quarter" in numbers:
            return _make_period([year, 3 * numbers["quarter"] - 2], Unit.QUARTER)
        units = {"month": Unit.MONTH, "day": Unit.DAY, "hour": Unit.HOUR, "minute": Unit.MINUTE, "second": Unit.SECOND}
        parts = [numbers[name] for name in units if name in numbers]
        unit = [Unit.YEAR, *(units[name] for name in units if name in numbers)][-1]
        return _make_period([year, *parts], unit)
    except ValueError:  # there is no such day
        return None


def _make_period(parts: list[int], unit: Unit) -> Period:
    return Period(datetime.datetime(*(parts + [1] * (3 - len(parts)))), unit)  # type: ignore[arg-type]
