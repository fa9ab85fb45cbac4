# /// script
# requires-python = "==3.11.*"
# dependencies = ["soda-core-spark-df==3.5.4", "python-dotenv", "pyspark==4.1.4", "pandas>=2.2,<3", "setuptools"]
# ///
"""Soda Core 3 on the session, the last under the Apache License; `soda-sparkdf` 4 says that it is proprietary."""

from __future__ import annotations

import json
from typing import Any

from pyspark.sql import SparkSession
from serving import Request, Step, open_table, serve
from soda.scan import Scan

Check = dict[str, Any]
TABLE = "peers_table"
METRICS = {
    "rows": "row_count",
    "min": "min",
    "max": "max",
    "mean": "avg",
    "min_length": "min_length",
    "max_length": "max_length",
}


OTHER_SHARE = "duplicate_percent counts each repeated value once, so a share of unique values cannot be asked for"


def can_say(check: Check) -> bool:
    return check["kind"] != "unique" or check["between"][0] == 1.0


def line_of(check: Check) -> dict[str, Any]:
    """One check of SodaCL: its line, and what hangs below the line."""
    name, kind, words = check.get("column", ""), check["kind"], {"name": check["id"]}
    if kind == "rows":
        return {f"row_count {bounds_of(check)}": words}
    if kind in METRICS:
        return {f"{METRICS[kind]}({name}) {bounds_of(check)}": words}
    match kind:
        case "complete":
            return {f"missing_percent({name}) <= {percent_of(check)}": words}
        case "unique":
            return {f"duplicate_percent({name}) <= {percent_of(check)}": words}
        case "pattern":
            return {f"invalid_percent({name}) <= {percent_of(check)}": words | {"valid regex": check["pattern"]}}
        case "one_of":
            return {f"invalid_percent({name}) <= {percent_of(check)}": words | {"valid values": check["values"]}}
        case "range":
            limits = {"valid min": check["low"], "valid max": check["high"]}
            return {f"invalid_percent({name}) <= {percent_of(check)}": words | limits}
        case "stddev" | "distinct" | "quantile":  # Soda has no such metrics on Spark, but metrics of one's own
            own = f"{kind}_{check['id']}"
            return {f"{own} {bounds_of(check)}": words | {f"{own} expression": expression_of(check)}}
    raise ValueError(kind)


def expression_of(check: Check) -> str:
    match check["kind"]:
        case "stddev":
            return f"stddev_pop({check['column']})"
        case "distinct":
            return f"approx_count_distinct({check['column']})"
    return f"percentile_approx({check['column']}, {check['q']}, 1000)"


def bounds_of(check: Check) -> str:
    low, high = check["between"]
    if low is None or high is None:
        return f"<= {high}" if low is None else f">= {low}"
    return f"= {low}" if low == high else f"between {low} and {high}"


def percent_of(check: Check) -> float:
    """Where a check is about the share that is right, Soda's is about the percentage that is not."""
    return round(100 * (1 - check["between"][0]), 6)


def prepare_checks(spark: SparkSession, request: Request) -> Step:
    frame = open_table(spark, request)
    frame.createOrReplaceTempView(TABLE)
    written = json.dumps(
        {f"checks for {TABLE}": [line_of(check) for check in request["checks"] if can_say(check)]}
    )  # JSON is YAML

    def execute(_: int) -> dict[str, Any]:
        scan = Scan()
        scan.disable_telemetry()
        scan.set_data_source_name("spark")
        scan.add_spark_session(spark, data_source_name="spark")
        scan.add_sodacl_yaml_str(written)
        scan.execute()
        if not scan._checks:
            raise RuntimeError(f"nothing was checked: {scan.get_error_logs_text()}")
        found = {check["name"]: check for check in scan.get_scan_results()["checks"]}
        return {"answers": [_answer(check, found.get(check["id"])) for check in request["checks"]]}

    return execute


def _answer(check: Check, result: dict[str, Any] | None) -> dict[str, Any]:
    if not can_say(check):
        return {"id": check["id"], "passed": None, "cannot": OTHER_SHARE}
    if result is None or result["outcome"] not in ("pass", "fail"):
        return {"id": check["id"], "passed": None, "cannot": "was not evaluated"}
    told: dict[str, Any] = {"id": check["id"], "passed": result["outcome"] == "pass"}
    value = result.get("diagnostics", {}).get("value")
    if check["kind"] in (*METRICS, "stddev", "distinct", "quantile") and value is not None:
        told["value"] = float(value)
    return told


NO_STATES = "Soda keeps no states: to know the whole it reads all parts again."

if __name__ == "__main__":
    serve(
        {"checks": prepare_checks},
        {
            "states": NO_STATES,
            "append": NO_STATES,
            "replace": NO_STATES,
            "profile": "Soda shows profiles in its cloud service only.",
            "suggestions": "Soda Core suggests checks only in a dialogue at a terminal, for tables of a database.",
            "failing_rows": "Soda sends samples of failing rows to its cloud service, and gives no table of them.",
        },
        ("soda-core-spark-df", "pyspark"),
    )
