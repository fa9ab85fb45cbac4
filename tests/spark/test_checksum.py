"""The checksum of rows on Spark: the same as without it, and it sees every value of nested columns too."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

import headgate as hg

ROWS = [(number, f"text {number % 7}", number / 3, number % 2 == 0) for number in range(500)]
COLUMNS = ["n", "s", "x", "b"]


def checksum(data: Any) -> object:
    (state,) = hg.analyze(data, ["checksum()"]).states.values()
    return state


def test_it_is_the_same_on_spark_and_without(spark: Any) -> None:
    local = pa.table(dict(zip(COLUMNS, map(list, zip(*ROWS, strict=True)), strict=True)))
    frame = spark.createDataFrame(ROWS, COLUMNS)
    assert checksum(frame) == checksum(local)
    assert checksum(frame.repartition(3)) == checksum(local)


@pytest.mark.parametrize(
    ("value", "other"),
    [
        ("array(1, id)", "array(id, 1)"),
        ("map('a', id)", "map('b', id)"),
        ("named_struct('x', id)", "named_struct('x', id + 1)"),
        ("IF(id = 3, NULL, array(id))", "array(id)"),
    ],
)
def test_it_sees_a_change_inside_of_a_nested_column(spark: Any, value: str, other: str) -> None:
    frame = spark.range(10)
    changed = frame.selectExpr("id", f"IF(id = 3, {other}, {value}) AS nested")
    plain = frame.selectExpr("id", f"{value} AS nested")
    assert checksum(plain) == checksum(plain.repartition(2))
    assert checksum(plain) != checksum(changed)
