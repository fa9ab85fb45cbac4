"""Faults of the rows: some are missing, are there twice, or are those of another batch."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from benchmarks.diagnosis.faults.fault import Part, SourceBatch, TableFault, choose, draw_mask, read_column
from benchmarks.diagnosis.faults.missing import is_varied
from benchmarks.diagnosis.faults.segments import draw_segment

FEWEST_ROWS = 10
MOST_BACK = 10  # batches that a stale copy is old
MOST_SHARED = 0.2  # of the rows of another partition that the batch may have already
Broken = tuple[pa.Table, Part] | None


def lose_random(source: SourceBatch, chance: np.random.Generator) -> Broken:
    """A random part of the rows is missing."""
    share = round(float(chance.uniform(0.1, 0.9)), 2)
    lost = draw_mask(len(source.table), share, chance)
    return _keep(source.table, pc.invert(lost), Part("rows_missing"))


def lose_segment(source: SourceBatch, chance: np.random.Generator) -> Broken:
    """All rows of a segment are missing."""
    segment = draw_segment(source.table, (), chance)
    if segment is None:
        return None
    part = Part("rows_missing", segment=segment.segment, same_rows=segment.same_rows)
    return _keep(source.table, pc.invert(segment.rows), part)


def keep_head(source: SourceBatch, chance: np.random.Generator) -> Broken:
    """Only the first rows in the order of a column are there, as of a load that stopped."""
    names = [name for name in source.table.column_names if is_varied(read_column(source.table, name))]
    if not names:
        return None
    name = str(choose(chance, names))
    order = np.asarray(pc.sort_indices(read_column(source.table, name)))
    kept = np.zeros(len(source.table), bool)
    kept[order[: round(float(chance.uniform(0.1, 0.9)) * len(order))]] = True
    return _keep(source.table, pa.array(kept), Part("rows_missing", parameters={"ordered by": name}))


def _keep(table: pa.Table, kept: pa.Array, part: Part) -> Broken:
    rest = table.filter(kept)
    if len(table) < FEWEST_ROWS or not 0 < len(rest) < len(table):
        return None
    lost = round(1 - len(rest) / len(table), 6)
    return rest, part._replace(parameters={**part.parameters, "share": lost})


def repeat_all(source: SourceBatch, chance: np.random.Generator) -> Broken:
    """All rows twice or thrice, one copy after the other or each beside its copy."""
    copies = int(chance.integers(2, 4))
    rows = np.tile(np.arange(len(source.table)), copies)
    rows = np.sort(rows) if chance.random() < 0.5 else rows
    return source.table.take(rows), Part("rows_duplicated", parameters={"copies": float(copies)})


def repeat_part(source: SourceBatch, chance: np.random.Generator) -> Broken:
    share = round(float(chance.uniform(0.1, 0.7)), 2)
    again = source.table.filter(draw_mask(len(source.table), share, chance))
    return pa.concat_tables([source.table, again]), Part("rows_duplicated", parameters={"share": share})


def repeat_earlier(source: SourceBatch, chance: np.random.Generator) -> Broken:
    """An earlier batch again. Of several that are the same, the newest is the right one to name."""
    recent = source.earlier[-MOST_BACK:]
    if not recent:
        return None
    _, copy = choose(chance, recent)
    newest = [partition for partition, table in source.earlier if table.equals(copy)][-1]
    return copy, Part("stale_copy", parameters={"partition": newest})


def add_other(source: SourceBatch, chance: np.random.Generator) -> Broken:
    """Rows of another partition beside those of this."""
    other = _draw_other(source, chance)
    if other is None:
        return None
    partition, rows = other
    added = rows.filter(draw_mask(len(rows), float(chance.uniform(0.2, 1.0)), chance))
    return _join(source.table, added, partition)


def take_other_instead(source: SourceBatch, chance: np.random.Generator) -> Broken:
    """Rows of another partition in place of a part of those of this."""
    other = _draw_other(source, chance)
    if other is None:
        return None
    partition, rows = other
    share = float(chance.uniform(0.2, 0.8))
    kept = source.table.filter(pc.invert(draw_mask(len(source.table), share, chance)))
    return _join(kept, rows.filter(draw_mask(len(rows), share, chance)), partition)


def _join(own: pa.Table, other: pa.Table, partition: str) -> Broken:
    joined = pa.concat_tables([own, other])
    share = round(len(other) / max(1, len(joined)), 6)
    return joined, Part("other_partition", parameters={"partition": partition, "share": share})


def _draw_other(source: SourceBatch, chance: np.random.Generator) -> tuple[str, pa.Table] | None:
    """An earlier batch of the same columns, most rows of which are not in this."""
    same: Sequence[tuple[str, pa.Table]] = [
        each for each in source.earlier if each[1].schema.equals(source.table.schema) and len(each[1])
    ]
    if not same:
        return None
    partition, rows = choose(chance, same)
    return (partition, rows) if _share_known(rows, source.table) < MOST_SHARED else None


def _share_known(rows: pa.Table, table: pa.Table) -> float:
    """Which share of some rows a table has as well."""
    hashes = [pd.util.hash_pandas_object(each.to_pandas(), index=False) for each in (rows, table)]
    return float(hashes[0].isin(hashes[1]).mean())


ROW_FAULTS = (
    TableFault("rows missing at random", "rows_missing", lose_random),
    TableFault("a segment missing", "rows_missing", lose_segment),
    TableFault("only the first rows", "rows_missing", keep_head),
    TableFault("all rows again", "rows_duplicated", repeat_all),
    TableFault("a part of the rows again", "rows_duplicated", repeat_part),
    TableFault("an earlier batch again", "stale_copy", repeat_earlier),
    TableFault("rows of another partition added", "other_partition", add_other),
    TableFault("rows of another partition instead", "other_partition", take_other_instead),
)
