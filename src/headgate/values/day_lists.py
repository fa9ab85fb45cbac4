"""Named lists of days, such as holidays, whose batches are compared with each other."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Mapping

import msgspec

from headgate.values.errors import MisuseError
from headgate.values.period import Period, Unit

_LONGER_THAN_A_DAY = frozenset({Unit.WEEK, Unit.MONTH, Unit.QUARTER, Unit.YEAR})


class DayLists(msgspec.Struct, frozen=True):
    """Lists of days by name.

    >>> holidays = DayLists.of({"holidays": ["2026-12-25", "2026-12-26"]})
    >>> holidays.find(Period(datetime.datetime(2026, 12, 25, 7), Unit.HOUR))
    'holidays'
    """

    lists: tuple[tuple[str, tuple[datetime.date, ...]], ...] = ()

    @classmethod
    def of(cls, given: Mapping[str, Iterable[datetime.date | str]]) -> DayLists:
        """Lists whose days are dates, or texts such as 2026-12-25."""
        return cls(tuple((name, tuple(sorted({_read_day(day, name) for day in given[name]}))) for name in given))

    def __bool__(self) -> bool:
        return bool(self.lists)

    def __str__(self) -> str:
        return "; ".join(f"{name}: {', '.join(map(str, days))}" for name, days in self.lists)

    def find(self, period: Period | None) -> str:
        """The first list that has the day of a period; empty if none has it, or if the period is longer than a day."""
        if period is None or period.unit in _LONGER_THAN_A_DAY:
            return ""
        return next((name for name, days in self.lists if period.start.date() in days), "")


def is_day(text: str) -> bool:
    """Whether a text is a day, such as 2026-12-25."""
    try:
        datetime.date.fromisoformat(text)
    except (TypeError, ValueError):
        return False
    return True


NO_LISTS = DayLists()


def _read_day(given: datetime.date | str, name: str) -> datetime.date:
    if isinstance(given, datetime.datetime):
        return given.date()
    if isinstance(given, datetime.date):
        return given
    if not is_day(given):
        raise MisuseError(f"calendar: {name} has {given!r}, which is no day.", hint="Write 2026-12-25.")
    return datetime.date.fromisoformat(given)
