# /// script
# requires-python = "==3.11.*"
# dependencies = ["pandera[pyspark]==0.35.0", "pyspark==4.1.4", "pandas>=2.2,<3", "pyarrow", "setuptools"]
# ///
"""pandera for PySpark: a schema of columns and their checks."""

from __future__ import annotations

from typing import Any

import pandera.pyspark as pa
from pyspark.sql import SparkSession
from serving import Request, Step, open_table, serve

Check = dict[str, Any]
NO_AGGREGATE = "has no check of an aggregate of a column, other than a function that the user writes in Spark"
NO_SHARE = "a check holds of all values; a share cannot be asked for"
CANNOT = dict.fromkeys(("rows", "mean", "stddev", "distinct", "quantile"), NO_AGGREGATE)


def cannot_say(check: Check) -> str:
    low, _ = check["between"]
    if check["kind"] in CANNOT:
        return CANNOT[check["kind"]]
    if check["kind"] in ("complete", "unique", "pattern", "one_of", "range") and low < 1.0:
        return NO_SHARE
    return ""


def check_of(check: Check) -> Any:
    low, high = check["between"]
    title = {"title": check["id"], "error": check["id"]}
    match check["kind"]:
        case "pattern":
            return pa.Check.str_matches(check["pattern"], **title)
        case "one_of":
            return pa.Check.isin(check["values"], **title)
        case "range":
            return pa.Check.in_range(check["low"], check["high"], **title)
        case "min":
            return pa.Check.ge(low, **title)
        case "max":
            return pa.Check.le(high, **title)
        case "min_length":
            return pa.Check.str_length(min_value=int(low), **title)
        case "max_length":
            return pa.Check.str_length(max_value=int(high), **title)
    raise ValueError(check["kind"])


def build_schemas(frame: Any, checks: list[Check]) -> list[Any]:
    """One schema for what columns must be, and one for each unique column, as a schema's `unique` is one key."""
    types = {field.name: field.dataType for field in frame.schema.fields}
    columns: dict[str, Any] = {}
    for name in dict.fromkeys(check["column"] for check in checks):
        own = [check for check in checks if check["column"] == name]
        complete = any(check["kind"] == "complete" for check in own)
        made = [check_of(check) for check in own if check["kind"] not in ("complete", "unique")]
        columns[name] = pa.Column(types[name], made, nullable=not complete)
    unique = [check["column"] for check in checks if check["kind"] == "unique"]
    keys = [pa.DataFrameSchema({name: pa.Column(types[name], nullable=True)}, unique=[name]) for name in unique]
    return [pa.DataFrameSchema(columns), *keys]


def prepare_checks(spark: SparkSession, request: Request) -> Step:
    frame = open_table(spark, request)
    able = [check for check in request["checks"] if not cannot_say(check)]

    def validate(_: int) -> dict[str, Any]:
        schema, *keys = build_schemas(frame, able)
        errors = list_errors(schema.validate(frame, lazy=True).pandera.errors)
        unique = [check["column"] for check in able if check["kind"] == "unique"]
        repeated = {
            name for name, key in zip(unique, keys, strict=True) if key.validate(frame, lazy=True).pandera.errors
        }
        return {"answers": [_answer(check, errors, repeated) for check in request["checks"]]}

    return validate


def list_errors(errors: Any) -> set[tuple[str, str]]:
    """Column and what failed: the title of a check, or `nullable`."""
    return {
        (str(error.get("column")), str(error.get("check")))
        for scope in (errors or {}).values()
        for listed in scope.values()
        for error in listed
    }


def _answer(check: Check, errors: set[tuple[str, str]], repeated: set[str]) -> dict[str, Any]:
    if reason := cannot_say(check):
        return {"id": check["id"], "passed": None, "cannot": reason}
    name = check["column"]
    match check["kind"]:
        case "unique":
            return {"id": check["id"], "passed": name not in repeated}
        case "complete":
            failed = any(column == name and "null" in what for column, what in errors)
            return {"id": check["id"], "passed": not failed}
    return {"id": check["id"], "passed": not any(check["id"] in what for column, what in errors)}


NO_STATES = "pandera keeps no states: to know the whole it reads all parts again."

if __name__ == "__main__":
    serve(
        {"checks": prepare_checks},
        {
            "states": NO_STATES,
            "append": NO_STATES,
            "replace": NO_STATES,
            "profile": "pandera has no profile of Spark tables.",
            "suggestions": "pandera infers schemas of pandas tables only.",
            "failing_rows": "pandera says of a Spark table which checks fail, and gives no rows.",
        },
        ("pandera", "pyspark"),
    )
