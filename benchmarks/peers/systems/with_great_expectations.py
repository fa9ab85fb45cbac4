# /// script
# requires-python = "==3.11.*"
# dependencies = ["great-expectations==1.24.1", "pyspark==4.1.4", "pandas>=2.2,<3", "pyarrow"]
# ///
"""Great Expectations: a suite of expectations on a Spark DataFrame."""

from __future__ import annotations

import os
from typing import Any

os.environ["GX_ANALYTICS_ENABLED"] = "false"

import great_expectations as gx
from great_expectations import expectations as gxe
from pyspark.sql import SparkSession
from serving import Request, Step, open_table, serve

Check = dict[str, Any]


def expectation(check: Check) -> Any:
    name, (low, high) = check.get("column", ""), check["between"]
    words = {"column": name, "meta": {"id": check["id"]}}
    bounds = {"min_value": low, "max_value": high}
    match check["kind"]:
        case "rows":
            return gxe.ExpectTableRowCountToBeBetween(meta={"id": check["id"]}, **bounds)
        case "complete":
            return gxe.ExpectColumnValuesToNotBeNull(mostly=low, **words)
        case "unique":
            return gxe.ExpectColumnValuesToBeUnique(mostly=low, **words)
        case "pattern":
            return gxe.ExpectColumnValuesToMatchRegex(regex=check["pattern"], mostly=low, **words)
        case "one_of":
            return gxe.ExpectColumnValuesToBeInSet(value_set=check["values"], mostly=low, **words)
        case "range":
            return gxe.ExpectColumnValuesToBeBetween(
                min_value=check["low"], max_value=check["high"], mostly=low, **words
            )
        case "min":
            return gxe.ExpectColumnMinToBeBetween(**words, **bounds)
        case "max":
            return gxe.ExpectColumnMaxToBeBetween(**words, **bounds)
        case "mean":
            return gxe.ExpectColumnMeanToBeBetween(**words, **bounds)
        case "stddev":
            return gxe.ExpectColumnStdevToBeBetween(**words, **bounds)
        case "distinct":
            return gxe.ExpectColumnUniqueValueCountToBeBetween(min_value=int(low), max_value=int(high), **words)
        case "quantile":
            ranges = {"quantiles": [check["q"]], "value_ranges": [[low, high]]}
            return gxe.ExpectColumnQuantileValuesToBeBetween(quantile_ranges=ranges, **words)
        case "min_length":
            return gxe.ExpectColumnValueLengthsToBeBetween(min_value=int(low), **words)
        case "max_length":
            return gxe.ExpectColumnValueLengthsToBeBetween(max_value=int(high), **words)
    raise ValueError(check["kind"])


def prepare_checks(spark: SparkSession, request: Request) -> Step:
    frame = open_table(spark, request)

    def validate(at: int) -> dict[str, Any]:
        context = gx.get_context(mode="ephemeral")
        context.variables.progress_bars = {"globally": False}
        source = context.data_sources.add_spark("spark")
        batch = source.add_dataframe_asset("table").add_batch_definition_whole_dataframe("whole")
        suite = gx.ExpectationSuite("all", expectations=[expectation(check) for check in request["checks"]])
        result = batch.get_batch({"dataframe": frame}).validate(suite, result_format="BASIC")
        by_id = {one.expectation_config.meta["id"]: one for one in result.results}
        return {"answers": [_answer(check, by_id[check["id"]]) for check in request["checks"]]}

    return validate


def _answer(check: Check, result: Any) -> dict[str, Any]:
    told = {"id": check["id"], "passed": bool(result.success), "value": None}
    if result.exception_info and (reason := _find_exception(result.exception_info)):
        return told | {"passed": None, "cannot": reason}
    observed = result.result.get("observed_value")
    if isinstance(observed, int | float):
        told["value"] = float(observed)
    return told


def _find_exception(info: Any) -> str:
    """Either the facts of one exception, or those of each metric by its name."""
    listed = [info] if "raised_exception" in info else list(info.values())
    return " ".join(str(one.get("exception_message")) for one in listed if one.get("raised_exception"))


NO_STATES = "Great Expectations keeps no states: to know the whole it reads all parts again."

if __name__ == "__main__":
    serve(
        {"checks": prepare_checks},
        {
            "states": NO_STATES,
            "append": NO_STATES,
            "replace": NO_STATES,
            "profile": "Great Expectations has no profiler since 1.0.",
            "suggestions": "Great Expectations suggests nothing since 1.0.",
            "failing_rows": (
                "Great Expectations gives the values that break an expectation, and rows only by columns that name "
                "them, as lists in the driver; these tables have none."
            ),
        },
        ("great-expectations", "pyspark"),
    )
