# /// script
# requires-python = "==3.11.*"
# dependencies = ["pointblank==1.1.1", "pyspark==4.1.4", "pandas>=2.2,<3", "pyarrow"]
# ///
"""Pointblank: a plan of steps, through narwhals on a Spark DataFrame."""

from __future__ import annotations

from typing import Any

import pointblank as pb
from pyspark.sql import SparkSession
from serving import Request, Step, count_rows, open_table, serve

Check = dict[str, Any]
CANNOT = {
    "distinct": "has no step about the number of different values",
    "quantile": "has no step about quantiles",
}


def add_steps(plan: Any, check: Check) -> Any:
    """The steps of one check. Nulls pass wherever another check is about them."""
    name, (low, high) = check.get("column", ""), check["between"]
    match check["kind"]:
        case "rows":
            return plan.row_count_match(count=int(low))
        case "complete":
            return plan.col_vals_not_null(columns=name)
        case "unique":
            return plan.rows_distinct(columns_subset=[name])
        case "pattern":
            return plan.col_vals_regex(columns=name, pattern=check["pattern"], na_pass=True)
        case "one_of":
            return plan.col_vals_in_set(columns=name, set=check["values"])
        case "range":
            return plan.col_vals_between(columns=name, left=check["low"], right=check["high"], na_pass=True)
        case "min":
            return plan.col_vals_ge(columns=name, value=low, na_pass=True)
        case "max":
            return plan.col_vals_le(columns=name, value=high, na_pass=True)
        case "min_length":
            return plan.col_vals_str_len(columns=name, min_val=int(low), na_pass=True)
        case "max_length":
            return plan.col_vals_str_len(columns=name, max_val=int(high), na_pass=True)
        case "mean":
            return plan.col_avg_ge(columns=name, value=low).col_avg_le(columns=name, value=high)
        case "stddev":
            return plan.col_sd_ge(columns=name, value=low).col_sd_le(columns=name, value=high)
    raise ValueError(check["kind"])


def build_plan(frame: Any, checks: list[Check]) -> tuple[Any, dict[str, list[int]]]:
    """The plan, and which steps of it are which check."""
    plan, places = pb.Validate(data=frame), {}
    for check in checks:
        before = len(plan.validation_info)
        plan = add_steps(plan, check)
        places[check["id"]] = list(range(before + 1, len(plan.validation_info) + 1))
    return plan, places


def prepare_checks(spark: SparkSession, request: Request) -> Step:
    frame = open_table(spark, request)
    able = [check for check in request["checks"] if check["kind"] not in CANNOT]

    def interrogate(_: int) -> dict[str, Any]:
        plan, places = build_plan(frame, able)
        judged = plan.interrogate(collect_extracts=False)
        steps = {step.i: step for step in judged.validation_info}
        answers = [_answer(check, [steps[place] for place in places[check["id"]]]) for check in able]
        for check in request["checks"]:
            if check["kind"] in CANNOT:
                answers.append({"id": check["id"], "passed": None, "cannot": CANNOT[check["kind"]]})
        return {"answers": answers}

    return interrogate


def _answer(check: Check, steps: list[Any]) -> dict[str, Any]:
    if any(step.eval_error for step in steps):
        return {"id": check["id"], "passed": None, "cannot": "an error of evaluation: " + _find_reason(steps)}
    if check["kind"] in ("complete", "unique", "pattern", "one_of", "range"):
        share = steps[0].f_passed
        return {"id": check["id"], "passed": share is not None and share >= check["between"][0]}
    return {"id": check["id"], "passed": all(step.all_passed for step in steps)}


def _find_reason(steps: list[Any]) -> str:
    notes = [note for step in steps for note in (step.notes or {}).values() if step.eval_error]
    return " ".join(str(note.get("text") if isinstance(note, dict) else note) for note in notes)[:200]


def prepare_failing_rows(spark: SparkSession, request: Request) -> Step:
    frame = open_table(spark, request)

    def sunder(_: int) -> dict[str, Any]:
        plan, _places = build_plan(frame, request["checks"])
        bad = plan.interrogate(collect_extracts=False).get_sundered_data(type="fail")
        return {"failing_rows": count_rows(bad)}

    return sunder


def prepare_profile(spark: SparkSession, request: Request) -> Step:
    frame = open_table(spark, request)

    def scan(_: int) -> dict[str, Any]:
        found = pb.DataScan(data=frame)
        return {"profile": {one.colname: _summarize(one) for one in found.profile.column_profiles}}

    return scan


def _summarize(column: Any) -> dict[str, float]:
    found = {}
    for stat in column.statistics:
        name = getattr(stat, "name", "")
        value = getattr(stat, "val", None)
        if name in ("min", "max", "mean") and isinstance(value, int | float):
            found[name] = float(value)
    return found


NO_STATES = "Pointblank keeps no states: to know the whole it reads all parts again."

if __name__ == "__main__":
    serve(
        {"checks": prepare_checks, "failing_rows": prepare_failing_rows, "profile": prepare_profile},
        {
            "states": NO_STATES,
            "append": NO_STATES,
            "replace": NO_STATES,
            "suggestions": "Pointblank drafts plans by asking a language model, which is not asked here.",
        },
        ("pointblank", "narwhals", "pyspark"),
    )
