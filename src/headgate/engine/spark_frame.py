"""The schema of a DataFrame, and look-ups of its rows in another DataFrame."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from headgate.engine.membership import kinds_of
from headgate.engine.nested import NestedPath, build_schema
from headgate.engine.plan import Plan
from headgate.engine.spark_nested import add_places, find_places, read_spark_type
from headgate.metrics.base.metric import Membership
from headgate.metrics.base.sql import names_of, quote_name
from headgate.values.errors import MisuseError
from headgate.values.schema import Kind, Schema

# the type to which values of a kind are cast, so that equal values are equal keys
_WIDEST = {Kind.INTEGER: "BIGINT", Kind.FLOAT: "DOUBLE", Kind.TIMESTAMP: "TIMESTAMP"}


def open_spark(data: DataFrame) -> Schema:
    """The schema of a DataFrame."""
    return read_schema(data)[0]


def read_schema(data: DataFrame) -> tuple[Schema, tuple[NestedPath, ...]]:
    """The schema of a DataFrame, and the ways to the places inside its nested columns."""
    return build_schema((field.name, read_spark_type(field.dataType)) for field in data.schema.fields)


def find_unknown_names(predicates: Iterable[str], labels: Iterable[str], spark: SparkSession) -> dict[str, str]:
    """The predicates that name what is no column, each with the first such name.

    Spark would read it as a variable, or `user` as the current user.
    """
    fold_case = str if spark.conf.get("spark.sql.caseSensitive") == "true" else str.lower
    known = set(map(fold_case, labels))
    unknown: dict[str, str] = {}
    for predicate in predicates:
        for parts in names_of(predicate):
            if known.isdisjoint(map(fold_case, parts)):
                unknown.setdefault(predicate, ".".join(parts))
    return unknown


def without_missing_tables(plan: Plan, tables: Mapping[str, Any]) -> Plan:
    """The plan without the metrics that look rows up in a missing table or column."""
    for test in plan.memberships:
        try:
            kinds_of(test, plan.schema, schema_of(tables.get(test.table)), list(tables))
        except MisuseError as error:
            plan = plan.without(test, str(error))
    return plan


def schema_of(table: Any) -> Schema | None:
    return open_spark(table) if hasattr(table, "mapInArrow") else None


def look_up_rows(
    frame: DataFrame, columns: Sequence[str], test: Membership, schema: Schema, table: DataFrame, mark: str
) -> DataFrame:
    """The rows with one more column, `mark`: true if the values of `columns`, as SQL, are in the table, else null."""
    other, paths = read_schema(table)
    kinds = kinds_of(test, schema, other, [test.table])
    table = add_places(table, other, paths, find_places(other, (), test.of, ()))
    key = f"{mark}_key"
    known = table.selectExpr(f"{_key_sql([quote_name(name) for name in test.of], kinds)} AS {key}").distinct()
    keyed = frame.selectExpr("*", f"{_key_sql(columns, kinds)} AS {key}")
    return keyed.join(known.selectExpr(key, f"true AS {mark}"), [key], "left").drop(key)


def _key_sql(columns: Sequence[str], kinds: Sequence[Kind]) -> str:
    """One key for each row. It is a struct, because structs with equal nulls compare equal and plain nulls do not."""
    fields = []
    for index, (column, kind) in enumerate(zip(columns, kinds, strict=True)):
        value = f"CAST({column} AS {_WIDEST[kind]})" if kind in _WIDEST else column
        fields.append(f"'k{index}', {value}")
    return f"named_struct({', '.join(fields)})"
