"""Rows, nulls, keys, newest times and finite numbers are guarded in every table, whatever else the budget buys."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from dataclasses import replace
from functools import cache

import numpy as np
import pyarrow as pa
import pytest

import headgate as hg
from headgate.learn.history.bounds import FiniteSampleBounds
from headgate.learn.history.guarded_metrics import Guard
from headgate.learn.history.guards import GUARD_SHARE, LEAST_PERIOD_CHANGE, SHARES
from headgate.learn.past import Past
from headgate.learn.pooled_rates import load_pooled_rates
from headgate.learn.scope import LearningScope
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
def gate_of(width: int) -> hg.Gate:
    gate = hg.Gate("t", store=hg.open_store("memory:"))
    for number in range(RUNS):
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
    "two thirds of the rows": lambda table: table.slice(0, 2 * len(table) // 3),
    "twice the rows": lambda table: pa.concat_tables([table, table]),
    "0.5% nulls in numbers": lambda table: with_nulls(table, "n1", 0.005),
    "3% nulls in numbers": lambda table: with_nulls(table, "n1", 0.03),
    "3% nulls in texts": lambda table: with_nulls(table, "t0", 0.03),
    "all null": lambda table: with_nulls(table, "t1", 1.0),
    "twice the nulls": lambda table: with_nulls(table, "coupon", 0.4),
    "the day before": of_the_day_before,
    "a fifth of the keys twice": lambda table: with_duplicates(table, 0.2),
    "three numbers that are NaN": lambda table: with_numbers(table, "n1", [np.nan] * 3),
    "one infinity": lambda table: with_numbers(table, "n1", [np.inf]),
    "one infinity below": lambda table: with_numbers(table, "n1", [-np.inf]),
}


@pytest.mark.parametrize("width", [2, 12, 60])
@pytest.mark.parametrize("fault", FAULTS)
def test_the_basics_are_guarded(fault: str, width: int) -> None:
    partition = str((START + datetime.timedelta(days=RUNS)).date())
    gate = gate_of(width)
    broken = FAULTS[fault](batch(RUNS, width))
    verdict = hg.Gate("t", store=gate.store, mode="observe").judge(broken, partition=partition)
    assert not verdict.passed, fault


@pytest.mark.parametrize("width", [2, 12, 60])
def test_a_good_batch_passes(width: int) -> None:
    partition = str((START + datetime.timedelta(days=RUNS + 3)).date())
    assert gate_of(width).judge(batch(RUNS + 3, width), partition=partition).action is Action.PUBLISH


def test_a_few_late_rows_are_inside_the_guard_of_the_period_however_many_runs_have_none() -> None:
    gate = hg.Gate("t", store=hg.open_store("memory:"))
    for number in range(40):
        gate.judge(batch(number, 1), partition=str((START + datetime.timedelta(days=number)).date()))
    guards = {each.metric.name: each for each in gate.learned().program.expectations}
    ceiling = guards["outside_period"].predicate.ceiling
    assert ceiling is not None
    assert LEAST_PERIOD_CHANGE <= ceiling < 0.03


def finite_clauses(past: Past, metrics: tuple[str, ...] | None = None) -> list[str]:
    guards = FiniteSampleBounds(load_pooled_rates()).make_guards(past, [])
    assert guards is not None
    scope = LearningScope(metrics=metrics)
    chosen = replace(guards, is_learned=scope.learns_metric).choose(0.01)
    clauses = [each for each in chosen if each.expectation.metric.name == "finiteness"]
    assert {(str(each.expectation.predicate), each.cost) for each in clauses} <= {("equal to 1", 0.0)}
    return [each.column for each in clauses]


def test_only_columns_that_were_always_finite_are_expected_to_be_so() -> None:
    always, once = [1.0] * 30, [1.0] * 29 + [0.999]
    past = past_of({"finiteness(a)": always, "finiteness(b)": once, "completeness(c)": always})
    assert finite_clauses(past) == ["a"]
    assert finite_clauses(past, metrics=("mean",)) == []
    assert finite_clauses(past_of({"finiteness(a)": [1.0] * 6})) == []


def test_one_null_in_fifty_rows_is_inside_the_guard_and_three_are_not() -> None:
    past = past_of({"size()": [50.0] * 30, "completeness(x)": [1.0] * 30})
    guards = FiniteSampleBounds(load_pooled_rates()).make_guards(past, [])
    assert guards is not None
    (nulls,) = [each for each in guards.choose(0.01) if each.expectation.metric.name == "completeness"]
    assert nulls.expectation.predicate.holds(0.98)
    assert not nulls.expectation.predicate.holds(0.94)


@pytest.mark.parametrize("budget", [0.001, 0.003, 0.01])
def test_rows_have_a_guard_however_small_the_budget(budget: float) -> None:
    past = past_of({"size()": [1_000.0] * 30, "completeness(x)": [1.0] * 30})
    guards = FiniteSampleBounds(load_pooled_rates()).make_guards(past, [])
    assert guards is not None
    assert "size" in {each.expectation.metric.name for each in guards.choose(budget)}


@pytest.mark.parametrize(("filled", "guarded"), [(0.1, False), (0.5, True), (1.0, True)])
def test_the_newest_timestamp_is_guarded_where_most_rows_have_one(filled: float, guarded: bool) -> None:
    series = {"size()": [1_000.0] * 30, "completeness(at)": [filled] * 30, "max(at)": [3_600.0] * 30}
    past = past_of(series, kind=Kind.TIMESTAMP)
    guards = FiniteSampleBounds(load_pooled_rates()).make_guards(past, [])
    assert guards is not None
    assert ("max" in {each.expectation.metric.name for each in guards.choose(0.01)}) is guarded


WIDEST = {
    Guard.ROWS: 5,
    Guard.NULLS: 100,
    Guard.COMPLETE: 3,
    Guard.KEYS: 5,
    Guard.NEWEST: 100,
    Guard.PERIOD: 1,
    Guard.COARSE: 15,
}
"""The largest reach of each guard at a budget of 1%, so that new evidence does not widen one unnoticed."""


@pytest.mark.parametrize("runs", [7, 14, 30])
@pytest.mark.parametrize("guard", Guard)
def test_a_guard_is_of_use_at_the_default_budget(guard: Guard, runs: int) -> None:
    rates = load_pooled_rates()
    found = rates.table_rates(guard.curve, runs)
    assert (np.diff(found) <= 0).all()
    affordable = [reach for reach, rate in zip(rates.grid, found, strict=True) if rate <= SHARES[guard] * 0.01]
    assert min(affordable) <= WIDEST[guard]


@pytest.mark.parametrize("false_alarms", [0.003, 0.01, 0.05])
def test_guards_leave_a_third_of_the_budget_to_other_expectations(false_alarms: float) -> None:
    assert pytest.approx(0.693) == GUARD_SHARE
    past = gate_of(2).learned().past
    assert past is not None
    guards = FiniteSampleBounds(load_pooled_rates()).make_guards(past, [])
    assert guards is not None
    cost = sum(each.cost for each in (*guards.choose(false_alarms), *guards.choose_coarse(false_alarms)))
    assert 0 < cost <= GUARD_SHARE * false_alarms
