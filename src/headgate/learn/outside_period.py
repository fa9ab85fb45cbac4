"""The share of the dates and timestamps of a batch that lie outside of its own period, or of a window around it.

A few late rows make the least timestamp of a batch useless as a guard. Their share is steady.
"""

from __future__ import annotations

import datetime
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from headgate.learn.calendar import Calendar
from headgate.learn.metric_traits import OUTSIDE_PERIOD
from headgate.metrics.states.quantiles import Quantiles
from headgate.values.key import MetricKey
from headgate.values.outcome import Measured, Outcome
from headgate.values.period import Period
from headgate.values.schema import TEMPORAL, Schema
from headgate.values.state import State

MIN_WINDOW_RUNS = 7  # runs with timestamps, below which no window is assumed
MAX_USUAL_OUTSIDE = 0.05  # the median share outside, above which a window is not that of the column
_DIGITS = 6  # of a share: bins of a day are more than 100 seconds wide
_EPOCH = datetime.datetime(1970, 1, 1)


class Window(NamedTuple):
    """From so many lengths of the period after its start to so many after its end."""

    start: int
    end: int


WINDOWS = (Window(0, 0), Window(-1, -1), Window(1, 1), Window(-1, 0), Window(0, 1), Window(-1, 1), Window(-6, 0))
"""What is tried, the first one that fits counts: the period, the one before it, the one after it, two, three, seven."""


def find_windows(
    schema: Schema, states: Sequence[Mapping[MetricKey, State]], calendar: Calendar, left_out: Collection[str] = ()
) -> dict[str, Window]:
    """For each column of dates or timestamps of which nearly all lie in a window around the period, that window.

    Args:
        schema: The columns.
        states: The states of each run.
        calendar: When the runs are.
        left_out: Columns that have no window.
    """
    periods = [each for each in calendar.periods[:-1] if each is not None]
    if len(periods) < len(states):
        return {}
    labels = [each.label for each in schema.columns if each.kind in TEMPORAL and each.label not in left_out]
    found = {label: _find_window(label, states, periods) for label in labels}
    return {label: window for label, window in found.items() if window is not None}


def measure_outside(
    windows: Mapping[str, Window], states: Mapping[MetricKey, State], period: Period | None
) -> dict[MetricKey, Outcome]:
    """The shares outside of a batch of this period, for each column that has a window and values."""
    shares = {
        label: None if period is None else share_outside(states.get(MetricKey("quantiles", (label,))), window, period)
        for label, window in windows.items()
    }
    return {
        MetricKey(OUTSIDE_PERIOD, (label,)): Measured(share) for label, share in shares.items() if share is not None
    }


def share_outside(state: State | None, window: Window, period: Period) -> float | None:
    """The share of timestamps outside of a window around a period; None if there are no timestamps.

    >>> from headgate.values.period import Unit
    >>> day = Period(datetime.datetime(1970, 1, 2), Unit.DAY)
    >>> share_outside(Quantiles.of(np.array([86_400.0, 90_000.0, 0.0, 99_000.0])), Window(0, 0), day)
    0.25
    """
    if not isinstance(state, Quantiles) or not state.total:
        return None
    length = period.end - period.start
    ends = [period.start + window.start * length, period.end + window.end * length]
    below = state.share_below([(each - _EPOCH).total_seconds() for each in ends])
    return round(max(0.0, 1.0 - float(below[1] - below[0])), _DIGITS)


def _find_window(label: str, states: Sequence[Mapping[MetricKey, State]], periods: Sequence[Period]) -> Window | None:
    key = MetricKey("quantiles", (label,))
    for window in WINDOWS:
        shares = [share_outside(run.get(key), window, period) for run, period in zip(states, periods, strict=True)]
        known = [each for each in shares if each is not None]
        if len(known) >= MIN_WINDOW_RUNS and float(np.median(known)) <= MAX_USUAL_OUTSIDE:
            return window
    return None
