# /// script
# requires-python = "==3.11.*"
# dependencies = ["databricks-labs-dqx==0.17.0", "pyspark==4.1.4", "pandas>=2.2,<3", "pyarrow"]
# ///
"""DQX of Databricks Labs, without a workspace: its client is a stand-in, as DQX's own guide to local tests has it.

The Databricks License allows its use in connection with Databricks services only, so it is not among the defaults.
"""

from __future__ import annotations

import json
from typing import Any
from unittest.mock import MagicMock

from databricks.labs.dqx import check_funcs
from databricks.labs.dqx.engine import DQEngine
from databricks.labs.dqx.metrics_observer import DQMetricsObserver
from databricks.labs.dqx.profiler.generator import DQGenerator
from databricks.labs.dqx.profiler.profiler import DQProfiler
from databricks.labs.dqx.rule import DQDatasetRule, DQRowRule
from databricks.sdk import WorkspaceClient
from pyspark.sql import Column, SparkSession
from pyspark.sql import functions as sf
from serving import Request, Step, count_rows, open_table, serve

Check = dict[str, Any]
EVERY_ROW = {"sample_fraction": 1.0, "limit": None}  # by default it profiles 1,000 rows
NO_SHARE_OF_UNIQUE = "is_unique holds of every row; a share of unique values cannot be asked for"


def rule_of(check: Check) -> list[Any] | str:
    """The rules that say a check, or why there are none. A range of an aggregate takes two."""
    name, kind = check.get("column", ""), check["kind"]
    low, high = check["between"]
    if kind == "unique" and low < 1.0:
        return NO_SHARE_OF_UNIQUE
    if kind == "unique":
        return [DQDatasetRule(name=check["id"], check_func=check_funcs.is_unique, columns=[name])]
    if low == 1.0 and (row_rule := _row_rule(check)):
        return [row_rule]
    column, aggregate, params = _aggregate_of(check)
    rules = []
    for side, limit, function in (
        ("low", low, check_funcs.is_aggr_not_less_than),
        ("high", high, check_funcs.is_aggr_not_greater_than),
    ):
        if limit is not None and not (kind in ("complete", "pattern", "one_of", "range") and side == "high"):
            asked = {"aggr_type": aggregate, "limit": limit} | ({"aggr_params": params} if params else {})
            title = f"{check['id']}_{side}"
            rules.append(DQDatasetRule(name=title, check_func=function, column=column, check_func_kwargs=asked))
    return rules


def _row_rule(check: Check) -> Any:
    name = check.get("column", "")
    match check["kind"]:
        case "complete":
            return DQRowRule(name=check["id"], check_func=check_funcs.is_not_null, column=name)
        case "pattern":
            words = {"regex": check["pattern"]}
            return DQRowRule(name=check["id"], check_func=check_funcs.regex_match, column=name, check_func_kwargs=words)
        case "one_of":
            words = {"allowed": check["values"]}
            return DQRowRule(name=check["id"], check_func=check_funcs.is_in_list, column=name, check_func_kwargs=words)
        case "range":
            words = {"min_limit": check["low"], "max_limit": check["high"]}
            return DQRowRule(name=check["id"], check_func=check_funcs.is_in_range, column=name, check_func_kwargs=words)
    return None


def _aggregate_of(check: Check) -> tuple[str | Column, str, dict[str, Any]]:
    name = check.get("column", "")
    column = sf.col(name) if name else sf.lit(1)
    match check["kind"]:
        case "rows":
            return "*", "count", {}
        case "complete":
            return column.isNotNull().cast("double"), "avg", {}
        case "mean":
            return name, "avg", {}
        case "stddev":
            return name, "stddev_pop", {}
        case "min" | "max":
            return name, check["kind"], {}
        case "min_length" | "max_length":
            return sf.length(column), check["kind"][:3], {}
        case "distinct":
            return name, "approx_count_distinct", {}
        case "quantile":
            return name, "approx_percentile", {"percentile": check["q"]}
        case "pattern":
            return column.rlike(check["pattern"]).cast("double"), "avg", {}
        case "one_of":
            return column.isin(check["values"]).cast("double"), "avg", {}
        case "range":
            return column.between(check["low"], check["high"]).cast("double"), "avg", {}
    raise ValueError(check["kind"])


def make_client() -> Any:
    return MagicMock(spec=WorkspaceClient)


def prepare_checks(spark: SparkSession, request: Request) -> Step:
    frame = open_table(spark, request)

    def apply(_: int) -> dict[str, Any]:
        rules = {check["id"]: rule_of(check) for check in request["checks"]}
        known = [rule for found in rules.values() if not isinstance(found, str) for rule in found]
        engine = DQEngine(make_client(), spark, observer=DQMetricsObserver())
        judged, observation = engine.apply_checks(frame, known)
        judged.write.format("noop").mode("overwrite").save()
        counts = {one["check_name"]: one["error_count"] for one in json.loads(observation.get["check_metrics"])}
        return {"answers": [_answer(key, found, counts) for key, found in rules.items()]}

    return apply


def _answer(key: str, found: list[Any] | str, counts: dict[str, int]) -> dict[str, Any]:
    if isinstance(found, str):
        return {"id": key, "passed": None, "cannot": found}
    return {"id": key, "passed": all(counts[rule.name] == 0 for rule in found)}


def prepare_failing_rows(spark: SparkSession, request: Request) -> Step:
    frame = open_table(spark, request)

    def split(_: int) -> dict[str, Any]:
        rules = [rule for check in request["checks"] for rule in rule_of(check)]
        _, bad = DQEngine(make_client(), spark).apply_checks_and_split(frame, rules)
        return {"failing_rows": count_rows(bad)}

    return split


def prepare_profile(spark: SparkSession, request: Request) -> Step:
    frame = open_table(spark, request)

    def profile(_: int) -> dict[str, Any]:
        found, _profiles = DQProfiler(make_client(), spark).profile(frame, options=EVERY_ROW)
        return {"profile": {name: _summarize(figures) for name, figures in found.items()}}

    return profile


def _summarize(figures: dict[str, Any]) -> dict[str, float]:
    found = {}
    if figures.get("count"):
        found["complete"] = float(figures["count_non_null"]) / float(figures["count"])
    for name in ("min", "max", "mean", "stddev"):
        if isinstance(figures.get(name), int | float):
            found[name] = float(figures[name])
    return found


def prepare_suggestions(spark: SparkSession, request: Request) -> Step:
    frame = open_table(spark, request)

    def suggest(_: int) -> dict[str, Any]:
        client = make_client()
        _figures, profiles = DQProfiler(client, spark).profile(frame, options=EVERY_ROW)
        return {"suggestions": len(DQGenerator(client, spark).generate_dq_rules(profiles))}

    return suggest


NO_STATES = "DQX keeps no states: to know the whole it reads all parts again."

if __name__ == "__main__":
    serve(
        {
            "checks": prepare_checks,
            "failing_rows": prepare_failing_rows,
            "profile": prepare_profile,
            "suggestions": prepare_suggestions,
        },
        {"states": NO_STATES, "append": NO_STATES, "replace": NO_STATES},
        ("databricks-labs-dqx", "pyspark"),
    )
