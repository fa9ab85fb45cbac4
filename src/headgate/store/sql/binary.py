"""PostgreSQL's binary formats of rows and arrays, packed and unpacked many values at a time.

Every field, and every element of an array, is its length in 4 bytes (-1 for null) followed by its bytes. A row for COPY
begins with the number of its fields in 2 bytes, an array with a header of 20 bytes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

_HEAD = b"PGCOPY\n\xff\r\n\0" + bytes(8)
_TAIL = b"\xff\xff"
_KEY = [("fields", ">i2"), *((name, ">i4") for each in ("a", "b", "c") for name in (f"{each}_size", each))]
_CELL = [("size", ">i4"), ("value", ">f8")]


def write_numbers(cursor: Any, dataset: int, sequence: int, blocks: list[int], table: npt.NDArray[np.float64]) -> None:
    """Append rows of numbers to metric_values; NaN becomes null."""
    width = table.shape[1]
    rows = np.zeros(len(blocks), [*_KEY, ("cells", _CELL, (width,))])
    rows["fields"] = width + 3
    rows["a_size"] = rows["b_size"] = rows["c_size"] = 4
    rows["a"], rows["b"], rows["c"] = dataset, sequence, blocks
    absent = np.isnan(table)
    rows["cells"]["size"] = np.where(absent, -1, 8)
    rows["cells"]["value"] = table
    packed = rows.view(np.uint8).reshape(len(blocks), rows.itemsize)
    if absent.any():  # a null has a length but no bytes, so its 8 bytes are dropped
        written = np.ones(packed.shape, bool)
        written[:, -12 * width :].reshape(len(blocks), width, 12)[:, :, 4:] = ~absent[:, :, None]
        packed = packed[written]
    with cursor.copy("COPY metric_values FROM STDIN (FORMAT BINARY)") as copy:
        copy.write(_HEAD + packed.tobytes() + _TAIL)


def write_states(cursor: Any, dataset: int, sequence: int, states: Mapping[int, bytes]) -> None:
    """Append states, given by position, to the table states."""
    fields = (4).to_bytes(2, "big")
    parts = [_HEAD]
    for position, data in states.items():
        parts += [
            fields,
            *(_prefix_length(each.to_bytes(4, "big")) for each in (dataset, sequence, position)),
            _prefix_length(data),
        ]
    with cursor.copy("COPY states FROM STDIN (FORMAT BINARY)") as copy:
        copy.write(b"".join([*parts, _TAIL]))


def read_numbers(
    cursor: Any, dataset: int, sequences: list[int], blocks: list[int], slots: list[int]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.float64]]:
    """The sequence, the block and the numbers of every existing row; null becomes NaN, which is never stored.

    Each row is selected as one array, and all rows are fetched at once: COPY returns rows one by one, which takes twice
    the processor time.
    """
    columns = ", ".join(f"coalesce(v{slot}, 'NaN')" for slot in slots)
    cursor.execute(
        f"SELECT ARRAY[sequence, block, {columns}]::float8[] FROM metric_values WHERE dataset_id = %s "
        "AND sequence = ANY(%s) AND block = ANY(%s)",
        (dataset, sequences, blocks),
        binary=True,
    )
    result = cursor.pgresult
    data = b"".join([result.get_value(row, 0) for row in range(result.ntuples)])
    rows = np.frombuffer(data, [("head", "V20"), ("cells", _CELL, (2 + len(slots),))])["cells"]["value"]
    return rows[:, 0].astype(np.int64), rows[:, 1].astype(np.int64), rows[:, 2:].astype(np.float64)


def _prefix_length(data: bytes) -> bytes:
    return len(data).to_bytes(4, "big") + data
