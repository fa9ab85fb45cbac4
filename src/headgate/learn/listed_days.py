"""Choose what a batch on a listed day, such as a holiday, is compared with; other days do not learn from such days."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from headgate.learn.past import Past, calendar_of, numeric_values
from headgate.values.day_lists import DayLists
from headgate.values.period import Period
from headgate.values.run import Run

MIN_LISTED_RUNS = 7
"""Runs on days of a list from which a batch on such a day is judged by them alone."""


class RunsForDay(NamedTuple):
    """The runs that a batch is judged by.

    `name` is the list of its day, empty for an ordinary day. `listed` are the earlier runs on days of that list; None
    if `runs` are to be learned from as they are.
    """

    runs: Sequence[Run]
    name: str = ""
    listed: Sequence[Run] | None = None

    def describe(self) -> str:
        """What a batch of a listed day is judged by, in words; empty for an ordinary day."""
        if not self.name:
            return ""
        if self.listed is None:
            return f"{self.name}: judged by {len(self.runs)} such days"
        few = f"{len(self.listed)} of {MIN_LISTED_RUNS} such days"
        return f"{self.name}: {few}, so ranges are wider and distances are left out"


def choose_runs(
    runs: Sequence[Run], days: DayLists, following: str | None = None, period: Period | None = None
) -> RunsForDay:
    """The runs that a batch is judged by: for an ordinary day, those of ordinary days.

    Args:
        runs: Accepted runs, oldest first.
        days: The lists.
        following: The partition of the batch. Default: the one that the names of the runs let expect.
        period: The period of the batch, if its name does not tell it.
    """
    if not days or not runs:
        return RunsForDay(runs)
    *periods, expected = calendar_of(runs, following, period).periods
    names, name = [days.find(each) for each in periods], days.find(expected)
    ordinary = [run for run, of in zip(runs, names, strict=True) if not of]
    if not name:
        return RunsForDay(ordinary or runs)
    listed = [run for run, of in zip(runs, names, strict=True) if of == name]
    if len(listed) >= MIN_LISTED_RUNS or not ordinary:
        return RunsForDay(listed or runs, name)
    return RunsForDay(ordinary, name, listed)


def add_listed_days(past: Past, listed: Sequence[Run]) -> Past:
    """The past of ordinary days for a batch on a listed day: without distances, with the values of earlier such days.

    A distance from an ordinary day says nothing about a holiday.
    """
    kept = np.array([not each.is_distance for each in past.metrics], np.bool_)
    metrics = tuple(each for each in past.metrics if not each.is_distance)
    rows = [numeric_values(each.outcomes) for each in listed]
    values = [[np.nan if each.key in past.shifted else row.get(each.key, np.nan) for each in metrics] for row in rows]
    days = np.array(values, np.float64).reshape(len(rows), len(metrics))
    return dataclasses.replace(past, metrics=metrics, values=past.values[:, kept], listed_days=days)
