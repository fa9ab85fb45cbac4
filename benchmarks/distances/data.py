"""Consecutive batches of real tables, text as published; a column is of numbers where every value of both is one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple, TypeVar

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pv
import pyarrow.parquet as pq

from benchmarks.timing import DATA

T = TypeVar("T")


class Pair(NamedTuple):
    """A batch and the one before it, with the same columns."""

    now: pa.Table
    before: pa.Table


class Feed(NamedTuple):
    """A table that recurs, some of its pairs of consecutive batches, and how many batches it has in all."""

    name: str
    batches: int
    pairs: Iterator[Pair]


def feeds(most: int) -> Iterator[Feed]:
    """Every feed with so many pairs at the most, evenly spread over its time; fewer of the largest."""
    yield _files("nycflights13_by_day", "flights/*.csv.gz", ",", most)
    yield _files("online_retail_by_day", "*.csv.gz", ",", most)
    yield _files("redyuk_fbposts", "clean/*.tsv.gz", "\t", most)
    yield _parquet("jhu_covid19", "us_daily_reports", most)
    yield _parquet("ourairports", "runways", most // 4)
    yield _parquet("ourairports", "airport_frequencies", most // 4)


def _files(folder: str, pattern: str, delimiter: str, most: int) -> Feed:
    paths = sorted((DATA / folder).glob(pattern))
    pairs = (_typed(_read(now, delimiter), _read(before, delimiter)) for before, now in _spread(paths, most))
    return Feed(folder, len(paths), pairs)


def _read(path: Path, delimiter: str) -> pa.Table:
    """One file, its columns as text."""
    parse = pv.ParseOptions(delimiter=delimiter, newlines_in_values=True)
    names = pv.read_csv(path, parse_options=parse).column_names
    convert = pv.ConvertOptions(
        column_types={name: pa.string() for name in names}, null_values=["", "NA"], strings_can_be_null=True
    )
    return pv.read_csv(path, parse_options=parse, convert_options=convert)


def _parquet(folder: str, name: str, most: int) -> Feed:
    path = DATA / folder / f"{name}.parquet"
    marks = pq.read_table(path, columns=["_snapshot", "_schema"]).group_by(["_snapshot", "_schema"]).aggregate([])
    header = dict(zip(marks["_snapshot"].to_pylist(), marks["_schema"].to_pylist(), strict=True))
    chosen = [pair for pair in _spread(sorted(header), most) if header[pair[0]] == header[pair[1]]]
    wanted = sorted({each for pair in chosen for each in pair})
    table = pq.read_table(path, filters=[("_snapshot", "in", wanted)])
    days = {
        day: table.filter(pc.equal(table["_snapshot"], day)).drop_columns(["_snapshot", "_schema"]) for day in wanted
    }
    return Feed(name, len(header), (_typed(days[now], days[before]) for before, now in chosen))


def _spread(items: Sequence[T], most: int) -> list[tuple[T, T]]:
    """Pairs of neighbours."""
    pairs = list(pairwise(items))
    return pairs[:: max(1, -(-len(pairs) // most))]


def _typed(now: pa.Table, before: pa.Table) -> Pair:
    """The columns that both have values in."""
    columns: dict[str, tuple[pa.Array, pa.Array]] = {}
    for name in now.column_names:
        if name in before.column_names:
            both = [_present(each[name].combine_chunks()) for each in (now, before)]
            if all(each.null_count < len(each) for each in both):
                columns[name] = (both[0], both[1])
                try:
                    columns[name] = (both[0].cast(pa.float64()), both[1].cast(pa.float64()))
                except pa.ArrowInvalid:
                    continue
    return Pair(*(pa.table({name: pair[at] for name, pair in columns.items()}) for at in (0, 1)))


def _present(column: pa.Array) -> pa.Array:
    """An empty cell is a missing value."""
    return pc.if_else(pc.equal(column, ""), pa.scalar(None, pa.string()), column)
