"""Generated tables: the same seed gives the same table, written once as Parquet under the cache folder."""

from __future__ import annotations

import uuid
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.timing import CACHE

FOLDER = CACHE / "bench-engine"
CHUNK = 100_000
FILES = 4


def mixed(rows: int, columns: int) -> Path:
    """Half numbers (integers and doubles, some null), half strings; a quarter of the strings are nearly unique."""
    return _written(f"mixed-{rows}x{columns}", rows, lambda rng, count, start: mixed_chunk(rng, count, columns))


def uuids(rows: int) -> Path:
    """One string column, every value a different UUID."""
    return _written(f"uuids-{rows}", rows, lambda rng, count, start: pa.table({"id": uuid_strings(rng, count)}))


def mixed_chunk(rng: np.random.Generator, count: int, columns: int) -> pa.Table:
    named = {}
    for at in range(columns // 2):
        kind = at % 4
        if kind == 0:
            named[f"n{at}"] = pa.array(rng.integers(0, 10 ** (1 + at % 6), count))
        elif kind == 1:
            named[f"n{at}"] = pa.array(rng.normal(100.0, 15.0, count))
        elif kind == 2:
            named[f"n{at}"] = pa.array(np.round(rng.lognormal(3.0, 1.0, count), 2), mask=rng.random(count) < 0.05)
        else:
            named[f"n{at}"] = pa.array(rng.integers(-(2**40), 2**40, count))
    for at in range(columns - columns // 2):
        if at % 4 == 0:
            named[f"s{at}"] = _codes(rng, count) if at % 8 else uuid_strings(rng, count)
        else:
            size = (5, 200, 5_000)[at % 3]
            words = pa.array([f"{WORDS[i % len(WORDS)]} {i:05d}" if size > 5 else WORDS[i] for i in range(size)])
            picks = np.minimum(rng.zipf(1.3, count) - 1, size - 1)
            nulls = rng.random(count) < 0.02
            named[f"s{at}"] = words.take(pa.array(picks, mask=nulls))
    return pa.table(named)


WORDS = ("delivered", "open", "Waiting for payment", "returned", "in transit", "Lost", "cancelled", "new-order")


def uuid_strings(rng: np.random.Generator, count: int) -> pa.Array:
    raw = rng.bytes(16 * count)
    return pa.array([str(uuid.UUID(bytes=raw[at : at + 16])) for at in range(0, 16 * count, 16)])


def _codes(rng: np.random.Generator, count: int) -> pa.Array:
    numbers = rng.integers(0, 10**9, count)
    return pa.array([f"INV-{2000 + number % 27}-{number:09d}" for number in numbers.tolist()])


def _written(name: str, rows: int, make: object) -> Path:
    folder = FOLDER / name
    if (folder / "_done").exists():
        return folder
    folder.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(2026)
    per_file = -(-rows // FILES)
    for file in range(FILES):
        writer = None
        for start in range(0, per_file, CHUNK):
            table = make(rng, min(CHUNK, per_file - start), start)  # type: ignore[operator]
            writer = writer or pq.ParquetWriter(folder / f"part-{file}.parquet", table.schema)
            writer.write_table(table)
        if writer:
            writer.close()
    (folder / "_done").touch()
    return folder
