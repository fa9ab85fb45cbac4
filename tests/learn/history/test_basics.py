"""Rows, nulls, keys, newest times and finite numbers: simple faults of them are held in tables of any width."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from functools import cache

import numpy as np
import pyarrow as pa
import pytest

import headgate as hg
from headgate.learn.history.basics import find_basics
from headgate.learn.history.forecast import forecast_past
from headgate.values.account import Action
from headgate.values.schema import Kind
from tests.learn.histories import past_of

RUNS, ROWS = 15, 2_000
START = datetime.datetime(2026, 3, 2)


def batch(number: int, width: int) -> pa.Table:
    """Keys, times, a column with some nulls, and so many columns of numbers and texts without any."""
    chance, day = np.random.default_rng([number, width]), START + datetime.timedelta(days=number)
    rows = int(chance.normal(ROWS, 60))
    seconds = (day - datetime.datetime(1970, 1, 1)).total_seconds() + chance.uniform(0, 86_400, rows)
    columns: dict[str, object] = {
        "id": [f"{number:03}-{row:05}" for row in range(rows)],
        "at": pa.array((seconds * 1e6).astype(np.int64)).cast(pa.timestamp("us")),
        "coupon": pa.array(chance.random(rows), mask=chance.random(rows) < 0.3),
    }
    for at in range(width):
        columns[f"n{at}"] = chance.normal(10 * at, 1 + at, rows)
        columns[f"t{at}"] = chance.choice(["a", "b", "c"], rows)
    return pa.table(columns)


@cache
def gate_of(width: int, runs: int = RUNS) -> hg.Gate:
    gate = hg.Gate("t", store=hg.open_store("memory:"))
    for number in range(runs):
        assert gate.judge(batch(number, width), partition=str((START + datetime.timedelta(days=number)).date())).passed
    return gate


def with_nulls(table: pa.Table, column: str, share: float) -> pa.Table:
    at = table.column_names.index(column)
    mask = np.random.default_rng(0).random(len(table)) < share
    values = [None if out else value for out, value in zip(mask, table[column].to_pylist(), strict=True)]
    return table.set_column(at, column, pa.array(values, table.schema.field(at).type))


def of_the_day_before(table: pa.Table) -> pa.Table:
    earlier = pa.compute.subtract(table["at"], pa.scalar(datetime.timedelta(days=1)))
    return table.set_column(1, "at", earlier)


def with_duplicates(table: pa.Table, share: float) -> pa.Table:
    """The batch in which a share of the rows has the key of another."""
    keys = table["id"].to_pylist()
    repeated = int(share * len(keys))
    return table.set_column(0, "id", pa.array([*keys[repeated : 2 * repeated], *keys[repeated:]]))


def with_numbers(table: pa.Table, column: str, numbers: list[float]) -> pa.Table:
    """The batch with other numbers in its first rows."""
    values = [*numbers, *table[column].to_pylist()[len(numbers) :]]
    return table.set_column(table.column_names.index(column), column, pa.array(values))


FAULTS: dict[str, Callable[[pa.Table], pa.Table]] = {
    "half the rows": lambda table: table.slice(0, len(table) // 2),
    "twice the rows": lambda table: pa.concat_tables([table, table]),
    "1% nulls in numbers": lambda table: with_nulls(table, "n1", 0.01),
    "3% nulls in numbers": lambda table: with_nulls(table, "n1", 0.03),
    "3% nulls in texts": lambda table: with_nulls(table, "t0", 0.03),
    "all null": lambda table: with_nulls(table, "t1", 1.0),
    "the day before": of_the_day_before,
    "a fifth of the keys twice": lambda table: with_duplicates(table, 0.2),
    "three numbers that are NaN": lambda table: with_numbers(table, "n1", [np.nan] * 3),
    "one infinity": lambda table: with_numbers(table, "n1", [np.inf]),
    "one infinity below": lambda table: with_numbers(table, "n1", [-np.inf]),
}


SMALL_FAULTS: dict[str, Callable[[pa.Table], pa.Table]] = {
    "two thirds of the rows": lambda table: table.slice(0, 2 * len(table) // 3),
    "0.5% nulls in numbers": lambda table: with_nulls(table, "n1", 0.005),
    "twice the nulls": lambda table: with_nulls(table, "coupon", 0.4),
}


def is_held(runs: int, width: int, fault: Callable[[pa.Table], pa.Table]) -> bool:
    partition = str((START + datetime.timedelta(days=runs)).date())
    observer = hg.Gate("t", store=gate_of(width, runs).store, mode="observe")
    return not observer.judge(fault(batch(runs, width)), partition=partition).passed


@pytest.mark.parametrize("width", [2, 12, 60])
@pytest.mark.parametrize("fault", FAULTS)
def test_simple_faults_of_the_basics_are_held(fault: str, width: int) -> None:
    assert is_held(RUNS, width, FAULTS[fault])


@pytest.mark.parametrize("fault", SMALL_FAULTS)
def test_smaller_faults_are_held_after_a_month(fault: str) -> None:
    assert is_held(30, 2, SMALL_FAULTS[fault])


@pytest.mark.parametrize("width", [2, 12, 60])
def test_a_good_batch_passes(width: int) -> None:
    partition = str((START + datetime.timedelta(days=RUNS + 3)).date())
    assert gate_of(width).judge(batch(RUNS + 3, width), partition=partition).action is Action.PUBLISH


@pytest.mark.parametrize(("filled", "is_basic"), [(0.1, False), (0.5, True), (1.0, True)])
def test_the_newest_timestamp_is_a_basic_where_most_rows_have_one(filled: float, is_basic: bool) -> None:
    series = {"size()": [1_000.0] * 30, "completeness(at)": [filled] * 30, "max(at)": [3_600.0] * 30}
    past = past_of(series, kind=Kind.TIMESTAMP)
    basics = find_basics(forecast_past(past), past.metrics)
    found = {each.key.name for each, basic in zip(past.metrics, basics, strict=True) if basic}
    assert ("max" in found) is is_basic
    assert "size" in found


@pytest.mark.parametrize(("rows", "is_basic"), [(50.0, False), (500.0, True)])
def test_keys_are_basics_where_enough_rows_show_that_they_are_keys(rows: float, is_basic: bool) -> None:
    past = past_of({"size()": [rows] * 30, "completeness(id)": [1.0] * 30, "unique_ratio(id)": [1.0] * 30})
    found = find_basics(forecast_past(past), past.metrics)
    assert found.tolist() == [True, True, is_basic]
