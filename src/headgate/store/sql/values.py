"""The table of numbers: rows of many columns, read and written through the driver, because SQLAlchemy is too slow.

A number takes less than 10 bytes in both databases; in a row of its own it would take several times as much. The number
at position p of the dataset's dictionary is in column p % WIDTH of block p // WIDTH.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from sqlalchemy import Connection

from headgate.store.sql import binary
from headgate.values.errors import MisuseError

WIDTH = 126
"""Numbers in a row: with it, seven rows fill a page of 8 KiB in both databases."""

Floats: TypeAlias = npt.NDArray[np.float64]

_SMALL = 2.0**47  # whole numbers below it take 6 bytes or fewer in SQLite, as a REAL column would keep them


def write_numbers(connection: Connection, dataset: int, sequence: int, numbers: Mapping[int, float]) -> None:
    """Write the numbers of one run, given by position in the dataset's dictionary."""
    if not numbers:
        return
    blocks, table = _split_into_blocks(numbers)
    cursor = cursor_of(connection)
    if connection.dialect.name == "postgresql":
        binary.write_numbers(cursor, dataset, sequence, blocks, table)
        return
    marks = ",".join("?" * (WIDTH + 3))
    rows = [
        (dataset, sequence, block, *row) for block, row in zip(blocks, _compact_for_sqlite(table).tolist(), strict=True)
    ]
    cursor.executemany(f"INSERT INTO metric_values VALUES ({marks})", rows)


def read_numbers(connection: Connection, dataset: int, sequences: Sequence[int], positions: Sequence[int]) -> Floats:
    """A row for each sequence and a column for each position, NaN where there is no number."""
    if not sequences or not positions:
        return np.full((len(sequences), len(positions)), np.nan)
    columns = np.asarray(positions, np.int64)
    runs, run = np.unique(sequences, return_inverse=True)
    blocks, block = np.unique(columns // WIDTH, return_inverse=True)
    slots, slot = np.unique(columns % WIDTH, return_inverse=True)
    runs_found, blocks_found, numbers = _read_rows(connection, dataset, runs.tolist(), blocks.tolist(), slots.tolist())
    table = np.full((len(runs), len(blocks), len(slots)), np.nan)
    table[np.searchsorted(runs, runs_found), np.searchsorted(blocks, blocks_found)] = numbers
    return table[run[:, None], block, slot]


def _read_rows(
    connection: Connection, dataset: int, sequences: list[int], blocks: list[int], slots: list[int]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], Floats]:
    """The sequence, the block and the numbers in some slots of every existing row."""
    cursor = cursor_of(connection)
    if connection.dialect.name == "postgresql":
        return binary.read_numbers(cursor, dataset, sequences, blocks, slots)
    columns = ", ".join(f"v{slot}" for slot in slots)
    cursor.execute(
        f"SELECT sequence, block, {columns} FROM metric_values WHERE dataset_id = ? "
        "AND sequence IN (SELECT value FROM json_each(?)) AND block IN (SELECT value FROM json_each(?))",
        (dataset, json.dumps(sequences), json.dumps(blocks)),
    )
    rows = _pack_rows(cursor, 2 + len(slots))
    return rows[:, 0].astype(np.int64), rows[:, 1].astype(np.int64), rows[:, 2:]


def _split_into_blocks(numbers: Mapping[int, float]) -> tuple[list[int], Floats]:
    """The blocks that have a number, and the row of each."""
    positions = np.fromiter(numbers, np.int64, len(numbers))
    values = np.fromiter(numbers.values(), np.float64, len(numbers))
    if np.isnan(values).any():
        raise MisuseError("NaN is not a number that can be kept.", hint="Say Undefined(why) instead of Measured(nan).")
    blocks, rows = np.unique(positions // WIDTH, return_inverse=True)
    table = np.full((len(blocks), WIDTH), np.nan)
    table[rows, positions % WIDTH] = values
    return [int(each) for each in blocks], table


def _compact_for_sqlite(table: Floats) -> npt.NDArray[np.object_]:
    """Numbers as SQLite stores them in the fewest bytes: whole ones as integers, except -0.0 (it has a sign)."""
    cells = table.astype(object)
    whole = (np.abs(table) < _SMALL) & (table == np.rint(table)) & ~((table == 0) & np.signbit(table))
    cells[whole] = table[whole].astype(np.int64).astype(object)
    cells[np.isnan(table)] = None
    return cells


def _pack_rows(rows: Iterable[tuple[float | None, ...]], width: int) -> Floats:
    """Rows as one array, null as NaN. Each row is packed as it comes: a list of all would slow garbage collection."""
    pack, packed = struct.Struct(f"={width}d").pack, bytearray()
    for row in rows:
        try:
            packed += pack(*row)
        except struct.error:
            packed += pack(*(np.nan if each is None else each for each in row))
    return np.frombuffer(packed).reshape(-1, width)


def cursor_of(connection: Connection) -> Any:
    raw = connection.connection.driver_connection
    assert raw is not None
    return raw.cursor()
