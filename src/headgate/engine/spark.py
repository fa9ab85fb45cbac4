"""The engine on Spark, classic or Connect: one job that selects, folds in tasks, merges on the cluster and collects."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from headgate.engine.nested import NestedPath
from headgate.engine.parquet_files import ParquetFiles
from headgate.engine.parquet_types import UnlikeSpark
from headgate.engine.part import Part, read_part
from headgate.engine.parted_scan import ScanResult
from headgate.engine.plan import EVERY_ROW, Plan, make_plan
from headgate.engine.scan import grows
from headgate.engine.spark_code import ship_code
from headgate.engine.spark_faults import (
    check_workers,
    fits_smaller_batches,
    missing_module,
    raise_fault,
    summarize_error,
)
from headgate.engine.spark_files import plan_reading
from headgate.engine.spark_frame import find_unknown_names, look_up_rows, without_missing_tables
from headgate.engine.spark_groups import gather_pieces, merge_tables, write_kept
from headgate.engine.spark_nested import add_places, find_places, ignores_case, write_test
from headgate.engine.spark_session import (
    Report,
    describe_jobs,
    has_shuffle,
    report_progress,
)
from headgate.engine.spark_settings import apply_settings
from headgate.engine.spark_tasks import PIECES, ROW, UNREAD, Row, fold_task, merge_task, read_task
from headgate.engine.spark_workers import import_first, is_connect
from headgate.metrics.base.metric import Metric
from headgate.metrics.base.sql import close_comment, join_tests
from headgate.metrics.states.kept import KeptGroups
from headgate.values.errors import EngineError, did_you_mean
from headgate.values.key import MetricKey
from headgate.values.outcome import Failed
from headgate.values.schema import BYTES, Column, Kind, Schema
from headgate.values.state import State

_BATCH_CELLS = 1 << 20  # of a batch of Spark; tasks put small ones together
_BATCH_BYTES = 64 << 20
_WORKER_BYTES = 256 << 20  # a batch of texts of this length must not have more
_LONG_TEXT = 256
_FEWEST_BATCH_ROWS = 500
_STATES_PER_TASK = 64  # states that one task merges, about
_STATES_OF_DRIVER = 4_000  # states of all tasks together, at most, that the driver merges
_MAX_SEARCH_JOBS = 40  # jobs spent on finding the column or predicate that breaks a scan


class SparkBatch(NamedTuple):
    """A DataFrame, the ways to the places inside its nested columns, and other tables to look rows up in."""

    data: DataFrame
    paths: tuple[NestedPath, ...] = ()
    tables: Mapping[str, Any] = {}


def run_spark(batch: SparkBatch, plan: Plan, progress: Report | None) -> ScanResult:
    """Run one job for all states. If the batch breaks it, run a few more to find the cause and compute the rest."""
    plan = without_missing_tables(_without_unresolvable(batch, plan), batch.tables)
    if not plan.folds:
        return ScanResult({} if plan.by else {(): {}}, plan.failed)
    files = plan_reading(batch.data, plan).files
    if files is not None and (result := _try_files(batch, plan, files, progress)) is not None:
        return result
    try:
        return _run_with_retry(batch, plan, progress)
    except Exception as error:
        raise_fault(error, batch.data.sparkSession)
        first = error
    return _Bisection(batch, progress, first).without_what_breaks(plan)


def _try_files(batch: SparkBatch, plan: Plan, files: ParquetFiles, report: Report | None) -> ScanResult | None:
    """The result of a job whose tasks read the files themselves; None if Spark must read them."""
    try:
        return _run_with_code(batch, plan, report, files=files)
    except UnlikeSpark:
        return None
    except Exception as error:
        if not fits_smaller_batches(error):
            raise_fault(error, batch.data.sparkSession)
        return None


def _run_with_retry(batch: SparkBatch, plan: Plan, report: Report | None) -> ScanResult:
    """Run the job, and if it fails again with Spark's batch sizes."""
    try:
        return _run_with_code(batch, plan, report)
    except Exception as error:
        if not fits_smaller_batches(error):
            raise_fault(error, batch.data.sparkSession)
    return _run_with_code(batch, plan, report, own_batch_sizes=False)


def _run_with_code(
    batch: SparkBatch,
    plan: Plan,
    report: Report | None,
    own_batch_sizes: bool = True,
    files: ParquetFiles | None = None,
) -> ScanResult:
    """Run the job, and if executors lack the code of this package again, with the code shipped to them."""
    try:
        return _run(batch, plan, report, own_batch_sizes, files)
    except Exception as error:
        if missing_module(error).partition(".")[0] != "headgate":
            raise
    ship_code(batch.data.sparkSession)
    return _run(batch, plan, report, own_batch_sizes, files)


def _run(
    batch: SparkBatch,
    plan: Plan,
    report: Report | None,
    own_batch_sizes: bool = True,
    files: ParquetFiles | None = None,
) -> ScanResult:
    spark = batch.data.sparkSession
    wanted = batch_settings(plan) if own_batch_sizes else {}
    if files is not None or (not plan.memberships and not has_shuffle(batch.data)):
        # nothing in the plan to adapt; without adaptive execution the scan and the merge are one job
        wanted["spark.sql.adaptive.enabled"] = "false"
    rows = _fold_batch(batch, plan) if files is None else _fold_files(files, plan, spark)
    if files is None or not _fit_in_driver(plan, files):
        rows = _gather_rows(rows, plan).mapInArrow(import_first(merge_task(plan, shrink=not plan.keep)), ROW)
    title = _write_title(plan, files)
    with apply_settings(spark, wanted), describe_jobs(spark, title), report_progress(spark, report):
        if plan.keep:
            return _outcome(plan, *write_kept(rows, plan.keep))
        return _outcome(plan, [Row(*row) for row in rows.collect()])


def _write_title(plan: Plan, files: ParquetFiles | None) -> str:
    """The description of the job in Spark's UI."""
    keys = ", ".join(plan.schema.columns[at].label for at in plan.by)
    source = "" if files is None else f", from {files.count:,} files"
    return (
        f"headgate: {len(plan.metrics)} metrics of {len(plan.columns)} columns"
        + (f", by {keys}" if keys else "")
        + source
    )


def _fold_batch(batch: SparkBatch, plan: Plan) -> DataFrame:
    """The states of each task, which Spark feeds with rows."""
    return _select_inputs(batch, plan).mapInArrow(import_first(fold_task(plan)), ROW)


def _fold_files(files: ParquetFiles, plan: Plan, spark: SparkSession) -> DataFrame:
    """The states of each task, which reads files itself."""
    tasks = len(files.tasks)
    return spark.range(0, tasks, 1, max(1, tasks)).mapInArrow(import_first(read_task(plan, files)), ROW)


def _fit_in_driver(plan: Plan, files: ParquetFiles) -> bool:
    """Whether the driver merges the states of so few tasks sooner than Spark would start tasks that merge them."""
    few = len(files.tasks) * len(plan.folds) <= _STATES_OF_DRIVER
    return few and not (plan.by or plan.keep or any(grows(fold.metric.state) for fold in plan.folds))


def _gather_rows(folded: DataFrame, plan: Plan) -> DataFrame:
    """The rows of one state or piece in one task, sorted by the part of the batch."""
    gathered = folded.repartition(_merge_tasks(plan, folded.sparkSession), "part", "slot", "piece")
    return gathered.sortWithinPartitions("part") if plan.by else gathered


def _select_inputs(batch: SparkBatch, plan: Plan) -> DataFrame:
    """The plan's columns and predicates under our own names: the caller's may repeat or contain any character."""
    # expressions as text, because pyspark's functions work with one kind of session, and a process may have both
    looked_up = {name for test in plan.memberships for name in test.columns}
    places = find_places(plan.schema, {*plan.columns, *plan.by}, looked_up, plan.predicates)
    own = [position for position, column in enumerate(plan.schema.columns) if not column.parent]
    selected = add_places(batch.data, plan.schema, batch.paths, places).selectExpr(
        "*", *(write_test("transform", close_comment(text), plan.schema) for text in plan.predicates)
    )
    names = [f"c{position}" for position in (*own, *places)]
    predicates = [f"p{position}" for position in range(len(plan.predicates))]
    named = selected.toDF(*names, *predicates)
    positions = plan.schema.positions()
    for position, test in enumerate(plan.memberships):
        columns = [f"c{positions[name]}" for name in test.columns]
        named = look_up_rows(named, columns, test, plan.schema, batch.tables[test.table], f"m{position}")
    keys = [f"CAST(c{position} AS STRING) AS k{position}" for position in plan.by]
    columns = [
        _select_column(f"c{position}", plan.schema.columns[position], plan.reads_nested) for position in plan.columns
    ]
    return named.selectExpr(
        *keys, *columns, *predicates, *(f"m{position}" for position in range(len(plan.memberships)))
    )


def _select_column(name: str, column: Column, reads_nested: bool) -> str:
    """A column as folds get it; for nested and exotic types, whether a value is present, or a hash of it."""
    if column.repeated:
        inside = _convert_value("each", column, reads_nested)
        return name if inside == "each" else f"transform({name}, each -> {inside}) AS {name}"
    inside = _convert_value(name, column, reads_nested)
    return name if inside == name else f"{inside} AS {name}"


def _convert_value(name: str, column: Column, reads_nested: bool) -> str:
    if column.empty:
        return f"CAST({name} AS STRING)"
    if ignores_case(column):
        return f"lower({name})"  # equal values are the same, as Spark compares them
    if column.kind is not Kind.OTHER:
        return name
    value = f"xxhash64(CAST({name} AS STRING))" if reads_nested else "true"
    return f"CASE WHEN {name} IS NOT NULL THEN {value} END"


def _outcome(plan: Plan, rows: Sequence[Row], folder: str = "") -> ScanResult:
    pieces: dict[tuple[str, int], list[Row]] = {}
    broken = {row.slot: row.error for row in rows if row.error is not None}
    if UNREAD in broken:
        raise UnlikeSpark(broken[UNREAD])
    for row in rows:
        if row.error is None and row.slot not in broken:
            pieces.setdefault((row.part, row.slot), []).append(row)
    states: dict[Part, dict[MetricKey, State]] = {} if plan.by else {(): {}}
    for (part, slot), piece_rows in pieces.items():
        state = gather_pieces(piece_rows, folder)
        states.setdefault(read_part(part), {})[plan.folds[slot].metric.state_key] = state
    errors = {plan.folds[slot].metric.state_key: why for slot, why in broken.items()}
    lost = {each.key: Failed(errors[each.state_key]) for each in plan.metrics if each.state_key in errors}
    return ScanResult(states, plan.failed | lost)


def merge_kept(
    spark: SparkSession,
    schema: Schema,
    metrics: Sequence[Metric[Any]],
    states: Mapping[MetricKey, State],
    failed: Mapping[MetricKey, Failed],
) -> ScanResult:
    """The states of an analysis that are kept as files, merged by Spark, and the metrics that failed."""
    kept = {key: state for key, state in states.items() if isinstance(state, KeptGroups)}
    plan = make_plan(schema, [each for each in metrics if each.state_key in kept and each.key not in failed])
    if not plan.folds:
        return ScanResult({(): {}}, {})
    tables = [kept[fold.metric.state_key] for fold in plan.folds]
    try:
        return _outcome(plan, merge_tables(spark, plan, tables, _merge_tasks(plan, spark)))
    except PySparkException as error:
        raise_fault(error, spark)
        folders = ", ".join(sorted({table.folder.rpartition("/")[0] for each in tables for table in each.tables}))
        raise EngineError(
            f"the frequency tables under {folders} could not be merged: {summarize_error(error)}",
            hint="They must still be there; if not, analyze those partitions again.",
        ) from error


def _without_unresolvable(batch: SparkBatch, plan: Plan) -> Plan:
    """The plan without the metrics whose predicates Spark cannot resolve."""
    texts = [text for text in plan.predicates if text != EVERY_ROW]
    if not texts:
        return plan
    for text, unknown in find_unknown_names(texts, plan.schema.labels, batch.data.sparkSession).items():
        hint = did_you_mean(unknown, plan.schema.labels)
        plan = plan.without(text, f"the predicate {text!r} names the column {unknown!r}; {hint}")
    texts = [text for text in plan.predicates if text != EVERY_ROW]
    if not texts or not _why_unresolvable(batch, texts, plan.schema):
        return plan
    for text in texts:
        why = _why_unresolvable(batch, [text], plan.schema)
        if why:
            plan = plan.without(text, f"the predicate {text!r} cannot be resolved: {why}")
    return plan


def _why_unresolvable(batch: SparkBatch, texts: Sequence[str], schema: Schema) -> str:
    """Why Spark cannot use one of these as a row predicate; empty if it can. No job runs, Spark only analyses.

    They are analysed as filters, since a filter accepts neither generators nor aggregates, which change the rows.
    """
    try:
        data = add_places(batch.data, schema, batch.paths, find_places(schema, (), (), texts))
        # Connect assumes that a filter has the schema of its input, and asks the server only about a select
        tests = [write_test("exists", close_comment(text), schema) for text in texts]
        _ = data.filter(join_tests("AND", [f"({test})" for test in tests])).selectExpr("1").schema
    except Exception as error:
        raise_fault(error)
        return summarize_error(error)
    return ""


class _Bisection:
    """After a failed scan: halve the columns and predicates until the cause is isolated, and fail only its metrics."""

    def __init__(self, batch: SparkBatch, report: Report | None, first: Exception) -> None:
        self.batch = batch
        self.spark = batch.data.sparkSession
        self.report = report
        self.first = first
        self.jobs_left = _MAX_SEARCH_JOBS

    def without_what_breaks(self, plan: Plan) -> ScanResult:
        try:
            _run_with_code(self.batch, make_plan(plan.schema, ["size()"]), self.report)
        except Exception as error:
            raise_fault(error, self.spark)
            check_workers(self.spark)
            raise EngineError(f"the batch could not be read: {summarize_error(error)}") from error
        return self._bisect(plan, self.first)

    def _bisect(self, plan: Plan, error: Exception) -> ScanResult:
        groups = _by_inputs(plan)
        if len(groups) == 1 or self.jobs_left <= 0:
            why = summarize_error(error)
            return ScanResult({}, plan.failed | {each.key: Failed(why) for group in groups for each in group})
        states: dict[Part, dict[MetricKey, State]] = {}
        failed = dict(plan.failed)
        for half in (groups[: len(groups) // 2], groups[len(groups) // 2 :]):
            part = plan.of([each for group in half for each in group])
            self.jobs_left -= 1
            scanned = self._scan_or_bisect(part)
            for name, part_states in scanned.states.items():
                states.setdefault(name, {}).update(part_states)
            failed |= scanned.failed
        return ScanResult(states, failed)

    def _scan_or_bisect(self, plan: Plan) -> ScanResult:
        try:
            return _run_with_code(self.batch, plan, self.report)
        except Exception as error:
            raise_fault(error, self.spark)
            why = error
        return self._bisect(plan, why)


def _by_inputs(plan: Plan) -> list[list[Metric[Any]]]:
    groups: dict[tuple[Any, ...], list[Metric[Any]]] = {}
    for metric in plan.metrics:
        if metric.key not in plan.failed:
            groups.setdefault((metric.inputs, metric.predicates, metric.memberships, metric.where), []).append(metric)
    return list(groups.values())


def batch_settings(plan: Plan) -> dict[str, str]:
    """Settings for Arrow batches of a bounded size: wide tables get fewer rows.

    Since 4.0 Spark sums the bytes of all columns after every row to respect a limit in bytes, which takes much of the
    transfer time (decision 0009). A limit on rows suffices for values of ordinary size. Where so many columns have
    texts that long ones could fill the memory of a worker, Spark keeps to its limit; before 4.0 it has none. If values
    are larger still, the job fails and is run again with Spark's settings.
    """
    texts = sum(kind in BYTES or many for kind, many in zip(plan.kinds, plan.repeated_flags, strict=True))
    most = min(25_000, _WORKER_BYTES // (texts * _LONG_TEXT)) if texts else 64_000
    rows = max(_FEWEST_BATCH_ROWS, min(most, _BATCH_CELLS // max(1, len(plan.kinds))))
    limit = 2**31 - 1 if rows <= most else _BATCH_BYTES
    return {
        "spark.sql.execution.arrow.maxRecordsPerBatch": str(rows),
        "spark.sql.execution.arrow.maxBytesPerBatch": str(limit),
    }


def _merge_tasks(plan: Plan, spark: SparkSession) -> int:
    """The number of merge tasks: more for more states, but at most what the cluster runs in two waves."""
    wide = any(grows(fold.metric.state) for fold in plan.folds)
    wanted = max(PIECES // 4 if wide or plan.by else 1, -(-len(plan.folds) // _STATES_PER_TASK))
    return min(wanted, PIECES if is_connect(spark) else 2 * spark.sparkContext.defaultParallelism)
