"""Undoes the faults that diagnoses name, in frames of every kind."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from headgate.diagnose.column_repair import SWAPPED, Mask, RepairStep, plan_repair, read_copies, restore_names
from headgate.diagnose.repairable import describe_obstacles, list_repairable
from headgate.engine.batch import is_spark
from headgate.engine.local import in_memory
from headgate.inject.frames import LocalFrame, open_frame
from headgate.metrics.base.arrow import kind_of, to_plain
from headgate.metrics.base.batch import ColumnBatch
from headgate.metrics.base.hashing import hash_rows
from headgate.values.diagnosis import Diagnosis
from headgate.values.errors import MisuseError
from headgate.values.schema import Schema, unique_labels


def repair_batch(
    data: Any, diagnoses: Sequence[Diagnosis], schema: Schema | None = None, *, secret: bytes | None = None
) -> Any:
    """The batch as it was before the faults that can be undone. What is not known to be wrong stays as it is.

    A Spark DataFrame gives a lazy DataFrame, a pandas or polars frame one of its kind, other data a pyarrow Table.

    Args:
        data: The batch.
        diagnoses: What happened to it.
        schema: Its columns as they were judged.
        secret: The key of a store that hides values: its segments are named by hashes.
    """
    chosen = list_repairable(diagnoses, schema)
    if not chosen:
        raise MisuseError(
            f"there is nothing to undo: {'; '.join(describe_obstacles(diagnoses, schema)) or 'no fault is known'}.",
            hint="Repair the batch at its source, and judge it again.",
        )
    if is_spark(data):
        return _repair_spark(data, chosen, secret)
    return _repair_local(data, chosen, secret)


def _repair_spark(data: Any, chosen: Sequence[Diagnosis], secret: bytes | None) -> Any:
    from headgate.engine.spark_changes import change_columns, drop_repeated

    fields = data.schema.fields
    labels = unique_labels([field.name for field in fields])
    repair, repeated = plan_repair(labels, chosen, secret)
    for step in repair.steps:
        _require_equal_types(step, [fields[at].dataType for at in step.at])
    names = restore_names(labels, chosen)
    rows = [step.rows for step in repair.steps] + ([] if repair.marked is None else [repair.marked])
    if rows:
        files = any(each.reads_files for each in rows)
        data = change_columns(data, repair, files=files, marks=repair.marked is not None)
    for diagnosis in repeated:
        data = drop_repeated(data, read_copies(diagnosis), marked=repair.marked is not None)
    return data if names is None else data.toDF(*names)


def _repair_local(data: Any, chosen: Sequence[Diagnosis], secret: bytes | None) -> Any:
    is_lazy = type(data).__module__.startswith("polars.") and hasattr(data, "collect")
    data = data if isinstance(data, pa.RecordBatch) else in_memory(data)
    frame = open_frame(data)
    repair, repeated = plan_repair(frame.labels, chosen, secret)
    names = restore_names(frame.labels, chosen)
    rows = [step.rows for step in repair.steps] + ([] if repair.marked is None else [repair.marked])
    if any(each.reads_files for each in rows):
        raise MisuseError(
            "the rows that are wrong are those of a source file, which only Spark can tell.",
            hint="Pass the Spark DataFrame that was judged.",
        )
    read = set(repair.positions).union(*(each.positions for each in rows))
    columns = [frame.column(at) if at in read else None for at in range(len(frame.labels))]
    for step in repair.steps:
        _require_equal_types(step, [column.type for at in step.at if (column := columns[at]) is not None])
    changed = repair(columns)
    for at in repair.positions:
        data = _set_column(data, at, _join_chunks(changed[at]))
    for diagnosis in repeated:
        mark = None if repair.marked is None else np.asarray(changed[-1])
        data = open_frame(data).take_rows(_find_kept(open_frame(data), read_copies(diagnosis), mark))
    data = data if names is None else _set_names(data, names)
    return data.lazy() if is_lazy else data


def _join_chunks(column: Any) -> Any:
    """One array of a column that may come in chunks."""
    if isinstance(column, pa.ChunkedArray):
        whole = column.combine_chunks()
        return whole if isinstance(whole, pa.Array) else pa.concat_arrays(column.chunks)
    return column


def _require_equal_types(step: RepairStep, types: Sequence[Any]) -> None:
    if step.diagnosis.fault == SWAPPED and types[0] != types[1]:
        one, two = step.diagnosis.columns
        raise MisuseError(
            f"{one} and {two} have different types, {types[0]} and {types[1]}, so they cannot be swapped back.",
            hint="Swap them where the batch is made.",
        )


def _set_column(data: Any, at: int, values: pa.Array) -> Any:
    """The frame with other values in a column, which keeps its type in the frame."""
    changed = open_frame(data).with_column(at, values)
    room = type(data).__module__.partition(".")[0]
    if room == "pandas" and changed.dtypes.iloc[at] != data.dtypes.iloc[at]:
        before = data.dtypes.iloc[at]
        changed.isetitem(at, changed.iloc[:, at].astype("category" if before == "category" else before))
    if room == "polars" and changed.dtypes[at] != data.dtypes[at]:
        series = changed.to_series(at)
        return changed.with_columns(series.cast(data.dtypes[at]))
    return changed


def _set_names(data: Any, names: Sequence[str]) -> Any:
    match type(data).__module__.partition(".")[0]:
        case "pandas":
            return data.set_axis(list(names), axis=1)
        case "polars":
            return data.rename(dict(zip(data.columns, names, strict=True)))
    if isinstance(data, pa.RecordBatch):
        return pa.RecordBatch.from_arrays(data.columns, names=list(names))
    return data.rename_columns(list(names))


def _find_kept(frame: LocalFrame, copies: int | None, mark: Mask | None) -> npt.NDArray[np.int64]:
    """The positions of the rows that are left if of equal rows one in so many is kept, or the first alone."""
    arrays = [to_plain(frame.column(at)) for at in range(len(frame.labels))]
    if not arrays or not frame.rows:
        return np.arange(frame.rows)
    first, second = hash_rows([ColumnBatch(array, kind_of(array.type)).words for array in arrays])
    order = np.lexsort((second, first))
    starts = np.ones(len(order), np.bool_)
    starts[1:] = (np.diff(first[order]) != 0) | (np.diff(second[order]) != 0)
    groups = np.cumsum(starts) - 1
    begin = np.flatnonzero(starts)
    places = np.empty(len(order), np.int64)
    places[order] = np.arange(len(order)) - begin[groups]
    counts = np.empty(len(order), np.int64)
    counts[order] = np.bincount(groups)[groups]
    kept = places < (1 if copies is None else np.ceil(counts / copies))
    return np.flatnonzero(kept if mark is None else kept | ~mark)
