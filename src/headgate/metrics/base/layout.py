"""Patterns of columns whose values have one length, and words and other characters in the same places.

Most columns of identifiers, codes and formatted dates are. The runs of all their values are those of the first, so that
only the classes of characters in each word must be read from the others.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from headgate.metrics.base.codes import BLOCK, FIRST_SYMBOL, Bytes
from headgate.metrics.base.runs import find_runs

Integers = npt.NDArray[np.int64]
Keys = npt.NDArray[np.uint32] | npt.NDArray[np.uint64]

_MOST_WORDS = 16  # four bits for each in a key
_LEAST_VALUES = 32  # with fewer the general way costs no more
_WORD = FIRST_SYMBOL - 1  # all bits of a word
_KEYED = 16_384  # values whose words are read at a time


class Layout(NamedTuple):
    """The codes of so many values, `size` bytes each, and the runs of each: where it begins and ends, and its code.

    The code is 0 for a run of letters and digits, a word; `words` has where these begin and end.
    """

    codes: Bytes
    size: int
    runs: list[tuple[int, int, int]]
    words: list[tuple[int, int]]

    def count_patterns(self, weights: Integers | None) -> tuple[pa.Array, Integers]:
        """The patterns that occur, in symbol codes, and how many values have each."""
        keys = np.concatenate([self._read_keys(codes) for codes in cut_rows(self.codes, self.size, _KEYED)])
        if weights is None:
            keys.sort()
            starts, counts = find_runs(keys)
            return self._list_symbols(keys[starts]), counts
        distinct, indices = np.unique(keys, return_inverse=True)
        return self._list_symbols(distinct), np.bincount(indices, weights).astype(np.int64)

    def _read_keys(self, codes: Bytes) -> Keys:
        """For each value of a block the bits of its words, four bits for each."""
        kind = np.dtype(np.uint32 if len(self.words) <= 8 else np.uint64)
        keys = np.zeros(len(codes) // self.size, kind)
        for at, (start, end) in enumerate(self.words):
            bits = _join_word(codes, self.size, start, end).astype(kind, copy=False)
            bits &= kind.type(_WORD)
            bits <<= kind.type(4 * at)
            keys |= bits
        return keys

    def _list_symbols(self, keys: Keys) -> pa.Array:
        codes = np.array([code for _, _, code in self.runs], np.uint8)
        symbols = np.empty((len(keys), len(codes)), np.uint8)
        symbols[:] = codes
        shifts = np.arange(0, 4 * len(self.words), 4).astype(keys.dtype)
        symbols[:, codes == 0] = np.right_shift.outer(keys, shifts) & keys.dtype.type(_WORD)
        offsets = np.arange(len(keys) + 1, dtype=np.int64) * len(self.runs)
        return pa.Array.from_buffers(
            pa.large_binary(), len(keys), [None, pa.py_buffer(offsets), pa.py_buffer(symbols.ravel())]
        )


def find_layout(codes: Bytes, offsets: Integers, longest: int) -> Layout | None:
    """The layout that all values share; None if they share none, are longer than so many bytes, or are few."""
    size, count = int(offsets[1]) if len(offsets) > _LEAST_VALUES else 0, len(offsets) - 1
    if not 0 < size <= longest or len(codes) != size * count or (offsets[1:] - offsets[:-1] != size).any():
        return None
    model = codes[:size]
    runs = _list_runs(model)
    words = [(start, end) for start, end, code in runs if not code]
    if len(words) > _MOST_WORDS:
        return None
    rows = min(count, max(1, BLOCK // size))
    model_rows = np.maximum(model, _WORD).tobytes() * rows  # with one code for all that occur in words
    for block in cut_rows(codes, size, rows):
        if np.maximum(block, _WORD).tobytes() != model_rows[: len(block)]:
            return None
    return Layout(codes, size, runs, words)


def cut_rows(codes: Bytes, size: int, rows: int) -> list[Bytes]:
    """Blocks of so many values."""
    return [codes[start : start + rows * size] for start in range(0, len(codes), rows * size)]


def _list_runs(codes: Bytes) -> list[tuple[int, int, int]]:
    kinds = np.where(codes < FIRST_SYMBOL, 0, codes)
    starts, _ = find_runs(kinds)
    return [(start, end, int(kinds[start])) for start, end in pairwise([*starts.tolist(), len(kinds)])]


def _join_word(codes: Bytes, size: int, start: int, end: int) -> npt.NDArray[np.unsignedinteger]:
    """The union of the bytes from `start` to `end` of each value, in the lowest bits, with others above them."""
    width = next(each for each in (4, 2, 1) if each <= end - start)
    count = len(codes) // size
    # the last reading may overlap the one before, which changes no union
    places = [*range(start, end - width, width), end - width]
    views = [np.ndarray((count,), f"<u{width}", codes.data, place, strides=(size,)) for place in places]
    bits = views[0].copy()
    for view in views[1:]:
        bits |= view
    while width > 1:
        bits |= bits >> bits.dtype.type(4 * width)
        width //= 2
    return bits
