"""Metrics that read the schema, or another table: against plain Python."""

from __future__ import annotations

from datetime import date
from typing import Any

import pyarrow as pa
import pytest

from headgate.engine.analysis import Analysis
from headgate.engine.analyze import analyze
from headgate.metrics.containment import Containment
from headgate.metrics.has_column import HasColumn
from headgate.values.errors import MisuseError
from headgate.values.outcome import Failed, Measured, Undefined

TABLE = pa.table({"id": [1, 2, 2, None], "name": ["a", "b", None, None], "day": [date(2026, 1, 1)] * 4})


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("column_count()", 3),
        ("has_column(id)", 1),
        ("has_column(ID)", 0),
        ('column_type(id, type="integer")', 1),
        ('column_type(id, type="INT64")', 1),
        ('column_type(id, type="string")', 0),
        ('column_type(day, type="date")', 1),
        ('column_type(nothing, type="date")', 0),
    ],
)
def test_a_metric_of_the_schema_reads_names_and_types(key: str, value: float) -> None:
    assert analyze(TABLE, [key])[key] == Measured(float(value))
    assert analyze(TABLE.slice(0, 0), [key])[key] == Measured(float(value))


def test_a_metric_of_the_schema_merges_and_travels() -> None:
    asked = ["column_count()", "has_column(id)", "size()"]
    one = analyze(TABLE, asked)
    both = one + Analysis.from_bytes(one.to_bytes())
    assert [both.value(key) for key in asked] == [3.0, 1.0, 8.0]
    assert analyze(TABLE, asked, by="name").view().value("column_count()") == 3.0


def test_a_metric_of_the_schema_takes_no_rows() -> None:
    with pytest.raises(MisuseError, match="takes no where"):
        HasColumn("id", where="id > 1")


def contained(rows: list[tuple[Any, ...]], other: list[tuple[Any, ...]]) -> float:
    """The definition, row by row."""
    seen = [row for row in rows if any(value is not None for value in row)]
    return sum(row in other for row in seen) / len(seen)


@pytest.mark.parametrize("columns", [("id",), ("name",), ("id", "name"), ("name", "day"), ("id", "name", "day")])
def test_containment_is_the_share_of_rows_that_stand_in_the_other_table(columns: tuple[str, ...]) -> None:
    other = pa.table({"day": [date(2026, 1, 1), date(2025, 1, 1)], "name": ["b", None], "id": [2, 2]})
    metric = Containment(columns, table="other")
    assert metric.name == "containment"
    value = analyze(TABLE, [metric], tables={"other": other}).value(metric)
    pick = [list(zip(*(table[name].to_pylist() for name in columns), strict=True)) for table in (TABLE, other)]
    assert value == contained(*pick)


def test_containment_knows_the_other_columns_name_and_the_width_of_numbers_does_not_matter() -> None:
    other = pa.table({"key": pa.array([2, 3], pa.int16())})
    found = analyze(TABLE, [Containment("id", table="other", of="key")], tables={"other": other.to_pandas()})
    assert list(found.outcomes.values()) == [Measured(2 / 3)]


@pytest.mark.parametrize(
    ("tables", "why"),
    [
        ({}, "the table 'other' was not given; there are none. Pass tables={'other': ...}."),
        ({"other": pa.table({"x": [1]})}, "the table 'other' has no column 'id'; there are x."),
        ({"other": pa.table({"id": ["1"]})}, "'id' is integer and 'id' of other is string: nothing can be equal."),
    ],
)
def test_a_table_that_cannot_be_looked_into_fails_only_its_metric(tables: dict[str, Any], why: str) -> None:
    metric = Containment("id", table="other")
    found = analyze(TABLE, [metric, "size()"], tables=tables)
    assert found[metric] == Failed(why)
    assert found["size()"] == Measured(4.0)


def test_without_values_containment_is_undefined_and_in_an_empty_table_it_is_zero() -> None:
    nothing = pa.table({"id": pa.nulls(3, pa.int64())})
    empty = pa.table({"id": pa.array([], pa.int64())})
    metric = Containment("id", table="other")
    assert analyze(nothing, [metric], tables={"other": TABLE})[metric] == Undefined("no values in scope")
    assert analyze(TABLE, [metric], tables={"other": empty})[metric] == Measured(0.0)


def test_containment_merges_over_batches() -> None:
    metric = Containment("id", table="other")
    other = {"other": pa.table({"id": [1]})}
    parts = [analyze(TABLE.slice(at, 2), [metric], tables=other) for at in (0, 2)]
    assert (parts[0] + parts[1]).outcomes == analyze(TABLE, [metric], tables=other).outcomes
