"""What is expected of columns that follow from the date."""

from __future__ import annotations

import datetime

import pyarrow as pa

import headgate as hg
from headgate.learn.history.dates import propose_dates
from headgate.learn.history.forecast import forecast_past
from headgate.learn.past import Past

DAYS = [datetime.date(2026, 10, 20) + datetime.timedelta(days=day) for day in range(30)]


def batch(day: datetime.date) -> pa.Table:
    rows = 12
    values = {"dom": day.day, "as_of": day, "holiday": 0, "name": f"{day:%b}"}
    return pa.table({label: [value] * rows for label, value in values.items()})


PAST = Past.of([hg.analyze(batch(day)) for day in DAYS], [str(day) for day in DAYS])


def test_the_value_of_the_function_is_expected_and_costs_nothing() -> None:
    proposals = list(propose_dates(PAST))
    assert [str(each.expectation) for each in proposals] == [
        "min(dom) equal to 19",
        "max(dom) equal to 19",
        "min(as_of) equal to 2026-11-19",
        "max(as_of) equal to 2026-11-19",
    ]
    assert proposals[0].note == "the day of the month of the batch in all 30 runs"
    assert {each.cost for each in proposals} == {0.0}


def test_another_value_fails() -> None:
    program = hg.learn_program(PAST)
    assert program.judge(hg.analyze(batch(datetime.date(2026, 11, 19))), PAST).passed
    assert not program.judge(hg.analyze(batch(datetime.date(2026, 11, 18))), PAST).passed


def test_a_flag_is_expected_between_its_two_values() -> None:
    forecast = forecast_past(PAST)
    index = next(at for at, each in enumerate(PAST.metrics) if str(each.key) == "max(holiday)")
    assert PAST.free_ranges[index] == (0.0, 1.0)
    low, high = forecast.band_of(index, 1.0)
    assert -0.1 < low <= 0.0 <= 1.0 <= high < 1.1
