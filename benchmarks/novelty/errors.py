"""The paper's six ways in which a batch goes wrong (its section 5.1), seeded; the types of columns are kept."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from benchmarks.novelty.vectors import kinds
from headgate.metrics.base.arrow import kind_of, to_plain
from headgate.values.schema import NUMERIC, TEXT, Kind

MAGNITUDES = (0.01, 0.05, 0.10, 0.20, 0.30, 0.40, 0.50, 0.60, 0.70, 0.80)
NONE, FAR = "NONE", 99_999
_ROWS = ("qwertyuiop", "asdfghjkl", "zxcvbnm")
_NUMBERS = NUMERIC - {Kind.BOOLEAN}

Made = dict[str, pa.Array]
Random = np.random.Generator


class Error(NamedTuple):
    """A way of going wrong: which kinds of columns it happens to, how many at once, and what they become."""

    name: str
    kinds: frozenset[Kind]
    columns: int
    broken: Callable[[list[pa.Array], float, Random], list[pa.Array]]

    def suits(self, table: pa.Table) -> list[str]:
        """The columns that it can happen to: of its kinds, with values."""
        return [
            name
            for name, kind in kinds(table).items()
            if kind in self.kinds and table[name].null_count < table.num_rows
        ]

    def apply(self, table: pa.Table, chosen: list[str], magnitude: float, rng: Random) -> Made:
        """The columns that differ from the table's, by name."""
        made = self.broken([to_plain(table[name]) for name in chosen], magnitude, rng)
        return dict(zip(chosen, made, strict=True))


def overwritten(table: pa.Table, made: Made) -> pa.Table:
    """The table with some columns replaced."""
    return pa.table([made.get(name, table[name]) for name in table.column_names], names=table.column_names)


def _drawn(count: int, magnitude: float, rng: Random) -> npt.NDArray[np.bool_]:
    """A share of the rows, each as likely as the others."""
    drawn = np.zeros(count, np.bool_)
    drawn[rng.choice(count, size=round(magnitude * count), replace=False)] = True
    return drawn


def _explicit(columns: list[pa.Array], magnitude: float, rng: Random) -> list[pa.Array]:
    return [
        pc.if_else(pa.array(_drawn(len(each), magnitude, rng)), pa.scalar(None, each.type), each) for each in columns
    ]


def _implicit(columns: list[pa.Array], magnitude: float, rng: Random) -> list[pa.Array]:
    said = [pa.scalar(NONE if kind_of(each.type) in TEXT else FAR, each.type) for each in columns]
    return [
        pc.if_else(pa.array(_drawn(len(each), magnitude, rng)), value, each)
        for each, value in zip(columns, said, strict=True)
    ]


def _anomalous(columns: list[pa.Array], magnitude: float, rng: Random) -> list[pa.Array]:
    return [_noisy(each, magnitude, rng) for each in columns]


def _noisy(column: pa.Array, magnitude: float, rng: Random) -> pa.Array:
    """Gaussian at the mean, its deviation that of the column times a factor drawn from 2 to 5."""
    there = pc.cast(column.drop_null(), pa.float64()).to_numpy()
    noise = rng.normal(there.mean(), max(there.std(), 1e-9) * rng.uniform(2, 5), len(column))
    return pc.if_else(pa.array(_drawn(len(column), magnitude, rng)), as_type(pa.array(noise), column.type), column)


def _swapped(columns: list[pa.Array], magnitude: float, rng: Random) -> list[pa.Array]:
    one, two = columns
    drawn = pa.array(_drawn(len(one), magnitude, rng))
    return [pc.if_else(drawn, as_type(two, one.type), one), pc.if_else(drawn, as_type(one, two.type), two)]


def _mistyped(columns: list[pa.Array], magnitude: float, rng: Random) -> list[pa.Array]:
    return [butterfingers(each, magnitude, rng) for each in columns]


def butterfingers(column: pa.Array, magnitude: float, rng: Random) -> pa.Array:
    """A share of the letters a to z replaced by a neighbour on the keyboard; other characters stay.

    >>> butterfingers(pa.array(["queue", None, "12"]), 1.0, np.random.default_rng(0)).to_pylist()
    ['ajshd', None, '12']
    """
    whole = pa.array(column.to_pylist(), pa.large_string())  # an own copy, whose offsets begin at 0
    _, offsets, data = whole.buffers()
    if data is None:
        return column
    letters = np.frombuffer(data, np.uint8).copy()
    hit = np.flatnonzero(_COUNT[letters] > 0)
    hit = hit[rng.random(len(hit)) < magnitude]
    keys = letters[hit]
    letters[hit] = _NEAR[keys, rng.integers(0, _COUNT[keys])]
    buffers = [whole.buffers()[0], offsets, pa.py_buffer(letters.tobytes())]
    return pa.Array.from_buffers(pa.large_string(), len(whole), buffers).cast(column.type)


def as_type(column: pa.Array, wanted: pa.DataType) -> pa.Array:
    """Of this type; numbers that do not fit whole ones are rounded, as a table that has its types would."""
    if column.type == wanted:
        return column
    if pa.types.is_floating(column.type) and pa.types.is_integer(wanted):
        info = np.iinfo(wanted.to_pandas_dtype())
        clipped = pc.max_element_wise(pc.min_element_wise(pc.round(column), float(info.max // 2)), float(info.min // 2))
        return pc.if_else(pc.is_valid(column), clipped, None).cast(wanted)
    return column.cast(wanted, safe=False)


def _keyboard() -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.int64]]:
    """The neighbours of each letter on a qwerty keyboard, and how many there are."""
    near, count = np.zeros((256, 8), np.uint8), np.zeros(256, np.int64)
    for row, letters in enumerate(_ROWS):
        for at, letter in enumerate(letters):
            # each row stands half a key to the right of the one above
            places = [(row, at - 1), (row, at + 1), (row - 1, at), (row - 1, at + 1), (row + 1, at - 1), (row + 1, at)]
            found = [_ROWS[r][c] for r, c in places if 0 <= r < len(_ROWS) and 0 <= c < len(_ROWS[r])]
            for key, neighbours in ((letter, found), (letter.upper(), [each.upper() for each in found])):
                near[ord(key), : len(neighbours)] = [ord(each) for each in neighbours]
                count[ord(key)] = len(neighbours)
    return near, count


_NEAR, _COUNT = _keyboard()

ERRORS = {
    error.name: error
    for error in (
        Error("explicit missing values", frozenset(Kind), 1, _explicit),
        Error("implicit missing values", _NUMBERS | TEXT, 1, _implicit),
        Error("numeric anomalies", _NUMBERS, 1, _anomalous),
        Error("swapped numeric fields", _NUMBERS, 2, _swapped),
        Error("swapped textual fields", TEXT, 2, _swapped),
        Error("typos", TEXT, 1, _mistyped),
    )
}
