"""Where the runs of a table lie in time: how often a batch comes, how far apart two runs are, and what recurs."""

from __future__ import annotations

import calendar
import datetime
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import numpy.typing as npt

from headgate.values.period import Period, Unit, read_period

Floats = npt.NDArray[np.float64]
Labels = npt.NDArray[np.int64]

MIN_REGULAR_SHARE = 0.5  # share of the gaps between runs that must be one step of a cadence
MIN_BUSINESS_RUNS = 8  # runs, all on weekdays, from which business days are inferred
MIN_ORDER_CYCLES = 4  # how often a cycle must fit into a table without times: many lengths are tried
MAX_CYCLE = 10  # runs, the longest cycle that is looked for in a table without times
_EPOCH = datetime.datetime(1970, 1, 1)
_WEEKEND = 5  # weekday of Saturday


class Cadence(StrEnum):
    """How often a batch comes."""

    YEARLY = "yearly"
    QUARTERLY = "quarterly"
    MONTHLY = "monthly"
    WEEKLY = "weekly"
    BUSINESS_DAYS = "business days"
    DAILY = "daily"
    HOURLY = "hourly"
    REGULAR = "at regular intervals"
    SEVERAL_A_DAY = "several a day"
    IRREGULAR = "irregular"
    ORDER = "by order"

    @property
    def by_time(self) -> bool:
        """Whether the names of the partitions tell a time."""
        return self is not Cadence.ORDER


@dataclass(frozen=True)
class Calendar:
    """The periods of the runs of a table, oldest first, and last that of the next batch.

    `slots` says where each lies, in steps of the cadence: a missing day leaves a gap. `phases` has, for each way in
    which runs may recur, a number for each: runs with the same number recur, such as all Mondays.
    """

    cadence: Cadence
    periods: tuple[Period | None, ...]
    slots: Floats
    phases: Mapping[str, Labels]

    @classmethod
    def of(
        cls, partitions: Sequence[str], following: str | None = None, times: Mapping[str, Period] | None = None
    ) -> Calendar:
        """The calendar of partitions in their order, and of the one that follows; by default the next by the cadence.

        `times` has the periods of partitions that somebody stated. The others are read from their names.

        >>> found = Calendar.of(["2026-11-12", "2026-11-13", "2026-11-16", "2026-11-17"], "2026-11-20")
        >>> found.cadence.value, np.diff(found.slots).tolist()
        ('daily', [1.0, 3.0, 1.0, 3.0])
        """
        stated = times or {}
        periods = [stated.get(each) or read_period(each) for each in partitions]
        known = [each for each in periods if each is not None]
        target = None if following is None else stated.get(following) or read_period(following)
        cadence = infer_cadence([*known, *([target] if target else [])]) if len(known) == len(periods) else None
        if cadence is None or (following is not None and target is None):
            return cls._by_order(len(periods))
        every = (*known, target or _next_period(known[-1], cadence))
        slots = np.arange(len(every), dtype=np.float64) if cadence is Cadence.SEVERAL_A_DAY else _slots(every, cadence)
        return cls(cadence, every, slots, _phases(every, cadence))

    @classmethod
    def _by_order(cls, runs: int) -> Calendar:
        order = np.arange(runs + 1)
        longest = min(MAX_CYCLE, runs // MIN_ORDER_CYCLES)
        cycles = {f"every {length} runs": order % length for length in range(2, longest + 1)}
        return cls(Cadence.ORDER, (None,) * (runs + 1), order.astype(np.float64), cycles)

    def describe(self) -> str:
        """How often a batch comes, and how many are missing, in words.

        >>> Calendar.of(["2026-11-12", "2026-11-13", "2026-11-16", "2026-11-17"]).describe()
        'daily, 2 missing since 2026-11-12'
        """
        if not self.cadence.by_time:
            return "the names tell no time, so runs are taken in their order"
        gaps = np.diff(self.slots[:-1])
        missing = int((gaps[gaps > 1] - 1).sum()) if self.cadence in _SLOTS else 0
        first = self.periods[0]
        since = f" since {first.start:%Y-%m-%d}" if first is not None else ""
        return f"{self.cadence.value}, {missing:,} missing{since}" if missing else self.cadence.value

    @property
    def horizon(self) -> float:
        """How many steps after the newest run the next batch lies; at least one."""
        return max(1.0, float(self.slots[-1] - self.slots[-2])) if len(self.slots) > 1 else 1.0

    def shifts(self, anchor: str) -> Floats:
        """What must be added to a timestamp of each run, in seconds, to have it as if it were of the next batch.

        `anchor` says what of the period it goes with: its "start", its "end" or its "middle". All are 0 without times.
        """
        if not self.cadence.by_time:
            return np.zeros(len(self.periods) - 1)
        places = np.array([_anchor_of(each, anchor) for each in self.periods if each is not None])
        shifts: Floats = places[-1] - places[:-1]
        return shifts


def infer_cadence(periods: Sequence[Period]) -> Cadence | None:
    """The coarsest cadence of which most runs are one step apart; None without a period.

    >>> infer_cadence([read_period(f"2026-{month:02}") for month in (1, 2, 3, 5)]).value
    'monthly'
    """
    if not periods:
        return None
    starts = sorted({each.start for each in periods})
    if len(starts) < len(periods):
        return Cadence.SEVERAL_A_DAY
    if len(starts) < 3:
        return _BY_UNIT.get(periods[-1].unit, Cadence.IRREGULAR)
    ordered = sorted(periods)
    for cadence in _SLOTS:
        gaps = np.diff(_slots(ordered, cadence))
        if (gaps >= 1).all() and float((gaps == 1).mean()) >= MIN_REGULAR_SHARE and _is_plausible(cadence, starts):
            return cadence
    gaps = np.diff([(each - _EPOCH).total_seconds() for each in starts])
    return Cadence.REGULAR if float((gaps == np.median(gaps)).mean()) >= MIN_REGULAR_SHARE else Cadence.IRREGULAR


def _is_plausible(cadence: Cadence, starts: Sequence[datetime.datetime]) -> bool:
    if cadence is not Cadence.BUSINESS_DAYS:
        return True
    on_weekdays = all(each.weekday() < _WEEKEND for each in starts)
    return on_weekdays and len(starts) >= MIN_BUSINESS_RUNS and (starts[-1] - starts[0]).days >= MIN_BUSINESS_RUNS


def _days(each: datetime.datetime) -> int:
    return (each - _EPOCH).days


def _business_days(each: datetime.datetime) -> float:
    """Weekdays since 1970; a day of a weekend counts as half a step after Friday."""
    weeks, day = divmod(_days(each) + 3, 7)  # 1970-01-01 was a Thursday
    return weeks * 5 + (day if day < _WEEKEND else 4.5)


_SLOTS: dict[Cadence, Callable[[datetime.datetime], float]] = {
    Cadence.YEARLY: lambda each: each.year,
    Cadence.QUARTERLY: lambda each: each.year * 4 + (each.month - 1) // 3,
    Cadence.MONTHLY: lambda each: each.year * 12 + each.month,
    Cadence.WEEKLY: lambda each: (_days(each) + 3) // 7,
    Cadence.BUSINESS_DAYS: _business_days,
    Cadence.DAILY: _days,
    Cadence.HOURLY: lambda each: (each - _EPOCH).total_seconds() // 3_600,
}
_BY_UNIT = {
    Unit.YEAR: Cadence.YEARLY,
    Unit.QUARTER: Cadence.QUARTERLY,
    Unit.MONTH: Cadence.MONTHLY,
    Unit.WEEK: Cadence.WEEKLY,
    Unit.DAY: Cadence.DAILY,
    Unit.HOUR: Cadence.HOURLY,
}


def _slots(periods: Sequence[Period], cadence: Cadence) -> Floats:
    if cadence in _SLOTS:
        return np.array([_SLOTS[cadence](each.start) for each in periods], np.float64)
    seconds = np.array([each.seconds for each in periods], np.float64)
    gaps = np.diff(np.sort(seconds))
    step = float(np.median(gaps[gaps > 0])) if (gaps > 0).any() else 1.0
    return seconds / step


def _next_period(last: Period, cadence: Cadence) -> Period:
    """The period after the last one, if no run is missing."""
    months = {Cadence.MONTHLY: 1, Cadence.QUARTERLY: 3, Cadence.YEARLY: 12}
    if cadence in months and last.unit is Unit.DAY:
        month = last.start.year * 12 + last.start.month - 1 + months[cadence]
        day = min(last.start.day, calendar.monthrange(month // 12, month % 12 + 1)[1])
        return Period(last.start.replace(year=month // 12, month=month % 12 + 1, day=day), last.unit)
    if cadence is Cadence.WEEKLY:
        return Period(last.start + datetime.timedelta(days=7), last.unit)
    following = Period(last.end, last.unit)
    while cadence is Cadence.BUSINESS_DAYS and following.start.weekday() >= _WEEKEND:
        following = Period(following.end, last.unit)
    return following


def _anchor_of(period: Period, anchor: str) -> float:
    end = Period(period.end, period.unit).seconds
    return {"start": period.seconds, "end": end, "middle": (period.seconds + end) / 2}[anchor]


def _phases(periods: Sequence[Period], cadence: Cadence) -> dict[str, Labels]:
    """The ways in which runs of a cadence may recur."""
    starts = [each.start for each in periods]
    found: dict[str, list[int]] = {}
    if cadence in (Cadence.HOURLY, Cadence.REGULAR) and periods[-1].unit in (Unit.HOUR, Unit.MINUTE, Unit.SECOND):
        found["by hour of the day"] = [each.hour for each in starts]
    if cadence in (Cadence.DAILY, Cadence.BUSINESS_DAYS, Cadence.HOURLY, Cadence.SEVERAL_A_DAY, Cadence.IRREGULAR):
        found["by day of the week"] = [each.weekday() for each in starts]
    if cadence is Cadence.SEVERAL_A_DAY:
        found["by batch of the day"] = [starts[:at].count(each) for at, each in enumerate(starts)]
    if cadence in (Cadence.DAILY, Cadence.BUSINESS_DAYS):
        found["by day of the month"] = [each.day for each in starts]
        found["by month end"] = [int(_is_month_end(each, cadence)) for each in starts]
    if cadence in (Cadence.MONTHLY, Cadence.WEEKLY):
        found["by month"] = [each.month for each in starts]
    if cadence is Cadence.MONTHLY:
        found["by month of the quarter"] = [each.month % 3 for each in starts]
    return {name: np.array(labels, np.int64) for name, labels in found.items()}


def _is_month_end(day: datetime.datetime, cadence: Cadence) -> bool:
    """Whether a day is the last of its month, or the last weekday of it."""
    following = _next_period(Period(day, Unit.DAY), cadence).start
    return following.month != day.month
