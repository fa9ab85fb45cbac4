"""The budget of a table: its own, or its part of the false alarms that a group of tables may raise in a week."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from headgate.learn.calendar import Cadence, Calendar
from headgate.project.config import Config

COUNTED_RUNS = 400
"""Partitions of a table, the newest, that tell how often a batch comes."""
MOST_SHARE = 0.1
"""The largest share of good batches that a group gives a table."""
DAILY = 7.0
"""Batches a week of a table whose names tell no time."""
_DAYS_A_YEAR = 365.25
_PER_WEEK = {
    Cadence.YEARLY: 7 / _DAYS_A_YEAR,
    Cadence.QUARTERLY: 4 * 7 / _DAYS_A_YEAR,
    Cadence.MONTHLY: 12 * 7 / _DAYS_A_YEAR,
    Cadence.WEEKLY: 1.0,
    Cadence.BUSINESS_DAYS: 5.0,
    Cadence.DAILY: 7.0,
    Cadence.HOURLY: 168.0,
}


class TableBudget(NamedTuple):
    """The share of good batches of a table that may be held, and where it comes from, in words."""

    share: float
    source: str = ""


def find_budget(name: str, config: Config, count_batches: Callable[[str], float | None]) -> TableBudget:
    """The budget of a dataset.

    In a group every batch has the same share, so that all good batches of its tables together are held as often as the
    group says.

    Args:
        name: The dataset.
        config: The configuration.
        count_batches: How many batches of a dataset come in a week; None if nobody knows.
    """
    group = config.find_group(name)
    if group is None:
        return TableBudget(config.datasets[name].false_alarms)
    members = [each for each in config.datasets if config.find_group(each) is group]
    counts = [count_batches(each) for each in members]
    batches = sum(DAILY if each is None else each for each in counts)
    share = min(MOST_SHARE, float(f"{group.alarms_per_week / batches:.2g}"))
    tables = f"{len(members)} table{'s' * (len(members) > 1)}"
    unknown = sum(each is None for each in counts)
    guess = f", {unknown} of them taken as daily" if unknown else ""
    return TableBudget(share, f"{group.alarms_per_week:g} a week for about {batches:,.0f} batches of {tables}{guess}")


def count_per_week(calendar: Calendar) -> float | None:
    """How many batches come in a week; None if the names tell no time.

    >>> count_per_week(Calendar.of(["2026-11-12", "2026-11-13", "2026-11-16", "2026-11-17"]))
    7.0
    """
    if calendar.cadence in _PER_WEEK:
        return _PER_WEEK[calendar.cadence]
    starts = [each.start for each in calendar.periods[:-1] if each is not None]
    if not starts:
        return None
    days = {each.date() for each in starts}
    if calendar.cadence is Cadence.SEVERAL_A_DAY or len(days) == 1:
        return float(f"{len(starts) / len(days) * 7:.2g}")
    span = (max(starts) - min(starts)).total_seconds() / 86_400
    return float(f"{(len(starts) - 1) / span * 7:.2g}")
