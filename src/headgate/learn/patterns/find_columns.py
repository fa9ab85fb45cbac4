"""The columns of a lake that carry a tag: those of which nearly all values follow its pattern."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec
import pyarrow as pa

from headgate.learn.patterns import lake
from headgate.learn.patterns.build import run_job
from headgate.learn.patterns.lake import ROWS, LakeColumn, LakeTable
from headgate.learn.patterns.rule import PatternRule
from headgate.values.errors import MisuseError

LEAST = 0.9
"""The share of a column's values that must follow the pattern, for the column to carry the tag."""

_TABLES_A_TASK = 32
_ROW = "place string, name string, share double, many long"
_ARROW = pa.schema([("place", pa.string()), ("name", pa.string()), ("share", pa.float64()), ("many", pa.int64())])


class TaggedColumn(msgspec.Struct, frozen=True):
    """A column that carries a tag: where it is, the share of its values that follow the pattern, how many it has."""

    table: str
    column: str
    share: float
    values: int


def find_columns(
    tag: PatternRule,
    source: str | Path | Sequence[str | Path],
    *,
    spark: Any = None,
    least: float = LEAST,
    rows: int = ROWS,
) -> list[TaggedColumn]:
    """The columns in these files and folders that carry the tag, those with the largest share first.

    The first `rows` rows of each table are read, by `spark` if that is given; files that cannot be read are left out.
    """
    if not 0 < least <= 1:
        raise MisuseError(f"least is {least}.", hint="Give the share of values, above 0 and up to 1.")
    tables = lake.find_tables([source] if isinstance(source, str | Path) else source)
    found = list(_find_by_spark(spark, tag, tables, least, rows) if spark else _find_tagged(tag, tables, least, rows))
    return sorted(found, key=lambda each: (-each.share, each.table, each.column))


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
    frame = spark.createDataFrame(encoded_tables, "encoded string").repartition(max(1, len(tables) // _TABLES_A_TASK))

    def read(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        texts = (text for batch in batches for text in batch.column(0).to_pylist())
        found = _find_tagged(tag, (msgspec.json.decode(text, type=LakeTable) for text in texts), least, first)
        rows = [dict(zip(_ARROW.names, msgspec.structs.astuple(each), strict=True)) for each in found]
        yield pa.RecordBatch.from_pylist(rows, schema=_ARROW)

    rows = run_job(spark, lambda: frame.mapInArrow(read, _ROW), lambda found: found.collect(), "columns with a tag")
    return [TaggedColumn(*row) for row in rows]
