"""Counts of segments on Spark, classic or Connect: one job without a shuffle, whose tasks send small tables."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import msgspec
import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame

from headgate.engine.plan import make_plan
from headgate.engine.segment_fold import SegmentFold, TaskTable, merge_tables
from headgate.engine.segment_plan import SegmentColumn, SegmentCounts, SegmentPlan, Target, Values, plan_segments
from headgate.engine.spark import batch_settings
from headgate.engine.spark_code import ship_code
from headgate.engine.spark_faults import (
    check_workers,
    fits_smaller_batches,
    missing_module,
    raise_fault,
    raise_faults,
    summarize_error,
)
from headgate.engine.spark_frame import read_schema
from headgate.engine.spark_nested import add_places, find_places, ignores_case
from headgate.engine.spark_session import describe_jobs, has_shuffle
from headgate.engine.spark_settings import apply_settings
from headgate.engine.spark_workers import import_first
from headgate.metrics.completeness import Completeness
from headgate.values.errors import EngineError
from headgate.values.schema import Column

_ROW = "slot int, names binary, counts binary"
_ARROW = pa.schema([("slot", pa.int32()), ("names", pa.binary()), ("counts", pa.binary())])
_FILE = SegmentColumn(kind="file")
_TASK = SegmentColumn(kind="task")

Task = Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]


def count_spark_segments(
    data: DataFrame, targets: Sequence[Target], tables: Sequence[tuple[SegmentColumn, ...]], hidden: bool
) -> SegmentCounts:
    """The counts of a DataFrame. A job that needs smaller batches, or lacks this package's code, is run again."""
    with raise_faults():
        schema, paths = read_schema(data)
        wanted = [*tables, *([(_TASK,)] if hidden else []), *([(_FILE,)] if hidden and _has_files(data) else [])]
        plan = plan_segments(schema, targets, wanted)
        rows = add_places(data, schema, paths, find_places(schema, plan.positions, (), ()))
        selected = _select_inputs(rows, plan)
    return _drop_empty_file(_run_with_retry(data, selected, plan))


def _has_files(data: DataFrame) -> bool:
    """Whether Spark can tell the source file of a row: not on every platform, nor of several sources."""
    try:
        return bool(data.selectExpr("input_file_name()").columns)
    except Exception as error:
        raise_fault(error)
        return False


def _select_inputs(rows: DataFrame, plan: SegmentPlan) -> DataFrame:
    """The plan's columns by position: names may repeat or contain any character."""
    own = [at for at, column in enumerate(plan.schema.columns) if not column.parent]
    places = find_places(plan.schema, plan.positions, (), ())
    named = rows.toDF(*(f"c{at}" for at in (*own, *places)))
    columns = [_select_column(f"c{at}", plan.schema.columns[at]) for at in plan.positions]
    file = ["input_file_name() AS f"] if (_FILE,) in plan.tables else []
    # a DataFrame without columns has no Arrow batches
    return named.selectExpr(*(columns + file or ["true AS t"]))


def _select_column(name: str, column: Column) -> str:
    if column.empty:
        return f"CAST({name} AS STRING) AS {name}"
    return f"lower({name}) AS {name}" if ignores_case(column) else name


def _run_with_retry(data: DataFrame, selected: DataFrame, plan: SegmentPlan) -> SegmentCounts:
    spark = data.sparkSession
    own_batch_sizes = True
    for _ in range(3):
        try:
            return _run(data, selected, plan, own_batch_sizes)
        except Exception as error:
            first = error
        if missing_module(first).partition(".")[0] == "headgate":
            ship_code(spark)
        elif own_batch_sizes and fits_smaller_batches(first):
            own_batch_sizes = False
        else:
            break
    raise_fault(first, spark)
    check_workers(spark)
    raise EngineError(f"the segments could not be counted: {summarize_error(first)}") from first


def _run(data: DataFrame, selected: DataFrame, plan: SegmentPlan, own_batch_sizes: bool) -> SegmentCounts:
    spark = data.sparkSession
    sizes = make_plan(plan.schema, [Completeness(column.label) for column in plan.columns])
    wanted = batch_settings(sizes) if own_batch_sizes else {}
    if not has_shuffle(data):
        wanted["spark.sql.adaptive.enabled"] = "false"
    counted = selected.mapInArrow(import_first(count_task(plan)), _ROW)
    title = f"headgate: segments of {len(plan.targets) - 1} columns by {len(plan.tables) - 1} others"
    with apply_settings(spark, wanted), describe_jobs(spark, title):
        rows = counted.collect()
    return merge_tables(plan, [[_read_row(plan, *row)] for row in rows])


def count_task(plan: SegmentPlan) -> Task:
    """The task that counts its rows, and gives one row for each table."""

    def run(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        from pyspark import TaskContext

        fold, rows = SegmentFold(plan), 0
        for batch in batches:
            fold.add(batch.columns if plan.positions or (_FILE,) in plan.tables else [], batch.num_rows)
            rows += batch.num_rows
        if rows:
            context = TaskContext.get()
            yield _pack_tables(fold.tables(None if context is None else str(context.partitionId())))

    return run


def _pack_tables(tables: Sequence[TaskTable]) -> pa.RecordBatch:
    names = [zlib.compress(msgspec.json.encode(table.values), 1) for table in tables]
    counts = [zlib.compress(table.counts.astype("<i8").tobytes(), 1) for table in tables]
    arrays: list[list[Any]] = [[table.slot for table in tables], names, counts]
    return pa.RecordBatch.from_arrays(
        [pa.array(column, field.type) for column, field in zip(arrays, _ARROW, strict=True)], schema=_ARROW
    )


def _read_row(plan: SegmentPlan, slot: int, names: bytes, counts: bytes) -> TaskTable:
    values = msgspec.json.decode(zlib.decompress(names), type=list[Values] | None)
    sums = np.frombuffer(zlib.decompress(counts), "<i8").astype(np.int64)
    return TaskTable(slot, values, sums.reshape(-1, sum(target.bins for target in plan.targets)))


def _drop_empty_file(counts: SegmentCounts) -> SegmentCounts:
    """Without the source file if Spark names none."""
    tables = tuple(
        table for table in counts.tables if table.columns != (_FILE,) or any(v != ("",) for v in table.values)
    )
    return msgspec.structs.replace(counts, tables=tables)
