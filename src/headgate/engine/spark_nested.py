"""Places inside the nested columns of a DataFrame, in SQL."""

from __future__ import annotations

import re
from collections.abc import Container, Sequence

from pyspark.sql import DataFrame
from pyspark.sql import types as st

from headgate.engine.nested import NestedPath, PathStep, Reading, TypeTree, list_named
from headgate.metrics.base.sql import add_backticks, quote_name
from headgate.values.schema import Column, Kind, Schema

_KINDS: tuple[tuple[type[st.DataType], Kind], ...] = (
    (st.BooleanType, Kind.BOOLEAN),
    (st.IntegralType, Kind.INTEGER),
    (st.DecimalType, Kind.DECIMAL),
    (st.FractionalType, Kind.FLOAT),
    (st.StringType, Kind.STRING),
    (st.CharType, Kind.STRING),
    (st.VarcharType, Kind.STRING),
    (st.DateType, Kind.DATE),
    (st.TimestampType, Kind.TIMESTAMP),
    (st.TimestampNTZType, Kind.TIMESTAMP),
    (st.BinaryType, Kind.BINARY),
)

# by name, as not every Spark has these types
_READINGS: dict[str, Reading] = {
    "DayTimeIntervalType": "seconds",
    "TimeType": "seconds",
    "YearMonthIntervalType": "months",
    "VariantType": "json",
}
_IGNORES_CASE = re.compile(r" collate \w+_(?:LCASE|CI)(?:_|\b)", re.IGNORECASE)
_VALUE = "headgate_value"  # a variable of lambdas


def read_spark_type(kind: st.DataType) -> TypeTree:
    """A Spark type with the types inside it."""
    text = kind.simpleString()
    match kind:
        case st.StructType():
            return TypeTree(
                Kind.OTHER, text, tuple((each.name, read_spark_type(each.dataType)) for each in kind.fields)
            )
        case st.ArrayType():
            return TypeTree(Kind.OTHER, text, element=read_spark_type(kind.elementType), reading="size")
        case st.MapType():
            return TypeTree(Kind.OTHER, text, element=read_spark_type(_describe_entry(kind)), reading="size")
    found = next((answer for test, answer in _KINDS if isinstance(kind, test)), Kind.OTHER)
    return TypeTree(found, text, reading=_READINGS.get(type(kind).__name__))


def _describe_entry(kind: st.MapType) -> st.StructType:
    return st.StructType().add("key", kind.keyType).add("value", kind.valueType)


def ignores_case(column: Column) -> bool:
    """Whether Spark compares the texts of a column without regard to case."""
    return column.kind is Kind.STRING and _IGNORES_CASE.search(column.type) is not None


def find_places(
    schema: Schema, positions: Container[int], names: Container[str], predicates: Sequence[str]
) -> list[int]:
    """The places inside nested columns among these positions and names, and those that predicates name."""
    return [
        at
        for at, column in enumerate(schema.columns)
        if column.parent
        and (
            at in positions or column.label in names or any(add_backticks(column.label) in text for text in predicates)
        )
    ]


def add_places(data: DataFrame, schema: Schema, paths: Sequence[NestedPath], wanted: Sequence[int]) -> DataFrame:
    """The DataFrame with a column more for each of these places inside its columns, under its label."""
    if not wanted:
        return data
    fields, names = data.schema.fields, schema.top_labels
    columns = []
    for at in wanted:
        path = paths[at]
        value = _write_place(quote_name(names[path.source]), fields[path.source].dataType, path.steps, depth=0)
        columns.append(f"{value} AS {quote_name(schema.columns[at].label)}")
    return data.selectExpr("*", *columns)


def write_test(function: str, text: str, schema: Schema) -> str:
    """A predicate; of a column with any number of values in a row, what a function of arrays makes of its results.

    `transform` gives the results themselves, `exists` whether one is true, `filter` the values of which it is.
    """
    for label in map(add_backticks, list_named(text, schema.repeated_labels)):
        return f"{function}({label}, {_VALUE} -> ({text.replace(label, _VALUE)}))"  # no variable has such a name
    return text


def _write_place(value: str, kind: st.DataType, steps: Sequence[PathStep], depth: int) -> str:
    """The SQL of a place inside a value: an array if the place is inside an array or a map."""
    if not steps:
        return value
    first, rest = steps[0], steps[1:]
    match first.to:
        case "field":
            assert isinstance(kind, st.StructType)
            field = kind.fields[first.index]
            return _write_place(f"{value}.{quote_name(field.name)}", field.dataType, rest, depth)
        case "size" | "seconds" | "months" | "json":
            return _write_reading(first.to, value, kind)
    if isinstance(kind, st.MapType):
        value, kind = f"map_entries({value})", st.ArrayType(_describe_entry(kind))
    assert isinstance(kind, st.ArrayType)
    if not rest:
        return value
    each = f"x{depth}"
    inside = _write_place(each, kind.elementType, rest, depth + 1)
    mapped = f"transform({value}, {each} -> {inside})"
    if not any(step.to == "each" for step in rest):
        return mapped
    return f"flatten(filter({mapped}, {each} -> {each} IS NOT NULL))"


def _write_reading(reading: Reading, value: str, kind: st.DataType) -> str:
    """The SQL of what folds can know of a value that Arrow does not carry."""
    match reading:
        case "size":
            return f"CASE WHEN {value} IS NOT NULL THEN size({value}) END"
        case "months":
            months = f"CAST({value} AS INTERVAL YEAR TO MONTH)"  # one of years alone has no months to extract
            return f"(extract(YEAR FROM {months}) * 12 + extract(MONTH FROM {months}))"
        case "json":
            return f"to_json({value})"
    units = {"HOUR": 3600, "MINUTE": 60, "SECOND": 1}
    if isinstance(kind, st.DayTimeIntervalType):
        units, value = {"DAY": 86_400, **units}, f"CAST({value} AS INTERVAL DAY TO SECOND)"
    parts = (f"CAST(extract({unit} FROM {value}) AS DOUBLE) * {seconds}" for unit, seconds in units.items())
    return f"({' + '.join(parts)})"
