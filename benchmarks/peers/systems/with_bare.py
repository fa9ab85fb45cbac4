# /// script
# requires-python = "==3.11.*"
# dependencies = ["pyspark==4.1.4", "pandas>=2.2,<3", "pyarrow"]
# ///
"""Spark alone: the plain scan, and the same figures by hand in one `agg`, one more query for each exact uniqueness."""

from __future__ import annotations

from functools import reduce
from operator import or_
from typing import Any

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as sf
from pyspark.sql.types import NumericType, StringType
from serving import Request, Step, count_rows, open_table, prepare_scan, serve

Check = dict[str, Any]
DEVIATION = 0.05  # relative standard deviation of approx_count_distinct, Spark's default


def aggregate_of(check: Check) -> Column:
    """The metric of one check as an aggregate; shares are of the values that are there."""
    name = check.get("column", "")
    column = sf.col(f"`{name}`")
    match check["kind"]:
        case "rows":
            return sf.count(sf.lit(1))
        case "complete":
            return sf.avg(column.isNotNull().cast("double"))
        case "min" | "max" | "mean" | "sum":
            return getattr(sf, check["kind"])(column)
        case "stddev":
            return sf.stddev_pop(column)
        case "min_length":
            return sf.min(sf.length(column))
        case "max_length":
            return sf.max(sf.length(column))
        case "distinct":
            return sf.approx_count_distinct(column, DEVIATION)
        case "quantile":
            return sf.percentile_approx(column, check["q"], 1_000)
    return sf.avg(holds(check).cast("double"))


def holds(check: Check) -> Column:
    """What a value must be, where it is there."""
    column = sf.col(f"`{check['column']}`")
    match check["kind"]:
        case "complete":
            return column.isNotNull()
        case "pattern":
            return column.rlike(check["pattern"])
        case "one_of":
            return column.isin(check["values"])
        case "range":
            return column.between(check["low"], check["high"])
    raise ValueError(check["kind"])


def judge(check: Check, value: float | None) -> dict[str, Any]:
    low, high = check["between"]
    passed = value is not None and (low is None or value >= low) and (high is None or value <= high)
    return {"id": check["id"], "value": None if value is None else float(value), "passed": passed}


def count_unique(frame: DataFrame, name: str) -> float:
    """The share of the values that occur once, by a groupBy of their own."""
    groups = frame.where(sf.col(f"`{name}`").isNotNull()).groupBy(f"`{name}`").count()
    row = groups.agg(sf.sum("count"), sf.sum((sf.col("count") == 1).cast("long"))).first()
    return (row[1] or 0) / row[0] if row and row[0] else 0.0


def measure(frame: DataFrame, checks: list[Check]) -> list[dict[str, Any]]:
    plain = [check for check in checks if check["kind"] != "unique"]
    values: dict[str, Any] = {}
    if plain:
        row = frame.agg(*(aggregate_of(check).alias(check["id"]) for check in plain)).first()
        assert row
        values = row.asDict()
    for check in checks:
        if check["kind"] == "unique":
            values[check["id"]] = count_unique(frame, check["column"])
    return [judge(check, values[check["id"]]) for check in checks]


def prepare_checks(spark: SparkSession, request: Request) -> Step:
    frame = open_table(spark, request)
    return lambda _: {"answers": measure(frame, request["checks"])}


def prepare_all_partitions(spark: SparkSession, request: Request) -> Step:
    """Without states, the whole is computed again from all partitions."""
    frame = spark.read.parquet(*request["partitions"])
    return lambda _: {"answers": measure(frame, request["checks"])}


def profile_aggregates(frame: DataFrame) -> list[Column]:
    """Per column: how many values, how many different ones, extremes, and of numbers mean, deviation and quartiles."""
    wanted = []
    for at, field in enumerate(frame.schema.fields):
        column = sf.col(f"`{field.name}`")
        wanted += [
            sf.avg(column.isNotNull().cast("double")).alias(f"{at} complete"),
            sf.approx_count_distinct(column, DEVIATION).alias(f"{at} distinct"),
        ]
        if isinstance(field.dataType, NumericType):
            wanted += [getattr(sf, name)(column).alias(f"{at} {name}") for name in ("min", "max", "mean")]
            wanted += [sf.stddev_pop(column).alias(f"{at} stddev")]
            wanted += [sf.percentile_approx(column, [0.05, 0.25, 0.5, 0.75, 0.95], 1_000).alias(f"{at} quantiles")]
        elif isinstance(field.dataType, StringType):
            length = sf.length(column)
            wanted += [sf.min(length).alias(f"{at} min_length"), sf.max(length).alias(f"{at} max_length")]
    return wanted


def prepare_profile(spark: SparkSession, request: Request) -> Step:
    frame = open_table(spark, request)

    def profile(_: int) -> dict[str, Any]:
        row = frame.agg(*profile_aggregates(frame)).first()
        assert row
        found: dict[str, dict[str, float]] = {name: {} for name in frame.columns}
        for key, value in row.asDict().items():
            at, _, name = key.partition(" ")
            if name != "quantiles" and value is not None:
                found[frame.columns[int(at)]][name] = float(value)
        return {"profile": found}

    return profile


def prepare_failing_rows(spark: SparkSession, request: Request) -> Step:
    frame = open_table(spark, request)
    rules = [holds(check) for check in request["checks"]]
    broken = reduce(or_, [~rule for rule in rules])
    return lambda _: {"failing_rows": count_rows(frame.where(broken))}


if __name__ == "__main__":
    serve(
        {
            "states": prepare_scan,
            "checks": prepare_checks,
            "profile": prepare_profile,
            "append": prepare_all_partitions,
            "replace": prepare_all_partitions,
            "failing_rows": prepare_failing_rows,
        },
        {"suggestions": "Spark suggests no constraints."},
        ("pyspark", "pyarrow"),
    )
