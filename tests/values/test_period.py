"""The period that the name of a partition tells."""

from __future__ import annotations

import datetime

import pytest

from headgate.values.period import Unit, read_period


@pytest.mark.parametrize(
    ("text", "start", "unit"),
    [
        ("2026-11-14", "2026-11-14", Unit.DAY),
        ("20261114", "2026-11-14", Unit.DAY),
        ("2026/11/14", "2026-11-14", Unit.DAY),
        ("2026_11_14", "2026-11-14", Unit.DAY),
        ("2026.11.14", "2026-11-14", Unit.DAY),
        ("14.11.2026", "2026-11-14", Unit.DAY),
        ("2026-9-1", "2026-09-01", Unit.DAY),
        ("dt=2026-11-14", "2026-11-14", Unit.DAY),
        ("orders_20261114_full", "2026-11-14", Unit.DAY),
        ("2026-11-14 batch 2", "2026-11-14", Unit.DAY),
        ("year=2026/month=11/day=4", "2026-11-04", Unit.DAY),
        ("year=2026/month=11/day=4/hour=5", "2026-11-04T05", Unit.HOUR),
        ("year=2026/month=11", "2026-11-01", Unit.MONTH),
        ("2024-02-29", "2024-02-29", Unit.DAY),
        ("2026-11", "2026-11-01", Unit.MONTH),
        ("202611", "2026-11-01", Unit.MONTH),
        ("2026", "2026-01-01", Unit.YEAR),
        ("2026-W46", "2026-11-09", Unit.WEEK),
        ("2026W46", "2026-11-09", Unit.WEEK),
        ("2026-W46-3", "2026-11-11", Unit.DAY),
        ("2026Q4", "2026-10-01", Unit.QUARTER),
        ("2026-Q1", "2026-01-01", Unit.QUARTER),
        ("2026-11-14T05", "2026-11-14T05", Unit.HOUR),
        ("2026-11-14-05", "2026-11-14T05", Unit.HOUR),
        ("2026-11-14 05:30", "2026-11-14T05:30", Unit.MINUTE),
        ("2026-11-14T05:30:15Z", "2026-11-14T05:30:15", Unit.SECOND),
        ("2026-11-14T05:30:15.250+01:00", "2026-11-14T05:30:15", Unit.SECOND),
        ("2026111405", "2026-11-14T05", Unit.HOUR),
        ("202611140530", "2026-11-14T05:30", Unit.MINUTE),
        ("20261114T053015Z", "2026-11-14T05:30:15", Unit.SECOND),
        ("1794600000", "2026-11-13T20:00", Unit.SECOND),
        ("1794600000000", "2026-11-13T20:00", Unit.SECOND),
    ],
)
def test_dates_in_many_forms_are_read(text: str, start: str, unit: Unit) -> None:
    assert read_period(text) == (datetime.datetime.fromisoformat(start), unit)


@pytest.mark.parametrize(
    "text", ["", "batch", "7", "week 9", "2026-13-01", "2026-02-30", "20261345", "0001-01-01", "99999999", "123456789"]
)
def test_other_names_tell_no_period(text: str) -> None:
    assert read_period(text) is None


@pytest.mark.parametrize(
    ("text", "end"),
    [
        ("2024-02-28", "2024-02-29"),
        ("2026-12", "2027-01-01"),
        ("2024-02", "2024-03-01"),
        ("2026Q4", "2027-01-01"),
        ("2026", "2027-01-01"),
        ("2026-W53", "2027-01-04"),
        ("2026-10-25T02", "2026-10-25T03"),
    ],
)
def test_a_period_ends_where_the_next_begins(text: str, end: str) -> None:
    period = read_period(text)
    assert period is not None
    assert period.end == datetime.datetime.fromisoformat(end)
