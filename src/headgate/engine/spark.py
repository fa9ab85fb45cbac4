"""The engine on Spark, classic or Connect: select, fold each task's batches, merge on the cluster, collect. One job."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from headgate.engine.part import Part, read_part
from headgate.engine.parted_scan import ScanResult
from headgate.engine.plan import EVERY_ROW, Plan, make_plan
from headgate.engine.scan import grows
from headgate.engine.spark_code import explain_failure, missing_module, ship_code
from headgate.engine.spark_frame import look_up_rows, unknown_name, without_missing_tables
from headgate.engine.spark_groups import gather_pieces, merge_tables, write_kept
from headgate.engine.spark_session import (
    Report,
    apply_settings,
    describe_jobs,
    has_shuffle,
    is_connect,
    report_progress,
)
from headgate.engine.spark_tasks import PIECES, ROW, Row, fold_task, merge_task
from headgate.metrics.base.metric import Metric
from headgate.metrics.base.sql import close_comment, join_tests
from headgate.metrics.states.kept import KeptGroups
from headgate.values.errors import EngineError, did_you_mean
from headgate.values.key import MetricKey
from headgate.values.outcome import Failed
from headgate.values.schema import Column, Kind, Schema
from headgate.values.state import State

_BATCH_BYTES = 64 << 20
_SPARKS_OWN = 10_000  # rows of a batch
_CELL_BYTES = {Kind.STRING: 24, Kind.BINARY: 64, Kind.BOOLEAN: 1, Kind.OTHER: 1}
_STATES_A_MERGE = 64  # states merged by one task, about
_SEARCHES = 40  # jobs spent on finding out which column or predicate breaks a scan


class SparkBatch(NamedTuple):
    """A DataFrame, and the other tables that its rows are looked up in."""

    data: DataFrame
    tables: Mapping[str, Any] = {}


def run_spark(batch: SparkBatch, plan: Plan, progress: Report | None) -> ScanResult:
    """One job for all states; if it breaks, a few more to find what breaks it, so that the rest is not lost."""
    plan = without_missing_tables(_without_unresolvable(batch.data, plan), batch.tables)
    if not plan.folds:
        return ScanResult({} if plan.by else {(): {}}, plan.failed)
    try:
        return _run_again(batch, plan, progress)
    except Exception as trouble:
        return _Bisection(batch, progress, trouble).without_what_breaks(plan)


def _run_again(batch: SparkBatch, plan: Plan, report: Report | None) -> ScanResult:
    """The job; if it breaks, once more: with our code sent along if that is lacking, else with Spark's own batches."""
    try:
        return _run(batch, plan, report)
    except Exception as trouble:
        if missing_module(trouble).partition(".")[0] == "headgate":
            ship_code(batch.data.sparkSession)
            return _run(batch, plan, report)
        return _run(batch, plan, report, own_batch_sizes=False)


def _run(batch: SparkBatch, plan: Plan, report: Report | None, own_batch_sizes: bool = True) -> ScanResult:
    data = batch.data
    spark = data.sparkSession
    keys = ", ".join(plan.schema.columns[at].label for at in plan.by)
    title = f"headgate: {len(plan.metrics)} metrics of {len(plan.columns)} columns" + (f", by {keys}" if keys else "")
    wanted = batch_settings(plan) if own_batch_sizes else {}
    if not plan.memberships and not has_shuffle(data):
        # nothing in the plan to adapt; without adaptive execution the scan and the merge are one job
        wanted["spark.sql.adaptive.enabled"] = "false"
    folded = _select_inputs(batch, plan).mapInArrow(fold_task(plan), ROW)
    merged = _gather_rows(folded, plan).mapInArrow(merge_task(plan, shrink=not plan.keep), ROW)
    with apply_settings(spark, wanted), describe_jobs(spark, title), report_progress(spark, report):
        if plan.keep:
            return _outcome(plan, *write_kept(merged, plan.keep))
        return _outcome(plan, [Row(*row) for row in merged.collect()])


def _gather_rows(folded: DataFrame, plan: Plan) -> DataFrame:
    """The rows of one state or piece in one task, those of one part of the batch one after the other."""
    gathered = folded.repartition(_merge_tasks(plan, folded.sparkSession), "part", "slot", "piece")
    return gathered.sortWithinPartitions("part") if plan.by else gathered


def _select_inputs(batch: SparkBatch, plan: Plan) -> DataFrame:
    """The plan's columns and predicates under names of our own: the caller's may be doubled or hold any character."""
    # expressions as text, because pyspark's functions are for one kind of session and a process may have both
    every = batch.data.selectExpr("*", *plan.predicates)
    width = len(plan.schema.columns)
    named = every.toDF(*(f"c{at}" for at in range(width + len(plan.predicates))))
    places = plan.schema.positions()
    for at, test in enumerate(plan.memberships):
        columns = [f"c{places[name]}" for name in test.columns]
        named = look_up_rows(named, columns, test, plan.schema, batch.tables[test.table], f"m{at}")
    keys = [f"CAST(c{at} AS STRING) AS k{at}" for at in plan.by]
    columns = [_select_column(f"c{at}", plan.schema.columns[at]) for at in plan.columns]
    met = [f"c{width + at}" for at in range(len(plan.predicates))]
    return named.selectExpr(*keys, *columns, *met, *(f"m{at}" for at in range(len(plan.memberships))))


def _select_column(name: str, column: Column) -> str:
    """A column as folds get it; of nested and exotic types only whether a value is there."""
    if column.empty:
        return f"CAST({name} AS STRING) AS {name}"
    return f"CASE WHEN {name} IS NOT NULL THEN true END AS {name}" if column.kind is Kind.OTHER else name


def _outcome(plan: Plan, rows: Sequence[Row], folder: str = "") -> ScanResult:
    pieces: dict[tuple[str, int], list[Row]] = {}
    broken = {row.slot: row.error for row in rows if row.error is not None}
    for row in rows:
        if row.error is None and row.slot not in broken:
            pieces.setdefault((row.part, row.slot), []).append(row)
    states: dict[Part, dict[MetricKey, State]] = {} if plan.by else {(): {}}
    for (part, slot), found in pieces.items():
        state = gather_pieces(found, folder)
        states.setdefault(read_part(part), {})[plan.folds[slot].metric.state_key] = state
    wrong = {plan.folds[slot].metric.state_key: why for slot, why in broken.items()}
    lost = {each.key: Failed(wrong[each.state_key]) for each in plan.metrics if each.state_key in wrong}
    return ScanResult(states, plan.failed | lost)


def merge_kept(
    spark: SparkSession,
    schema: Schema,
    metrics: Sequence[Metric[Any]],
    states: Mapping[MetricKey, State],
    failed: Mapping[MetricKey, Failed],
) -> ScanResult:
    """The states of an analysis that are kept as files, merged by Spark; and the metrics for which that failed."""
    kept = {key: state for key, state in states.items() if isinstance(state, KeptGroups)}
    plan = make_plan(schema, [each for each in metrics if each.state_key in kept and each.key not in failed])
    if not plan.folds:
        return ScanResult({(): {}}, {})
    tables = [kept[fold.metric.state_key] for fold in plan.folds]
    try:
        return _outcome(plan, merge_tables(spark, plan, tables, _merge_tasks(plan, spark)))
    except PySparkException as trouble:
        folders = ", ".join(sorted({table.folder.rpartition("/")[0] for each in tables for table in each.tables}))
        raise EngineError(
            f"the frequency tables under {folders} could not be merged: {_first_line(trouble)}",
            hint="They must still be there; if not, analyze those partitions again.",
        ) from trouble


def _without_unresolvable(data: DataFrame, plan: Plan) -> Plan:
    """The plan less the metrics whose predicates Spark cannot resolve."""
    texts = [text for text in plan.predicates if text != EVERY_ROW]
    for text in texts:
        strange = unknown_name(text, plan.schema)
        if strange:
            hint = did_you_mean(strange, plan.schema.labels)
            plan = plan.without(text, f"the predicate {text!r} names the column {strange!r}; {hint}")
    texts = [text for text in plan.predicates if text != EVERY_ROW]
    if not texts or not _why_unresolvable(data, texts):
        return plan
    for text in texts:
        why = _why_unresolvable(data, [text])
        if why:
            plan = plan.without(text, f"the predicate {text!r} cannot be resolved: {why}")
    return plan


def _why_unresolvable(data: DataFrame, texts: Sequence[str]) -> str:
    """Why Spark cannot take one of these as a row predicate, if it cannot. Analysis only; no job.

    Asked as filters, because a filter takes neither a generator nor an aggregate, which would change the rows.
    """
    try:
        # Connect takes the schema of a filter to be that of its input, and asks the server only about a select
        _ = data.filter(join_tests("AND", [f"({close_comment(text)})" for text in texts])).selectExpr("1").schema
    except Exception as trouble:
        return _first_line(trouble)
    return ""


class _Bisection:
    """After a scan broke: halve the columns and predicates until what breaks stands alone, and fail only that."""

    def __init__(self, batch: SparkBatch, report: Report | None, first: Exception) -> None:
        self.batch = batch
        self.report = report
        self.first = first
        self.left = _SEARCHES

    def without_what_breaks(self, plan: Plan) -> ScanResult:
        try:
            _run(self.batch, make_plan(plan.schema, ["size()"]), self.report)
        except Exception as trouble:
            raise explain_failure(trouble, _first_line(trouble)) from trouble
        return self._bisect(plan, self.first)

    def _bisect(self, plan: Plan, trouble: Exception) -> ScanResult:
        groups = _by_inputs(plan)
        if len(groups) == 1 or self.left <= 0:
            why = _first_line(trouble)
            return ScanResult({}, plan.failed | {each.key: Failed(why) for group in groups for each in group})
        states: dict[Part, dict[MetricKey, State]] = {}
        failed = dict(plan.failed)
        for half in (groups[: len(groups) // 2], groups[len(groups) // 2 :]):
            part = plan.of([each for group in half for each in group])
            self.left -= 1
            try:
                found = _run(self.batch, part, self.report)
            except Exception as again:
                found = self._bisect(part, again)
            for name, held in found.states.items():
                states.setdefault(name, {}).update(held)
            failed |= found.failed
        return ScanResult(states, failed)


def _by_inputs(plan: Plan) -> list[list[Metric[Any]]]:
    groups: dict[tuple[Any, ...], list[Metric[Any]]] = {}
    for each in plan.metrics:
        if each.key not in plan.failed:
            groups.setdefault((each.inputs, each.predicates, each.memberships, each.where), []).append(each)
    return list(groups.values())


def batch_settings(plan: Plan) -> dict[str, str]:
    """Arrow batches by bytes, so that wide tables get fewer rows, but no fewer than Spark itself would send.

    Since 4.0 Spark sums up the bytes of all columns after every row to keep to a limit, which costs much of the
    transfer (decision 0009); a bound on rows does for values of ordinary size. Where values are so large that it does
    not, the job breaks and is run again with Spark's settings.
    """
    row = sum(_CELL_BYTES.get(kind, 8) for kind in plan.kinds)
    most = 25_000 if {Kind.STRING, Kind.BINARY} & set(plan.kinds) else 64_000
    return {
        "spark.sql.execution.arrow.maxRecordsPerBatch": str(max(_SPARKS_OWN, min(most, _BATCH_BYTES // max(1, row)))),
        "spark.sql.execution.arrow.maxBytesPerBatch": str(2**31 - 1),
    }


def _merge_tasks(plan: Plan, spark: SparkSession) -> int:
    """How many tasks merge: more for more states, but no more than the cluster can run in two waves."""
    wide = any(grows(fold.metric.state) for fold in plan.folds)
    wanted = max(PIECES // 4 if wide or plan.by else 1, -(-len(plan.folds) // _STATES_A_MERGE))
    return min(wanted, PIECES if is_connect(spark) else 2 * spark.sparkContext.defaultParallelism)


_JAVA_CALL = re.compile(r"^An error occurred while calling \S+\n: ")
_PYTHON_ERROR = re.compile(r"^Traceback .*\n(?:[ \t].*\n)+(\S.*)$", re.MULTILINE)


def _first_line(trouble: Exception) -> str:
    """What went wrong in one line; of an error in a Python worker or in Java, the line that names it."""
    text = _JAVA_CALL.sub("", str(trouble).strip())
    lines = _PYTHON_ERROR.findall(text)[-1:] or text.splitlines()[:1] or [type(trouble).__name__]
    return str(lines[0])[:500]
