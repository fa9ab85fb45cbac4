"""Numbers that follow from the period of a batch: its month, its day of the week, its date as 20261114, and others."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from headgate.values.period import Period, Unit

Floats = npt.NDArray[np.float64]
Moment = datetime.datetime

_EPOCH = datetime.datetime(1970, 1, 1)
_WEEK = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_DAY = 86_400.0  # seconds
_HOUR = 3_600.0
_DAY_BEFORE = datetime.timedelta(days=1)
_LAST_SECOND = datetime.timedelta(seconds=1)


def _quarter(moment: Moment) -> int:
    return (moment.month + 2) // 3


def _weekday(first: int, start: int) -> Callable[[Moment], float]:
    """The day of a week that begins `first` days after Monday, counted from `start`."""
    return lambda moment: (moment.weekday() - first) % 7 + start


_OF_MOMENT: dict[str, Callable[[Moment], float]] = {
    "year": lambda moment: moment.year,
    "quarter": _quarter,
    "quarter from 0": lambda moment: _quarter(moment) - 1,
    "month": lambda moment: moment.month,
    "month from 0": lambda moment: moment.month - 1,
    "ISO week": lambda moment: moment.isocalendar().week,
    "week from Monday": lambda moment: int(moment.strftime("%W")),
    "week from Sunday": lambda moment: int(moment.strftime("%U")),
    "day of the month": lambda moment: moment.day,
    "day of the year": lambda moment: moment.timetuple().tm_yday,
    "hour": lambda moment: moment.hour,
    "year and quarter": lambda moment: moment.year * 10 + _quarter(moment),
    "year and month": lambda moment: moment.year * 100 + moment.month,
    "year and ISO week": lambda moment: moment.isocalendar().year * 100 + moment.isocalendar().week,
    "date": lambda moment: moment.year * 10_000 + moment.month * 100 + moment.day,
    "date and hour": lambda moment: (moment.year * 10_000 + moment.month * 100 + moment.day) * 100 + moment.hour,
    "days since 1970": lambda moment: (moment - _EPOCH).days,
    "seconds since 1970": lambda moment: (moment - _EPOCH).total_seconds(),
    "milliseconds since 1970": lambda moment: (moment - _EPOCH).total_seconds() * 1_000,
    **{
        f"day of the week ({name} is {start})": _weekday(first, start)
        for first, name in enumerate(_WEEK)
        for start in (0, 1)
    },
}
_MOMENTS: dict[str, Callable[[Period], Moment]] = {
    "": lambda period: period.start,
    " of the day before": lambda period: period.start - _DAY_BEFORE,
    " of the last day": lambda period: period.end - _LAST_SECOND,
}
FUNCTIONS: dict[str, Callable[[Period], float]] = {
    name + suffix: lambda period, of=of, at=at: of(at(period))  # type: ignore[misc]
    for suffix, at in _MOMENTS.items()
    for name, of in _OF_MOMENT.items()
}
"""Every function by its name, which is stored: the day that a batch is about, the day before, or its last day."""
_TIMES: dict[str, Callable[[Period], float]] = {
    "start": lambda period: period.seconds,
    "end": lambda period: Period(period.end, period.unit).seconds,
}


def tabulate(periods: Sequence[Period]) -> dict[str, Floats]:
    """The value of every function for each of these periods.

    >>> from headgate.values.period import to_period
    >>> tabulate([to_period("2026-11-30"), to_period("2026-12-01")])["month"].tolist()
    [11.0, 12.0]
    """
    return {name: np.array([of(each) for each in periods], np.float64) for name, of in FUNCTIONS.items()}


def find_functions(values: Floats, table: dict[str, Floats]) -> dict[str, float]:
    """The functions that equal the values (one for each run; NaN where there is none), each with its next value."""
    known = np.isfinite(values)
    return {name: float(row[-1]) for name, row in table.items() if (row[:-1] == values)[known].all()}


def find_moments(values: Floats, periods: Sequence[Period]) -> dict[str, float]:
    """How dates and timestamps go with the periods: always as many days (hours) after the start or end, each with its
    next value, in seconds since 1970.

    >>> from headgate.values.period import to_period
    >>> days = [to_period(f"2026-11-{day}") for day in (12, 13, 16)]
    >>> list(find_moments(np.array([each.seconds for each in days[:2]]), days))
    ['start', 'end -1 days']
    """
    known = np.isfinite(values)
    step, unit = (_HOUR, "hours") if periods[-1].unit is Unit.HOUR else (_DAY, "days")
    found = {}
    for name, of in _TIMES.items():
        times = np.array([of(each) for each in periods], np.float64)
        offsets = (values - times[:-1])[known]
        if len(offsets) and (offsets == offsets[0]).all() and offsets[0] % step == 0:
            found[f"{name} {offsets[0] / step:+.0f} {unit}" if offsets[0] else name] = float(times[-1] + offsets[0])
    return found
