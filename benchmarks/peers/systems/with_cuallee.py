# /// script
# requires-python = "==3.11.*"
# dependencies = ["cuallee==0.15.4", "pyspark==4.1.4", "pandas>=2.2,<3", "pyarrow"]
# ///
"""cuallee: rules that are observed while Spark counts the rows."""

from __future__ import annotations

from typing import Any

from cuallee import Check as Rules
from cuallee import CheckLevel
from pyspark.sql import SparkSession
from serving import Request, Step, open_table, serve

Check = dict[str, Any]
EXACT_ONLY = {
    "rows": "has no rule about the number of rows",
    "mean": "has_mean asks for one exact value, not for a range",
    "stddev": "has_std asks for one exact value, not for a range",
    "distinct": "has_cardinality asks for one exact value, not for a range",
    "quantile": "has_percentile asks for one exact value, not for a range",
}


def add_rule(rules: Rules, check: Check) -> None:
    name, (low, high) = check["column"], check["between"]
    match check["kind"]:
        case "complete":
            rules.is_complete(name, pct=low)
        case "unique":
            rules.is_unique(name, pct=low)
        case "pattern":
            rules.has_pattern(name, check["pattern"], pct=low)
        case "one_of":
            rules.is_contained_in(name, tuple(check["values"]), pct=low)
        case "range":
            rules.satisfies(name, f"`{name}` IS NULL OR `{name}` BETWEEN {check['low']} AND {check['high']}", pct=low)
        case "min":
            rules.satisfies(name, f"`{name}` IS NULL OR `{name}` >= {low}")
        case "max":
            rules.satisfies(name, f"`{name}` IS NULL OR `{name}` <= {high}")
        case "min_length":
            rules.satisfies(name, f"`{name}` IS NULL OR length(`{name}`) >= {low}")
        case "max_length":
            rules.satisfies(name, f"`{name}` IS NULL OR length(`{name}`) <= {high}")


def prepare_checks(spark: SparkSession, request: Request) -> Step:
    frame = open_table(spark, request)
    able = [check for check in request["checks"] if check["kind"] not in EXACT_ONLY]

    def validate(_: int) -> dict[str, Any]:
        rules = Rules(CheckLevel.ERROR, "all")
        for check in able:
            add_rule(rules, check)
        assert len(rules.rules) == len(able), "two rules are one for cuallee"
        rows = sorted(rules.validate(frame).collect(), key=lambda row: row.id)
        answers = [{"id": check["id"], "passed": row.status == "PASS"} for check, row in zip(able, rows, strict=True)]
        for check in request["checks"]:
            if check["kind"] in EXACT_ONLY:
                answers.append({"id": check["id"], "passed": None, "cannot": EXACT_ONLY[check["kind"]]})
        return {"answers": answers}

    return validate


NO_STATES = "cuallee keeps no states: to know the whole it reads all parts again."

if __name__ == "__main__":
    serve(
        {"checks": prepare_checks},
        {
            "states": NO_STATES,
            "append": NO_STATES,
            "replace": NO_STATES,
            "profile": "cuallee has no profile of Spark tables.",
            "suggestions": "cuallee suggests only which columns are complete, and no other rules.",
            "failing_rows": "cuallee counts violations and gives no rows.",
        },
        ("cuallee", "pyspark"),
    )
