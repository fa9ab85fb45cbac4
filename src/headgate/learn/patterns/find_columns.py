"""Finds the columns of a lake that carry a tag: nearly all their values follow its pattern."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec
import pyarrow as pa

from headgate.engine.spark_workers import import_first
from headgate.learn.patterns import lake
from headgate.learn.patterns.build import run_job
from headgate.learn.patterns.lake import MAX_ROWS, LakeColumn, LakeTable
from headgate.learn.patterns.rule import PatternRule
from headgate.values.errors import MisuseError

MIN_SHARE = 0.9
"""The least share of a column's values that follow the pattern, for the column to carry the tag."""

_TABLES_PER_TASK = 32
_ROW = "path string, name string, share double, size long"
_ARROW = pa.schema([("path", pa.string()), ("name", pa.string()), ("share", pa.float64()), ("size", pa.int64())])


class TaggedColumn(msgspec.Struct, frozen=True):
    """A column that carries a tag: its table and name, the share of values that follow the pattern, the value count."""

    table: str
    column: str
    share: float
    values: int


def find_columns(
    tag: PatternRule,
    source: str | Path | Sequence[str | Path],
    *,
    spark: Any = None,
    least: float = MIN_SHARE,
    rows: int = MAX_ROWS,
) -> list[TaggedColumn]:
    """The columns in these files and folders that carry the tag, those with the largest share first.

    Files that cannot be read are left out.

    Args:
        tag: The rule to look for, from `PatternIndex.tag` or `PatternIndex.infer`.
        source: Paths of Parquet and CSV files, or of folders that hold them.
        spark: The Spark session that reads the files. Without it this process reads them.
        least: The least share of a column's values that follow the pattern, above 0 and up to 1.
        rows: How many rows of each table are read, from its start.
    """
    if not 0 < least <= 1:
        raise MisuseError(f"least is {least}.", hint="Give the share of values, above 0 and up to 1.")
    tables = lake.find_tables([source] if isinstance(source, str | Path) else source)
    columns = _find_by_spark(spark, tag, tables, least, rows) if spark else _find_tagged(tag, tables, least, rows)
    return sorted(columns, key=lambda column: (-column.share, column.table, column.column))


def _find_tagged(tag: PatternRule, tables: Iterable[LakeTable], least: float, rows: int) -> Iterator[TaggedColumn]:
    for table in tables:
        for column in lake.columns_of(table, rows):
            if isinstance(column, LakeColumn):
                share = float(tag.matches(column.values).mean())
                if share >= least:
                    yield TaggedColumn(column.table, column.name, share, len(column.values))


def _find_by_spark(
    spark: Any, tag: PatternRule, tables: Sequence[LakeTable], least: float, first: int
) -> list[TaggedColumn]:
    if not tables:
        return []
    encoded_tables = [(msgspec.json.encode(table).decode(),) for table in tables]
    frame = spark.createDataFrame(encoded_tables, "encoded string").repartition(max(1, len(tables) // _TABLES_PER_TASK))

    def read(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        texts = (text for batch in batches for text in batch.column(0).to_pylist())
        columns = _find_tagged(tag, (msgspec.json.decode(text, type=LakeTable) for text in texts), least, first)
        rows = [dict(zip(_ARROW.names, msgspec.structs.astuple(column), strict=True)) for column in columns]
        yield pa.RecordBatch.from_pylist(rows, schema=_ARROW)

    rows = run_job(
        spark, lambda: frame.mapInArrow(import_first(read), _ROW), lambda result: result.collect(), "columns with a tag"
    )
    return [TaggedColumn(*row) for row in rows]
