"""The real tables: raw text as their publishers give it, an empty field being a missing value as Spark reads it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pv
import pyarrow.parquet as pq

from benchmarks.timing import DATA

FEWEST = 5_000
MOST = 500_000
CHOSEN_ON = frozenset(  # the tables that the parameters of the rules were chosen on
    {"airport_frequencies", "navaids", "regions", "runways", "weather", "us_daily_reports", "constituents"}
)


class Source(NamedTuple):
    """A table by its name, with what it is made of, and what reads it."""

    name: str
    folder: str
    what: str
    read: Callable[[], pa.Table]


def sources() -> Iterator[Source]:
    """Every table with enough rows."""
    for path in sorted(DATA.glob("*/*.parquet")):
        if path.parent.name != "column_corpus":
            yield from _feed(path)
    yield Source("columns", "column_corpus", "one table", _corpus)
    yield _csv("claims", "flights_fusion", "claims/*.csv.gz")
    yield _csv("gold", "flights_fusion", "gold/*.csv.gz")
    yield _csv("flights", "nycflights13_by_day", "flights/*.csv.gz")
    yield _csv("weather", "nycflights13_by_day", "weather.csv.gz")
    yield _csv("online_retail", "online_retail_by_day", "*.csv.gz")


def _feed(path: Path) -> Iterator[Source]:
    """The last batch of a feed if it has enough rows; else the batches of its commonest schema in one table."""
    marks = pq.read_table(path, columns=["_snapshot", "_schema"])
    last = pc.equal(marks["_snapshot"], pc.max(marks["_snapshot"]))
    schemas = {each["values"]: each["counts"] for each in pc.value_counts(marks["_schema"]).to_pylist()}
    if pc.sum(last).as_py() >= FEWEST:
        yield Source(path.stem, path.parent.name, "the last batch", partial(_batches, path, last))
    elif max(schemas.values()) >= FEWEST:
        same = pc.equal(marks["_schema"], max(schemas, key=lambda each: schemas[each]))
        count = len(pc.unique(marks["_snapshot"].filter(same)))
        yield Source(path.stem, path.parent.name, f"{count:,} batches", partial(_batches, path, same))


def _batches(path: Path, chosen: pa.ChunkedArray) -> pa.Table:
    table = pq.read_table(path).filter(chosen)
    schema = str(table["_schema"][0].as_py())
    names = json.loads(path.with_suffix(".schemas.json").read_text(encoding="utf-8"))["schemas"][schema]
    return _raw(table.select([name for name in table.column_names if name in names and not name.startswith("_")]))


def _csv(name: str, folder: str, pattern: str) -> Source:
    files = sorted((DATA / folder).glob(pattern))
    return Source(name, folder, "one table" if len(files) == 1 else f"{len(files)} batches", partial(_read, files))


def _read(files: list[Path]) -> pa.Table:
    header = pv.open_csv(files[0]).schema.names
    texts = pv.ConvertOptions(column_types={name: pa.string() for name in header}, strings_can_be_null=False)
    lines = pv.ParseOptions(newlines_in_values=True)
    return _raw(pa.concat_tables(pv.read_csv(file, convert_options=texts, parse_options=lines) for file in files))


def _corpus() -> pa.Table:
    table = pq.read_table(DATA / "column_corpus" / "columns.parquet")
    return _raw(table.drop_columns(["values"]))


def _raw(table: pa.Table) -> pa.Table:
    if table.num_rows > MOST:
        kept = np.sort(np.random.default_rng(0).choice(table.num_rows, MOST, replace=False))
        table = table.take(pa.array(kept))
    columns = {name: _without_empty(table[name]) for name in table.column_names}
    return pa.table(columns)


def _without_empty(column: pa.ChunkedArray) -> pa.ChunkedArray:
    if not pa.types.is_string(column.type):
        return column
    return pc.if_else(pc.equal(column, ""), pa.scalar(None, pa.string()), column)
