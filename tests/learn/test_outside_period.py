"""The share of timestamps outside of the period of their batch."""

from __future__ import annotations

import datetime

import numpy as np
import pyarrow as pa
import pytest

import headgate as hg
from headgate.learn.issue_effects import OTHER_DAYS, apply_to_latest, measure_effects
from headgate.learn.outside_period import MIN_WINDOW_RUNS, Window, share_outside
from headgate.learn.past import Past
from headgate.metrics.states.quantiles import Quantiles
from headgate.values.key import MetricKey
from headgate.values.outcome import Measured
from headgate.values.period import to_period

START = datetime.date(2026, 3, 2)
HOUR = 3_600
KEY = MetricKey("outside_period", ("ts",))


def batch(day: datetime.date, hours: list[float]) -> pa.Table:
    """A batch with timestamps so many hours after the start of its day."""
    midnight = (day - datetime.date(1970, 1, 1)).days * 24 * HOUR
    stamps = pa.array([int(midnight + each * HOUR) for each in hours]).cast(pa.timestamp("s"))
    return pa.table({"ts": stamps, "v": np.arange(len(hours))})


def past_of(hours: list[float], runs: int = MIN_WINDOW_RUNS) -> Past:
    days = [START + datetime.timedelta(days=at) for at in range(runs)]
    return Past.of([hg.analyze(batch(day, hours)) for day in days], [str(day) for day in days])


TODAY, YESTERDAY = [float(hour) for hour in range(24)], [float(hour) for hour in range(-24, 0)]


@pytest.mark.parametrize(
    ("hours", "window"),
    [
        (TODAY, Window(0, 0)),
        (YESTERDAY, Window(-1, -1)),
        ([each + 24 for each in TODAY], Window(1, 1)),
        ([each - 5 for each in TODAY], Window(-1, 0)),
        ([each + 2 for each in TODAY], Window(0, 1)),
        ([7 * each for each in range(-20, 3)], Window(-6, 0)),
        ([*TODAY * 4, -24.0, -48.0], Window(0, 0)),
    ],
)
def test_the_window_in_which_nearly_all_lie(hours: list[float], window: Window) -> None:
    assert past_of(hours).windows == {"ts": window}


@pytest.mark.parametrize(
    "hours", [[24 * 365 * each for each in range(-40, 0)], [24.0 * each for each in range(-30, 1)]]
)
def test_dates_that_lie_anywhere_have_no_window(hours: list[float]) -> None:
    assert past_of(hours).windows == {}


def test_it_takes_runs_and_times() -> None:
    assert past_of(TODAY, MIN_WINDOW_RUNS - 1).windows == {}
    assert Past.of([hg.analyze(batch(START, TODAY))] * 9).windows == {}


def test_the_share_is_a_series_and_is_measured_of_a_batch() -> None:
    past = past_of([*TODAY * 4, -24.0, -48.0, -72.0, -96.0])
    assert past.series(KEY).tolist() == [0.04] * len(past)
    following = START + datetime.timedelta(days=len(past))
    assert past.outcomes(hg.analyze(batch(following, [*TODAY, *YESTERDAY])))[KEY] == Measured(0.5)
    empty = batch(following, TODAY).slice(0, 0)
    assert KEY not in past.outcomes(hg.analyze(empty))


def test_the_share_of_a_month_or_an_hour() -> None:
    seconds = np.array([to_period("2026-02-28").seconds, to_period("2026-03-01").seconds])
    assert share_outside(Quantiles.of(seconds), Window(0, 0), to_period("2026-02")) == 0.5
    assert share_outside(Quantiles.of(seconds + HOUR), Window(0, 0), to_period("2026-03-01T01")) == 0.5
    assert share_outside(None, Window(0, 0), to_period("2026-02")) is None


def test_rows_of_other_days_are_an_issue_of_the_column() -> None:
    past = past_of([*TODAY * 4, -24.0, -48.0])
    (effect,) = (each for each in apply_to_latest(measure_effects(past), past) if OTHER_DAYS in each.issues)
    assert effect.column == "ts"
    assert effect.values == pytest.approx(0.1 + 2 / 98, abs=1e-5)
