"""The engine on Spark, classic or Connect: select, fold every task's batches, merge on the cluster, collect. One job."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T

from headgate.analyzers.base.metric import Metric
from headgate.engine.plan import EVERY_ROW, Plan, make_plan
from headgate.engine.scan import gather
from headgate.engine.spark_ship import explained, missing_module, ship
from headgate.engine.spark_session import Report, described, is_connect, settings, shuffles, watched
from headgate.engine.spark_tasks import PIECES, ROW, Row, fold_task, merge_task
from headgate.values.codec import unpack_state
from headgate.values.key import MetricKey
from headgate.values.outcome import Failed
from headgate.values.schema import Kind, Schema
from headgate.values.state import State

States = dict[MetricKey, State]
Failures = dict[MetricKey, Failed]

_BATCH_BYTES = 16 << 20
_CELL_BYTES = {Kind.STRING: 24, Kind.BINARY: 64, Kind.BOOLEAN: 1, Kind.OTHER: 1}
_STATES_A_MERGE = 64  # states merged by one task, about
_SEARCHES = 40  # jobs spent on finding out which column or predicate breaks a scan

_KINDS: tuple[tuple[type[T.DataType], Kind], ...] = (
    (T.BooleanType, Kind.BOOLEAN),
    (T.IntegralType, Kind.INTEGER),
    (T.DecimalType, Kind.DECIMAL),
    (T.FractionalType, Kind.FLOAT),
    (T.StringType, Kind.STRING),
    (T.CharType, Kind.STRING),
    (T.VarcharType, Kind.STRING),
    (T.DateType, Kind.DATE),
    (T.TimestampType, Kind.TIMESTAMP),
    (T.TimestampNTZType, Kind.TIMESTAMP),
    (T.BinaryType, Kind.BINARY),
)


def open_spark(data: DataFrame) -> Schema:
    """The schema of a DataFrame."""
    return Schema.of((field.name, _kind(field.dataType), field.dataType.simpleString()) for field in data.schema.fields)


def run_spark(data: DataFrame, plan: Plan, progress: Report | None) -> tuple[States, Failures]:
    """One job for all states; if it breaks, a few more to find what breaks it, so that the rest is not lost."""
    plan = _understood(data, plan)
    if not plan.folds:
        return {}, plan.failed
    try:
        return _run_shipping(data, plan, progress)
    except Exception as trouble:
        return _Search(data, progress, trouble).without_what_breaks(plan)


def _run_shipping(data: DataFrame, plan: Plan, report: Report | None) -> tuple[States, Failures]:
    """The job, and once more with our code sent along if the executors turn out to lack it."""
    try:
        return _run(data, plan, report)
    except Exception as trouble:
        if missing_module(trouble).partition(".")[0] != "headgate":
            raise
        ship(data.sparkSession)
        return _run(data, plan, report)


def _run(data: DataFrame, plan: Plan, report: Report | None) -> tuple[States, Failures]:
    spark = data.sparkSession
    title = f"headgate: {len(plan.metrics)} metrics of {len(plan.columns)} columns"
    wanted = {"spark.sql.execution.arrow.maxRecordsPerBatch": str(_rows_at_once(plan))}
    if not shuffles(data):
        # nothing in the caller's plan to adapt; without adaptive execution the scan and the merge are one job
        wanted["spark.sql.adaptive.enabled"] = "false"
    merged = (
        _selected(data, plan, title)
        .mapInArrow(fold_task(plan), ROW)
        .repartition(_merge_tasks(plan), "slot", "piece")
        .mapInArrow(merge_task(plan), ROW)
    )
    with settings(spark, wanted), described(spark, title), watched(spark, report):
        rows = merged.collect()
    return _outcome(plan, [Row(row.slot, row.piece, row.tag, bytes(row.state), row.error) for row in rows])


def _selected(data: DataFrame, plan: Plan, title: str) -> DataFrame:
    """The plan's columns and predicates under names of our own: the caller's may be doubled or hold any character."""
    tests = [F.expr(text).cast("boolean") for text in plan.predicates]
    every = data.select("*", *tests)
    width = len(plan.schema.columns)
    named = every.toDF(*(f"c{at}" for at in range(width + len(tests))))
    columns = [_passed(f"c{at}", plan.schema.columns[at].kind) for at in plan.columns]
    chosen = named.select(*columns, *(F.col(f"c{width + at}") for at in range(len(tests))))
    return chosen.alias(title) if is_connect(data.sparkSession) else chosen


def _passed(name: str, kind: Kind) -> Any:
    """A column as folds get it; of nested and exotic types only whether a value is there."""
    if kind is Kind.OTHER:
        return F.when(F.col(name).isNotNull(), F.lit(True)).alias(name)
    return F.col(name)


def _outcome(plan: Plan, rows: Sequence[Row]) -> tuple[States, Failures]:
    parts: dict[int, list[State]] = {}
    failed = dict(plan.failed)
    broken = {row.slot: row.error for row in rows if row.error is not None}
    for row in rows:
        if row.error is None and row.slot not in broken:
            parts.setdefault(row.slot, []).append(unpack_state(row.state, row.tag))
    states = {plan.folds[slot].metric.state_key: gather(pieces) for slot, pieces in parts.items()}
    wrong = {plan.folds[slot].metric.state_key: why for slot, why in broken.items()}
    failed |= {each.key: Failed(wrong[each.state_key]) for each in plan.metrics if each.state_key in wrong}
    return {key: state for key, state in states.items() if state is not None}, failed


def _understood(data: DataFrame, plan: Plan) -> Plan:
    """The plan less the metrics whose predicates Spark cannot resolve."""
    texts = [text for text in plan.predicates if text != EVERY_ROW]
    if not texts or not _unresolved(data, texts):
        return plan
    for text in texts:
        why = _unresolved(data, [text])
        if why:
            plan = plan.without(text, f"the predicate {text!r} cannot be resolved: {why}")
    return plan


def _unresolved(data: DataFrame, texts: Sequence[str]) -> str:
    """Why Spark cannot resolve one of these, if it cannot. Analysis only; no job."""
    try:
        kinds = [field.dataType for field in data.select(*(F.expr(text) for text in texts)).schema.fields]
    except Exception as trouble:
        return _first_line(trouble)
    odd = [kind.simpleString() for kind in kinds if not isinstance(kind, T.BooleanType)]
    return f"it gives {odd[0]}, not boolean" if odd else ""


class _Search:
    """After a scan broke: halve the columns and predicates until what breaks stands alone, and fail only that."""

    def __init__(self, data: DataFrame, report: Report | None, first: Exception) -> None:
        self.data = data
        self.report = report
        self.first = first
        self.left = _SEARCHES

    def without_what_breaks(self, plan: Plan) -> tuple[States, Failures]:
        try:
            _run(self.data, make_plan(plan.schema, ["size()"]), self.report)
        except Exception as trouble:
            raise explained(trouble, _first_line(trouble)) from trouble
        return self._halved(plan, self.first)

    def _halved(self, plan: Plan, trouble: Exception) -> tuple[States, Failures]:
        groups = _by_inputs(plan)
        if len(groups) == 1 or self.left <= 0:
            why = _first_line(trouble)
            return {}, plan.failed | {each.key: Failed(why) for group in groups for each in group}
        states: States = {}
        failed: Failures = dict(plan.failed)
        for half in (groups[: len(groups) // 2], groups[len(groups) // 2 :]):
            part = make_plan(plan.schema, [each for group in half for each in group])
            self.left -= 1
            try:
                found, lost = _run(self.data, part, self.report)
            except Exception as again:
                found, lost = self._halved(part, again)
            states |= found
            failed |= lost
        return states, failed


def _by_inputs(plan: Plan) -> list[list[Metric[Any]]]:
    groups: dict[tuple[Any, ...], list[Metric[Any]]] = {}
    for each in plan.metrics:
        if each.key not in plan.failed:
            groups.setdefault((each.inputs, each.predicates, each.where), []).append(each)
    return list(groups.values())


def _kind(kind: T.DataType) -> Kind:
    return next((answer for test, answer in _KINDS if isinstance(kind, test)), Kind.OTHER)


def _rows_at_once(plan: Plan) -> int:
    """Rows of an Arrow batch: by bytes, not by a fixed number, so that wide tables get fewer."""
    row = sum(_CELL_BYTES.get(kind, 8) for kind in plan.kinds)
    return max(1_000, min(64_000, _BATCH_BYTES // max(1, row)))


def _merge_tasks(plan: Plan) -> int:
    wide = any(type(fold.metric.state()).pieces is not State.pieces for fold in plan.folds)
    return max(PIECES // 4 if wide else 1, -(-len(plan.folds) // _STATES_A_MERGE))


def _first_line(trouble: Exception) -> str:
    text = str(trouble).strip()
    return (text.splitlines()[0] if text else type(trouble).__name__)[:500]
