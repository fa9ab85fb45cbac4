"""Lazy changes of a DataFrame, classic or Connect: of values by Arrow batches, and of rows that are there repeatedly.

Tested by `tests/spark/test_repair.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql.types import BooleanType, StructField, StructType

from headgate.engine.spark_workers import import_first

_MARK = "marked"
_FILE = "input_file_name() AS file"
_WITHOUT_ORDER = ("map<", "variant", "interval")  # types by which Spark cannot group

Change = Callable[[Sequence[pa.Array]], Sequence[pa.Array]]
"""Gets the columns of a batch, and then the source files if they are wanted; gives the columns, and then a mark."""


def change_columns(data: DataFrame, change: Change, *, files: bool = False, marks: bool = False) -> DataFrame:
    """The rows after a function has changed the columns of each batch. Names and types stay.

    Args:
        data: The rows.
        change: What happens to a batch.
        files: Whether it gets the source file of each row as one column more.
        marks: Whether it gives a truth value for each row as one column more.
    """
    numbered = data.toDF(*_number_columns(data))
    mark = [StructField(f"c{len(data.columns)}", BooleanType())] if marks else []
    schema = StructType([*numbered.schema.fields, *mark])
    given = numbered.selectExpr("*", _FILE) if files else numbered
    changed = given.mapInArrow(import_first(make_change_task(change)), schema)
    return changed.toDF(*data.columns, *([_MARK] if marks else []))


def make_change_task(change: Change) -> Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """The task that changes its batches one by one."""

    def run(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            columns = list(change(batch.columns))
            names = [f"c{at}" for at in range(len(columns))]
            yield pa.RecordBatch.from_arrays(columns, names=names)

    return run


def drop_repeated(data: DataFrame, copies: int | None, *, marked: bool = False) -> DataFrame:
    """The rows without their copies.

    Args:
        data: The rows; the last column is a mark if `marked` is set, and is dropped.
        copies: How often each row is there; None to keep each row once.
        marked: Whether only marked rows are meant.
    """
    names = data.columns[:-1] if marked else data.columns
    numbered = data.toDF(*_number_columns(data))
    keys = [_write_key(field) for field in numbered.schema.fields]
    if copies is None and not marked and keys == numbered.columns:
        return numbered.dropDuplicates().toDF(*names)
    by = ", ".join(keys)
    counted = numbered.selectExpr(
        "*",
        f"row_number() OVER (PARTITION BY {by} ORDER BY {keys[0]}) AS place",
        f"count(*) OVER (PARTITION BY {by}) AS number",
    )
    kept = "place = 1" if copies is None else f"place <= ceil(number / {int(copies)})"
    rows = counted.where(f"NOT {numbered.columns[-1]} OR {kept}" if marked else kept)
    return rows.selectExpr(*numbered.columns[: len(names)]).toDF(*names)


def _number_columns(data: DataFrame) -> list[str]:
    """Our own names: those of the caller may repeat or contain any character."""
    return [f"c{at}" for at in range(len(data.columns))]


def _write_key(field: Any) -> str:
    text = field.dataType.simpleString()
    is_plain = not any(kind in text for kind in _WITHOUT_ORDER)
    return str(field.name) if is_plain else f"CAST({field.name} AS STRING)"
