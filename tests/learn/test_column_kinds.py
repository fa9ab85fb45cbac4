"""Which kinds of type the values of a column show, and what is remembered of them."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

import headgate as hg
from headgate.learn.column_kinds import (
    MIN_TYPE_VALUES,
    collect_kinds,
    explain_type,
    find_text_shares,
    recall_kinds,
    remember_kinds,
)
from headgate.learn.past import numeric_values
from headgate.values.account import ColumnMemory
from headgate.values.schema import Kind

WHOLE = list(range(20))
FEW = [*["7"] * (MIN_TYPE_VALUES - 1), *[None] * 20]


def analyses(*columns: Any) -> list[hg.Analysis]:
    return [hg.analyze(pa.table({"x": each})) for each in columns]


def kinds_of(*columns: Any) -> set[Kind]:
    runs = analyses(*columns)
    return collect_kinds([each.schema for each in runs], [numeric_values(each.outcomes) for each in runs])["x"]


@pytest.mark.parametrize(
    ("columns", "kinds"),
    [
        ([WHOLE, ["a"] * 20], {Kind.INTEGER, Kind.STRING}),
        ([WHOLE, FEW], {Kind.INTEGER}),
        ([FEW], {Kind.STRING}),
        ([pa.nulls(20), WHOLE], {Kind.INTEGER}),
        ([pa.nulls(20, pa.string())], set()),
    ],
)
def test_kinds_are_those_of_runs_with_values(columns: list[Any], kinds: set[Kind]) -> None:
    assert kinds_of(*columns) == kinds


def test_without_a_count_there_are_enough_values() -> None:
    (run,) = analyses(FEW)
    assert collect_kinds([run.schema], [{}]) == {"x": {Kind.STRING}}


def test_several_kinds_are_remembered_beside_what_else_is() -> None:
    runs = analyses(WHOLE)
    schemas, rows = [each.schema for each in runs], [numeric_values(each.outcomes) for each in runs]
    assert remember_kinds({}, schemas, rows, [{}]) == {}
    earlier = {"x": ColumnMemory(kinds=("float",))}
    found = remember_kinds({"x": ColumnMemory((1.0, 2.0))}, schemas, rows, [earlier])
    assert found == {"x": ColumnMemory((1.0, 2.0), kinds=("float", "integer"))}
    assert recall_kinds(found, "x") == {Kind.FLOAT, Kind.INTEGER}
    assert recall_kinds(found, "y") == set()


@pytest.mark.parametrize(
    ("values", "expected", "why"),
    [
        (pa.nulls(3, pa.string()), "integer", "the column holds no value, so its type is not known"),
        ([7, 8], "string", "2 values do not show that they are no texts"),
        ([7.0, None], "integer", "whole numbers of which some are missing are read as floats"),
        ([7.5, None], "integer", ""),
        ([7.0, 8.0], "integer", ""),
        (WHOLE, "string", ""),
        (["seven"], "integer", ""),
    ],
)
def test_why_a_type_is_no_change(values: Any, expected: str, why: str) -> None:
    (run,) = analyses(values)
    assert explain_type(run.schema.columns[0], expected, run.outcomes) == why


def test_the_lowest_share_of_texts_that_do_not_read_as_numbers_counts() -> None:
    invoices = [str(number) for number in range(536_000, 536_100)]
    runs = analyses([*invoices[:80], *["C5"] * 20], [*invoices[:96], *["C5"] * 4], ["2026-11-09 10:30:00"] * 3)
    assert find_text_shares([each.states for each in runs]) == {"x": pytest.approx(0.04)}
