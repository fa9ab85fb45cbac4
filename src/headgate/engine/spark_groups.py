"""Frequency tables that are too large for the driver: tasks write them as Parquet, and Spark merges them on request."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from headgate.engine.part import write_part
from headgate.engine.plan import Plan
from headgate.engine.scan import gather
from headgate.engine.spark_session import describe_jobs
from headgate.engine.spark_settings import apply_settings
from headgate.engine.spark_tasks import KEPT, PIECES, ROW, Row, merge_task, row_of
from headgate.engine.spark_workers import import_first
from headgate.metrics.states.kept import GroupTable, KeptGroups
from headgate.values.codec import unpack_state
from headgate.values.state import State

_TOO_LARGE = KEPT // PIECES
_STORED_ROW = f"{ROW}, folder string"


def write_kept(merged: DataFrame, keep: str) -> tuple[list[Row], str]:
    """Write all rows of a scan under `keep`, and read them back without the bytes of large states.

    It takes two jobs, one to scan and write and one to read. A folder is written once and never changed.
    """
    folder = f"{keep.rstrip('/')}/{uuid.uuid4().hex}"
    merged.selectExpr("*", f"{_quote_text(folder)} AS folder").write.parquet(folder)
    spark = merged.sparkSession
    light = "part", "slot", "piece", "tag", f"IF(weight > {_TOO_LARGE}, X'', state) AS state", "error", "weight"
    return [Row(*row) for row in spark.read.schema(_STORED_ROW).parquet(folder).selectExpr(*light).collect()], folder


def gather_pieces(rows: Sequence[Row], folder: str) -> State:
    """The state with these pieces; a reference to the folder if some pieces were left there."""
    if any(not row.state for row in rows):
        return KeptGroups((GroupTable(folder, rows[0].part, rows[0].slot, sum(row.weight for row in rows)),))
    return gather([unpack_state(bytes(row.state), row.tag) for row in rows])


def merge_tables(spark: SparkSession, plan: Plan, kept: Sequence[KeptGroups], tasks: int) -> list[Row]:
    """The tables of each fold of the plan, merged by hash range and shrunk to what can be measured.

    It takes one job and a broadcast of the list of tables.
    """
    wanted = [(table.folder, table.part, table.slot, fold) for fold, each in enumerate(kept) for table in each.tables]
    chosen = spark.createDataFrame(wanted, "folder string, part string, slot int, fold int").hint("broadcast")
    folders = sorted({folder for folder, _, _, _ in wanted})
    stored = spark.read.schema(_STORED_ROW).parquet(*folders).join(chosen, ["folder", "part", "slot"])
    rows = stored.selectExpr(f"'{write_part(())}' AS part", "fold AS slot", "piece", "tag", "state", "error", "weight")
    rest = [row for fold, each in enumerate(kept) for packed in each.rest for row in _piece_rows(fold, *packed)]
    if rest:
        rows = rows.union(spark.createDataFrame(rest, ROW))
    merged = rows.repartition(tasks, "slot", "piece").mapInArrow(import_first(merge_task(plan)), ROW)
    title = f"headgate: merging {len(wanted)} frequency tables"
    with apply_settings(spark, {"spark.sql.adaptive.enabled": "false"}), describe_jobs(spark, title):
        return [Row(*row) for row in merged.collect()]


def _piece_rows(slot: int, tag: str, packed: bytes) -> list[tuple[Any, ...]]:
    state: State = unpack_state(packed, tag)
    rows = [row_of(write_part(()), slot, piece, cut) for piece, cut in state.pieces(PIECES).items()]
    return [(row.part, row.slot, row.piece, row.tag, row.state, row.error, row.weight) for row in rows]


def _quote_text(text: str) -> str:
    """A text as a Spark SQL literal."""
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
