# /// script
# requires-python = "==3.11.*"
# dependencies = ["headgate", "pyspark==4.1.4", "pandas>=2.2,<3"]
#
# [tool.uv.sources]
# headgate = { path = "../../..", editable = true }
# ///
"""Headgate as it stands in this repository."""

from __future__ import annotations

from typing import Any

from pyspark.sql import DataFrame, SparkSession
from serving import Request, Step, count_rows, open_table, scratch_folder, serve

import headgate as hg

Check = dict[str, Any]


def constraint(check: Check) -> hg.Check:
    """A check of its own for each, so that its judgement is found again by its id."""
    made, name = hg.Check(check["id"]), check.get("column", "")
    low, high = check["between"]
    bounds = {key: value for key, value in (("at_least", low), ("at_most", high)) if value is not None}
    if len(bounds) == 2:
        bounds = {"between": (low, high)}
    match check["kind"]:
        case "rows":
            return made.has_size(**bounds)
        case "complete":
            return made.has_completeness(name, **bounds)
        case "unique":
            return made.has_uniqueness(name, **bounds)
        case "min_length" | "max_length" | "min" | "max" | "mean" | "stddev":
            return getattr(made, f"has_{check['kind']}")(name, **bounds)
        case "distinct":
            return made.has_approx_count_distinct(name, **bounds)
        case "quantile":
            return made.has_approx_quantile(name, q=check["q"], **bounds)
        case "pattern":
            return made.has_pattern(name, check["pattern"], at_least=low)
        case "one_of":
            return made.is_contained_in(name, check["values"], at_least=low)
        case "range":
            return made.is_in_range(name, check["low"], check["high"], at_least=low)
    raise ValueError(check["kind"])


def constraints(request: Request) -> list[hg.Check]:
    return [constraint(check) for check in request["checks"]]


def prepare_states(spark: SparkSession, request: Request) -> Step:
    frame = open_table(spark, request)
    return lambda _: {"metrics": len(hg.analyze(frame).outcomes)}


def prepare_checks(spark: SparkSession, request: Request) -> Step:
    frame = open_table(spark, request)

    def verify(_: int) -> dict[str, Any]:
        verdict = hg.verify(frame, constraints(request))
        return {"answers": [describe(judged.check, judged.judgement) for judged in verdict.judged]}

    return verify


def describe(check: str, judgement: Any) -> dict[str, Any]:
    """A status that is neither a pass nor a failure is told with its reason."""
    passed = {"pass": True, "fail": False}.get(judgement.status.value)
    told = {"id": check, "value": judgement.value, "passed": passed}
    return told if passed is not None else told | {"cannot": judgement.reason}


def prepare_profile(spark: SparkSession, request: Request) -> Step:
    frame = open_table(spark, request)

    def profile(_: int) -> dict[str, Any]:
        found = hg.profile(frame)
        return {"profile": {name: summarize(column) for name, column in found.items()}}

    return profile


def summarize(column: Any) -> dict[str, float]:
    found = {"complete": column.present / column.rows, "distinct": column.distinct}
    if column.numbers and column.has_numbers and column.lengths is None:
        numbers = column.numbers
        found |= {"min": numbers.low, "max": numbers.high, "mean": numbers.mean, "stddev": numbers.stddev}
    if column.lengths:
        found |= {"min_length": column.lengths.low, "max_length": column.lengths.high}
    return {name: float(value) for name, value in found.items()}


def prepare_suggestions(spark: SparkSession, request: Request) -> Step:
    frame = open_table(spark, request)
    return lambda _: {"suggestions": len(list(hg.suggest(frame)))}


def read_part(spark: SparkSession, request: Request, at: int) -> DataFrame:
    """One delivery, with the column that names it."""
    path = request["partitions"][at]
    return spark.read.option("basePath", path.rpartition("/")[0]).parquet(path)


def keys_by_id(frame: DataFrame, request: Request) -> dict[str, Any]:
    verdict = hg.verify(frame.limit(100), constraints(request))
    return {judged.check: judged.judgement.expectation.metric for judged in verdict.judged}


def judge_merged(analysis: hg.Analysis, keys: dict[str, Any], request: Request) -> list[dict[str, Any]]:
    found = []
    for check in request["checks"]:
        value = analysis.value(keys[check["id"]])
        low, high = check["between"]
        passed = (low is None or value >= low) and (high is None or value <= high)
        found.append({"id": check["id"], "value": value, "passed": passed})
    return found


def prepare_append(spark: SparkSession, request: Request) -> Step:
    """The states of all parts but the last are kept as one file."""
    kept = scratch_folder("states") / "before.bytes"
    *earlier, last = request["partitions"]
    new = spark.read.parquet(last)
    keys = keys_by_id(new, request)
    metrics = list(dict.fromkeys(keys.values()))
    kept.write_bytes(hg.analyze(spark.read.parquet(*earlier), metrics).to_bytes())

    def append(_: int) -> dict[str, Any]:
        whole = hg.Analysis.from_bytes(kept.read_bytes()) + hg.analyze(new, metrics)
        return {"answers": judge_merged(whole, keys, request)}

    return append


def prepare_replace(spark: SparkSession, request: Request) -> Step:
    """The states of each part are kept, all in one file; the parts come anew in turn."""
    kept = scratch_folder("states") / "parts.bytes"
    parts = [read_part(spark, request, at) for at in range(len(request["partitions"]))]
    keys = keys_by_id(parts[0], request)
    metrics = list(dict.fromkeys(keys.values()))
    root = request["partitions"][0].rpartition("/")[0]
    everything = spark.read.option("basePath", root).parquet(*request["partitions"])
    kept.write_bytes(hg.analyze(everything, metrics, by="day").to_bytes())

    def replace(at: int) -> dict[str, Any]:
        newer = hg.analyze(parts[at % len(parts)], metrics, by="day")
        whole = (hg.Parts.from_bytes(kept.read_bytes()) | newer).view()
        return {"answers": judge_merged(whole, keys, request)}

    return replace


def prepare_failing_rows(spark: SparkSession, request: Request) -> Step:
    frame = open_table(spark, request)

    def find(_: int) -> dict[str, Any]:
        verdict = hg.verify(frame, constraints(request))
        return {"failing_rows": count_rows(verdict.rows(frame))}

    return find


if __name__ == "__main__":
    serve(
        {
            "states": prepare_states,
            "checks": prepare_checks,
            "profile": prepare_profile,
            "suggestions": prepare_suggestions,
            "append": prepare_append,
            "replace": prepare_replace,
            "failing_rows": prepare_failing_rows,
        },
        {},
        ("headgate", "pyspark", "pyarrow", "numpy"),
    )
