"""A batch of any kind, opened: its schema is known, and a plan can be run on it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import pyarrow as pa

from headgate.engine.local import open_local, run_local
from headgate.engine.parted_scan import ScanResult
from headgate.engine.plan import Plan
from headgate.engine.progress import Progress
from headgate.engine.spark_faults import raise_faults
from headgate.values.errors import MisuseError
from headgate.values.schema import Schema

Report = Callable[[Progress], None]


class Batch(NamedTuple):
    """The schema of a batch, and the function that runs a plan on it.

    `distributed` says that a cluster runs it, `once` that the data can be read only once.
    """

    schema: Schema
    run: Callable[[Plan, Report | None], ScanResult]
    distributed: bool = False
    once: bool = False


def rereadable(tables: Mapping[str, Any] | None) -> dict[str, Any]:
    """The tables in a form that can be read more than once."""
    given = dict(tables or {})
    return {name: each.read_all() if isinstance(each, pa.RecordBatchReader) else each for name, each in given.items()}


def is_spark(data: Any) -> bool:
    return type(data).__module__.startswith("pyspark.") and hasattr(data, "mapInArrow")


def open_batch(data: Any, tables: Mapping[str, Any] | None = None) -> Batch:
    """The batch, with other tables for metrics that look rows up in them."""
    others = rereadable(tables)
    local = open_local(data)
    if local is not None:
        once = isinstance(data, pa.RecordBatchReader)
        return Batch(local.schema, lambda plan, progress: run_local(local, plan, others, progress), once=once)
    if is_spark(data):
        from headgate.engine.spark import SparkBatch, run_spark
        from headgate.engine.spark_frame import read_schema

        with raise_faults():
            schema, paths = read_schema(data)
        spark = SparkBatch(data, paths, others)
        return Batch(schema, lambda plan, progress: run_spark(spark, plan, progress), distributed=True)
    raise refuse_data(data)


def refuse_data(data: Any) -> MisuseError:
    """The error for what is no batch."""
    return MisuseError(
        f"{type(data).__module__}.{type(data).__name__} is not a batch.",
        hint="Pass a Spark DataFrame, a pyarrow Table, Dataset or RecordBatchReader, or a pandas or polars frame.",
    )
