"""Clauses about the columns of a table, and metrics that are not there."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import headgate as hg
from headgate.learn.column_kinds import MIN_TYPE_VALUES
from headgate.learn.history.learn import learn_program
from headgate.learn.history.program import Program
from headgate.learn.history.schema import MIN_TYPE_RUNS, RECENT_RUNS
from headgate.learn.past import Past
from headgate.values.expectation import Status
from headgate.values.key import MetricKey
from headgate.values.predicate import Between
from tests.learn.histories import RUNS, batch, orders, orders_effects


@cache
def program() -> Program:
    return learn_program(orders())


def test_a_missing_column_fails_and_is_not_an_error() -> None:
    verdict = program().judge(hg.analyze(batch(RUNS).drop_columns(["price"])), orders())
    assert verdict.status is Status.FAIL
    assert MetricKey.parse("has_column(price)") in {each.expectation.metric for each in verdict.failures}
    other = {each.status for each in verdict.judgements if each.expectation.metric.columns == ("price",)}
    assert Status.PASS not in other


def test_a_new_column_fails() -> None:
    wide = batch(RUNS).append_column("note", pa.array(["x"] * batch(RUNS).num_rows))
    verdict = program().judge(hg.analyze(wide), orders())
    assert [str(each.expectation.metric) for each in verdict.failures] == ["column_count()"]


@pytest.mark.parametrize(("column", "kind"), [("price", pa.string()), ("id", pa.string()), ("id", pa.float64())])
def test_another_type_fails_and_is_not_an_error(column: str, kind: pa.DataType) -> None:
    table = batch(RUNS)
    at = table.schema.get_field_index(column)
    verdict = program().judge(hg.analyze(table.set_column(at, column, table[column].cast(kind))), orders())
    assert verdict.status is Status.FAIL
    assert "column_type" in {each.expectation.metric.name for each in verdict.failures}


def test_whole_numbers_pass_for_numbers() -> None:
    table = batch(RUNS)
    whole = table.set_column(1, "price", pa.array(np.round(table["price"].to_numpy()).astype(np.int64)))
    verdict = program().judge(hg.analyze(whole), orders())
    assert "column_type" not in {each.expectation.metric.name for each in verdict.failures}


def test_a_column_whose_type_is_that_of_nothing_is_skipped() -> None:
    table = batch(RUNS)
    verdict = program().judge(hg.analyze(table.set_column(3, "code", pa.nulls(table.num_rows))), orders())
    of_code = [each for each in verdict.judgements if each.expectation.metric.columns == ("code",)]
    assert Status.ERROR not in {each.status for each in verdict.judgements}
    kinds = [each.status for each in of_code if each.expectation.metric.name == "column_type"]
    assert kinds == [Status.SKIP]
    told = {each.expectation.metric.name for each in of_code if each.status is not Status.SKIP}
    assert told <= {"has_column", "completeness", "rarity"}


def test_a_column_that_holds_only_nulls_is_incomplete() -> None:
    table = batch(RUNS)
    found = program().pin("completeness(code)", Between(low=0.9))
    for nulls in (pa.nulls(table.num_rows), pa.nulls(table.num_rows, pa.string())):
        verdict = found.judge(hg.analyze(table.set_column(3, "code", nulls)), orders())
        assert verdict.status is Status.FAIL
        assert MetricKey("completeness", ("code",)) in {each.expectation.metric for each in verdict.failures}


def test_a_metric_that_was_not_measured_without_a_reason_is_an_error() -> None:
    some = hg.analyze(batch(RUNS), ["size()", "completeness(id)"])
    assert program().judge(some, orders()).status is Status.ERROR


def test_a_missing_metric_of_the_table_is_an_error_beside_a_new_column_too() -> None:
    found = program().pin("size()", Between(1, 1e9))
    wide = batch(RUNS).append_column("note", pa.array(["x"] * batch(RUNS).num_rows))
    verdict = found.judge(hg.analyze(wide, ["completeness(id)"]), orders())
    of_size = [each for each in verdict.judgements if each.expectation.metric == MetricKey("size")]
    assert [each.status for each in of_size] == [Status.ERROR]


def test_clauses_about_columns_can_be_left_out() -> None:
    found = learn_program(orders(), schema=False, issue_effects=orders_effects())
    assert not {each.metric.name for each in found.clauses} & {"has_column", "column_count", "column_type"}


def test_a_column_that_not_every_run_had_need_not_be_there() -> None:
    tables = [batch(day) if day % 2 else batch(day).drop_columns(["code"]) for day in range(8)]
    past = Past.of([hg.analyze(each) for each in tables])
    metrics = {str(each.metric) for each in learn_program(past).clauses}
    assert "has_column(id)" in metrics
    assert "has_column(code)" not in metrics


def test_a_type_that_changed_before_is_no_law() -> None:
    tables = [pa.table({"x": [1, 2] if day % 2 else ["1", "2"]}) for day in range(8)]
    found = learn_program(Past.of([hg.analyze(each) for each in tables]))
    assert "column_type" not in {each.metric.name for each in found.clauses}


# --- types


def types_of(*columns: Any) -> dict[str, str]:
    """The types that are expected of the columns after runs whose column `x` held these values."""
    past = Past.of([hg.analyze(pa.table({"x": each})) for each in columns])
    laws = [each.metric for each in learn_program(past).clauses if each.metric.name == "column_type"]
    return {each.columns[0]: str(dict(each.parameters)["type"]) for each in laws}


WORDS = ["red", "green"] * 10
WHOLE = list(range(20))
PARTS = [at + 0.5 for at in range(20)]


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (WHOLE, "integer"),
        (PARTS, "number"),
        (WORDS, "string"),
        (pa.array(WHOLE, pa.date32()), "date"),
        (pa.array(WHOLE, pa.timestamp("s")), "timestamp"),
        ([True, False] * 10, "boolean"),
        (pa.array([1] * 20, pa.decimal128(5, 2)), "number"),
    ],
)
def test_a_type_that_was_the_same_in_every_run_is_expected(values: Any, expected: str) -> None:
    assert types_of(*[values] * MIN_TYPE_RUNS) == {"x": expected}


def test_two_runs_are_too_few_to_expect_a_type() -> None:
    assert types_of(*[WHOLE] * (MIN_TYPE_RUNS - 1)) == {}


def test_whole_numbers_that_came_to_have_fractions_are_numbers() -> None:
    assert types_of(WHOLE, PARTS, WHOLE) == {"x": "number"}


def test_truth_values_are_not_numbers() -> None:
    assert types_of([True, False] * 10, WHOLE, WHOLE) == {}


def test_a_few_values_show_no_type() -> None:
    some = [*range(MIN_TYPE_VALUES - 1), *[None] * 20]
    assert types_of(some, some, some) == {}
    more = [*range(MIN_TYPE_VALUES), *[None] * 20]
    assert types_of(more, more, more) == {"x": "integer"}


def test_of_the_last_runs_the_one_with_the_fewest_values_counts() -> None:
    assert types_of(WHOLE, [1, *[None] * 19], WHOLE) == {}
    assert types_of([1, *[None] * 19], *[WHOLE] * RECENT_RUNS) == {"x": "integer"}


def test_a_run_in_which_the_column_held_nothing_does_not_change_its_type() -> None:
    assert types_of(pa.nulls(20), *[WHOLE] * RECENT_RUNS) == {"x": "integer"}


@pytest.mark.parametrize(
    "texts", [["1", "22", "-3.5", "1.000,5"] * 5, ["2026-11-14", "14/11/2026"] * 10, ["2026-11-14 09:30:00"] * 20]
)
def test_texts_that_read_as_numbers_or_moments_show_no_type(texts: list[str]) -> None:
    """A reader that guesses types may take them for numbers tomorrow, and texts today were numbers by chance."""
    assert types_of(texts, texts, texts) == {}


def test_texts_of_which_enough_are_no_numbers_are_texts() -> None:
    mixed = [*["12"] * 20, *(f"no {chr(97 + at)}" for at in range(MIN_TYPE_VALUES))]
    assert types_of(mixed, mixed, mixed) == {"x": "string"}
    assert types_of(*[[*["12"] * 20, *["no"] * (MIN_TYPE_VALUES - 1)]] * 3) == {}


def test_only_columns_that_the_newest_run_has_are_expected_to_have_a_type() -> None:
    tables = [pa.table({"x": WHOLE, "y": WHOLE})] * 3 + [pa.table({"x": WHOLE})]
    laws = learn_program(Past.of([hg.analyze(each) for each in tables])).clauses
    assert {each.metric.columns[0] for each in laws if each.metric.name == "column_type"} == {"x"}


def test_a_column_that_came_in_the_last_runs_is_missed_when_it_goes() -> None:
    before, since = pa.table({"x": WHOLE}), pa.table({"x": WHOLE, "y": WHOLE})
    for runs, expected in ((RECENT_RUNS - 1, False), (RECENT_RUNS, True)):
        past = Past.of([hg.analyze(each) for each in [before] * 3 + [since] * runs])
        assert ("has_column(y)" in {str(each.metric) for each in learn_program(past).clauses}) is expected


def test_the_most_columns_of_the_last_runs_are_allowed() -> None:
    wide, narrow = pa.table({"x": WHOLE, "y": WHOLE}), pa.table({"x": WHOLE})
    past = Past.of([hg.analyze(each) for each in [wide, *[narrow] * RECENT_RUNS]])
    (count,) = (each for each in learn_program(past).clauses if each.metric.name == "column_count")
    assert count.expectation.predicate == Between(high=1)


NO_TEXTS = pa.nulls(20, pa.string())  # how Spark reads a column of a CSV file that holds nothing


def test_a_column_that_held_only_nulls_of_a_type_has_no_type() -> None:
    assert types_of(*[NO_TEXTS] * 9) == {}
    assert types_of(*[NO_TEXTS] * 5, *[WHOLE] * RECENT_RUNS) == {"x": "integer"}


def test_a_run_of_few_values_does_not_change_the_type() -> None:
    few = ["12", "7", *[None] * 18]
    assert types_of(few, *[WHOLE] * RECENT_RUNS) == {"x": "integer"}


def judged(values: Any, *before: Any) -> set[str]:
    """The expectations that a batch with these values fails."""
    past = Past.of([hg.analyze(pa.table({"x": each})) for each in before])
    verdict = learn_program(past).judge(hg.analyze(pa.table({"x": values})), past)
    return {each.expectation.metric.name for each in verdict.failures}


@pytest.mark.parametrize(
    ("before", "now", "changed"),
    [
        (WHOLE, NO_TEXTS, False),
        (WHOLE, WORDS, True),
        (WHOLE, ["n/a", *[None] * 19], True),
        (WORDS, [7, 12, *[None] * 18], False),
        (WORDS, pa.array([1, 2, *[None] * 18], pa.timestamp("s")), False),
        (WORDS, WHOLE, True),
        (WHOLE, [*map(float, WHOLE[1:]), None], False),
        (WHOLE, [*PARTS[1:], None], True),
        (WHOLE, [float(each) for each in WHOLE], True),
        (PARTS, WHOLE, False),
    ],
)
def test_a_type_changes_if_the_values_show_it(before: Any, now: Any, changed: bool) -> None:
    assert ("column_type" in judged(now, *[before] * 4)) is changed


def test_a_type_that_was_accepted_once_is_not_held_again() -> None:
    gate = hg.Gate("t", store=hg.open_store("memory:"), runs=7)
    random = np.random.default_rng(3)
    for day in range(24):
        prices = random.integers(1, 90, 40)
        table = pa.table({"x": prices + (0.5 if day in (6, 22) else 0)})
        verdict = gate.judge(table, partition=str(day))
        failed = {each.expectation.metric.name for each in verdict.verdict.failures}
        assert ("column_type" in failed) is (day == 6)
        if failed:
            gate.accept(str(day))


def test_texts_that_were_almost_all_numbers_in_one_run_show_no_type() -> None:
    """Invoices, of which few are cancellations on some days, and none on others."""
    usual = [*(str(number) for number in range(60)), *["C12"] * 40]
    quiet = [*(str(number) for number in range(99)), "C12"]
    assert types_of(usual, usual, usual) == {"x": "string"}
    assert types_of(usual, quiet, usual) == {}
