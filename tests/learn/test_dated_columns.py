"""Columns that have one value in each batch: which are recognised, what is expected of them, what is remembered."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Mapping
from typing import Any

import pyarrow as pa
import pytest

import headgate as hg
from headgate.learn.dated_columns import MAX_VALUES, MIN_DATED_RUNS, DatedColumn, DatedColumns
from headgate.learn.past import Past, calendar_of, numeric_values
from headgate.values.account import Account, ColumnMemory
from headgate.values.run import Run

Value = Callable[[datetime.date], Any]
START = datetime.date(2026, 10, 20)  # the twelfth day after is the first of November
ROWS = 12


def days(count: int, start: datetime.date = START) -> list[datetime.date]:
    return [start + datetime.timedelta(days=day) for day in range(count)]


def past_of(value: Value, count: int = 30, *, rows: int = ROWS, start: datetime.date = START) -> Past:
    """The past of a table whose column `c` has this value of the day in all rows."""
    tables = [pa.table({"c": [value(day)] * rows, "n": range(rows)}) for day in days(count, start)]
    return Past.of([hg.analyze(each) for each in tables], [str(day) for day in days(count, start)])


def dated(value: Value, count: int = 30, **given: Any) -> DatedColumn | None:
    return past_of(value, count, **given).dated.get("c")


def seconds(day: datetime.date) -> float:
    return (day - datetime.date(1970, 1, 1)).days * 86_400.0


NEXT = days(31)[-1]
FUNCTIONS: dict[str, tuple[Value, float]] = {
    "day of the month": (lambda day: day.day, NEXT.day),
    "day of the week": (lambda day: day.isoweekday() % 7 + 1, NEXT.isoweekday() % 7 + 1),
    "ISO week": (lambda day: day.isocalendar().week, NEXT.isocalendar().week),
    "date as a number": (lambda day: int(day.strftime("%Y%m%d")), int(NEXT.strftime("%Y%m%d"))),
    "month as a number": (lambda day: int(day.strftime("%Y%m")), 202611),
    "whole float": (lambda day: float(day.day), NEXT.day),
    "date": (lambda day: day, seconds(NEXT)),
    "day before": (lambda day: day - datetime.timedelta(days=1), seconds(NEXT) - 86_400),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_of_the_date_is_recognised(name: str) -> None:
    value, expected = FUNCTIONS[name]
    found = dated(value)
    assert found is not None
    assert found.expected == (expected,)


def test_two_months_do_not_tell_the_month_from_a_label_that_changed_once() -> None:
    assert dated(lambda day: day.month) == DatedColumn("c", low=10.0, high=11.0)


def test_what_the_date_may_become_is_as_normal_as_what_it_is() -> None:
    first = datetime.date(2026, 11, 1)
    assert dated(lambda day: day.month, 29, start=first) is None  # the thirtieth is in November
    assert dated(lambda day: day.month, 30, start=first) == DatedColumn("c", low=11.0, high=12.0)


@pytest.mark.parametrize("value", [lambda day: 0, lambda day: 1, lambda day: True, lambda day: int(day.day == 25)])
def test_a_flag_may_have_either_value(value: Value) -> None:
    assert dated(value) == DatedColumn("c", low=0.0, high=1.0)


def test_a_flag_has_no_function() -> None:
    """A flag of weekends may be one of days off."""
    assert dated(lambda day: day.weekday() >= 5) == DatedColumn("c", low=0.0, high=1.0)


def test_a_label_may_have_any_value_that_it_had() -> None:
    assert dated(lambda day: 3 if day.day < 25 else 8) == DatedColumn("c", low=3.0, high=8.0)
    assert dated(lambda day: "summer" if day.month < 11 else "winter") == DatedColumn("c")


NO_LABELS: dict[str, Value] = {
    "a constant": lambda day: 5,
    "a text that never changed": lambda day: "EUR",
    "a rate": lambda day: 1.08 + day.day / 1_000,
    "a number that counts up": lambda day: 7_000 + (day - START).days * 3,
    "a constant float of 0": lambda day: 0.0,
}


@pytest.mark.parametrize("name", NO_LABELS)
def test_other_columns_with_one_value_in_each_batch_stay_series(name: str) -> None:
    assert dated(NO_LABELS[name]) is None


def test_it_takes_some_runs_of_some_rows() -> None:
    assert dated(lambda day: day.day, MIN_DATED_RUNS - 1) is None
    assert dated(lambda day: day.day, MIN_DATED_RUNS) is not None
    assert dated(lambda day: day.day, rows=9) is None


def test_a_column_with_two_values_in_one_batch_is_not_dated() -> None:
    tables = [pa.table({"c": [day.day] * ROWS}) for day in days(20)]
    tables[4] = pa.table({"c": [3] * ROWS + [4]})
    assert Past.of([hg.analyze(each) for each in tables], [str(day) for day in days(20)]).dated == {}


def test_without_times_there_are_no_functions() -> None:
    tables = [hg.analyze(pa.table({"c": [day.day] * ROWS})) for day in days(20)]
    assert Past.of(tables).dated == {}


def test_metrics_that_tell_the_value_are_no_series() -> None:
    of_date = {each.key.name for each in past_of(lambda day: day.day).metrics if each.column == "c"}
    of_flag = {each.key.name for each in past_of(lambda day: 0).metrics if each.column == "c"}
    of_text = {each.key.name for each in past_of(lambda day: f"{day:%b}").metrics if each.column == "c"}
    assert of_date >= {"completeness", "approx_count_distinct", "stddev", "range"}
    assert not of_date & {"min", "max", "mean", "median", "sum", "ks_dist", "new_values", "unchanged"}
    assert of_flag == of_date | {"min", "max"}
    assert of_text >= {"completeness", "approx_count_distinct"}
    assert not of_text & {"str_len", "min_length", "value_l1", "new_patterns", "char_len"}


# --- what is remembered


def run_of(day: datetime.date, value: Any, memory: Mapping[str, ColumnMemory] = {}) -> Run:
    found = hg.analyze(pa.table({"c": [value] * ROWS}))
    account = Account(memory=dict(memory)) if memory else None
    return Run(
        dataset="t",
        partition=str(day),
        fingerprint=str(day),
        schema=found.schema,
        outcomes=found.outcomes,
        states=found.states,
        account=account,
    )


def recognized(runs: list[Run]) -> DatedColumns:
    rows = [numeric_values(each.outcomes) for each in runs]
    memories = [each.account.memory if each.account else {} for each in runs]
    return DatedColumns.of(rows, runs[-1].schema, [each.states for each in runs], calendar_of(runs), memories)


def test_the_month_is_known_after_three_months_although_runs_are_forgotten() -> None:
    memory: Mapping[str, ColumnMemory] = {}
    runs: list[Run] = []
    for day in days(73):  # to the end of December
        runs = [*runs, run_of(day, day.month, memory)][-30:]
        memory = recognized(runs).memory
    assert {each.outcomes[hg.Min("c").key] for each in runs} == {hg.Measured(12.0)}
    assert recognized(runs).columns["c"].expected == (1.0,)


def test_a_value_that_was_forgotten_is_remembered() -> None:
    remembered = {"c": ColumnMemory((3.0, 8.0))}
    runs = [run_of(day, 8, remembered) for day in days(30)]
    assert recognized(runs).columns["c"] == DatedColumn("c", low=3.0, high=8.0)
    assert recognized(runs).memory == remembered


def test_a_text_that_changed_once_stays_a_label() -> None:
    memory = past_of(lambda day: "summer" if day.month < 11 else "winter").memory
    runs = [run_of(day, "winter", memory) for day in days(30)]
    assert recognized(runs).columns == {"c": DatedColumn("c")}


def test_a_function_that_an_accepted_run_broke_is_no_longer_expected() -> None:
    remembered = {"c": ColumnMemory((8.0, 9.0, 10.0), ("month",))}
    runs = [run_of(day, day.month, remembered) for day in days(30)]
    assert recognized(runs).columns["c"].expected == (11.0,)
    broken = [*runs[:-1], run_of(days(30)[-1], 9, remembered)]
    assert recognized(broken).columns["c"] == DatedColumn("c", low=8.0, high=11.0)


def test_columns_that_never_or_always_change_are_not_remembered() -> None:
    assert past_of(lambda day: 5).memory == {}
    assert past_of(lambda day: 7_000 + (day - START).days * 3).memory == {}
    assert MAX_VALUES < 30
