"""MurmurHash3 x64 128 over whole columns at once, bit for bit the hash that Apache DataSketches uses (seed 9001)."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

Words: TypeAlias = npt.NDArray[np.uint64]
Hashes: TypeAlias = tuple[Words, Words]

SEED = 9001
LONGEST = 1024  # bytes; longer values would need many rounds of 16 bytes over few rows, which is slow in numpy

_C1 = np.uint64(0x87C37B91114253D5)
_C2 = np.uint64(0x4CF5AD432745937F)
_FIVE = np.uint64(5)


def hash_words(words: Words) -> Hashes:
    """The hash of each 8-byte value (an integer, or the bits of a double)."""
    first = np.full(len(words), SEED, np.uint64)
    second = first.copy()
    first ^= _mix_first(words)
    return _finish(first, second, np.uint64(8))


def hash_bytes(data: npt.NDArray[np.uint8], offsets: npt.NDArray[np.int64]) -> Hashes:
    """The hash of each byte string `data[offsets[i]:offsets[i + 1]]`; those over `LONGEST` bytes go through BLAKE2."""
    starts = offsets[:-1]
    lengths = np.diff(offsets)
    if not len(lengths):
        return np.empty(0, np.uint64), np.empty(0, np.uint64)
    long = np.flatnonzero(lengths > LONGEST)
    if not len(long):
        return _murmur(data, starts, lengths)
    short = np.flatnonzero(lengths <= LONGEST)
    first, second = np.empty(len(lengths), np.uint64), np.empty(len(lengths), np.uint64)
    first[short], second[short] = _murmur(data, starts[short], lengths[short])
    for row in long:
        digest = hashlib.blake2b(data[starts[row] : starts[row] + lengths[row]].tobytes(), digest_size=16).digest()
        first[row], second[row] = np.frombuffer(digest, np.uint64)
    return first, second


def combine(columns: list[Hashes]) -> Hashes:
    """One hash for each row, from the hashes of several columns; the order of the columns matters."""
    first, second = columns[0][0].copy(), columns[0][1].copy()
    for other_first, other_second in columns[1:]:
        _round(first, second, other_first, other_second)
    return _finish(first, second, np.uint64(16 * len(columns)))


def hash_rows(columns: Sequence[Words]) -> Hashes:
    """Two words for each row, from one word of each column; the order of the columns matters.

    Each step is a bijection of the row's hash and of the column's word, so that a single changed word always shows.
    Rows that differ in several have the same two words with probability 2^-128. It takes a third of the time of
    `combine`.
    """
    first = np.full(len(columns[0]), SEED, np.uint64)
    second = first.copy()
    for words in columns:
        first ^= words
        first *= _C1
        first ^= first >> np.uint64(29)
        second += words
        second *= _C2
        second ^= second >> np.uint64(32)
    return _finish(first, second, np.uint64(8 * len(columns)))


def _murmur(data: npt.NDArray[np.uint8], starts: npt.NDArray[np.int64], lengths: npt.NDArray[np.int64]) -> Hashes:
    first = np.full(len(starts), SEED, np.uint64)
    second = first.copy()
    if not len(starts):
        return first, second
    words = _Words(data, starts, lengths)
    rounds = lengths >> 4
    shortest = int(rounds.min())
    for block in range(int(rounds.max())):
        if block < shortest:
            _round(first, second, words.of_all(16 * block), words.of_all(16 * block + 8))
        else:
            # only values that still have a whole block; few remain in the later rounds
            rows = np.flatnonzero(rounds > block)
            some_first, some_second = first[rows], second[rows]
            _round(some_first, some_second, words.of_rows(rows, 16 * block), words.of_rows(rows, 16 * block + 8))
            first[rows], second[rows] = some_first, some_second
    _tail(first, second, words, rounds << 4, lengths & 15)
    return _finish(first, second, lengths.astype(np.uint64))


def _tail(first: Words, second: Words, words: _Words, done: npt.NDArray[np.int64], left: npt.NDArray[np.int64]) -> None:
    """Fold in the last 0 to 15 bytes of each value."""
    longest = int(left.max())
    if longest:
        first ^= _mix_first(words.after(done) & _KEEP[np.minimum(left, 8)])
    if longest > 8:
        second ^= _mix_second(words.after(done + 8) & _KEEP[np.maximum(left - 8, 0)])


class _Words:
    """Reads eight bytes of each value at an offset as one little-endian word; zeros follow the end of the data."""

    def __init__(
        self, data: npt.NDArray[np.uint8], starts: npt.NDArray[np.int64], lengths: npt.NDArray[np.int64]
    ) -> None:
        self.padded = np.zeros(len(data) + 32, np.uint8)
        self.padded[: len(data)] = data
        self.overlapping: Words = np.ndarray((len(data) + 24,), "<u8", self.padded.data, strides=(1,))
        self.starts = starts
        size = int(lengths[0])
        # adjacent values of one length are read with a stride, which is faster than an index
        evenly = len(starts) > 1 and bool((lengths == size).all()) and bool((np.diff(starts) == size).all())
        self.stride = size if evenly and size else 0

    def of_all(self, distance: int) -> Words:
        if self.stride:
            return self._read_strided(distance)
        return self.overlapping[self.starts + distance]

    def of_rows(self, rows: npt.NDArray[np.int64], distance: int) -> Words:
        return self.overlapping[self.starts[rows] + distance]

    def after(self, distances: npt.NDArray[np.int64]) -> Words:
        if self.stride:
            return self._read_strided(int(distances[0]))
        words: Words = self.overlapping[self.starts + distances]
        return words

    def _read_strided(self, distance: int) -> Words:
        begin = int(self.starts[0]) + distance
        return np.ndarray((len(self.starts),), "<u8", self.padded.data, begin, strides=(self.stride,))


_KEEP = np.array([(1 << (8 * count)) - 1 for count in range(9)], np.uint64)


def _round(first: Words, second: Words, low: Words, high: Words) -> None:
    first ^= _mix_first(low)
    first[:] = _rotate(first, 27)
    first += second
    first *= _FIVE
    first += np.uint64(0x52DCE729)
    second ^= _mix_second(high)
    second[:] = _rotate(second, 31)
    second += first
    second *= _FIVE
    second += np.uint64(0x38495AB5)


def _mix_first(word: Words) -> Words:
    mixed = word * _C1
    mixed = _rotate(mixed, 31)
    mixed *= _C2
    return mixed


def _mix_second(word: Words) -> Words:
    mixed = word * _C2
    mixed = _rotate(mixed, 33)
    mixed *= _C1
    return mixed


def _finish(first: Words, second: Words, length: Words | np.uint64) -> Hashes:
    first ^= length
    second ^= length
    first += second
    second += first
    _avalanche(first)
    _avalanche(second)
    first += second
    second += first
    return first, second


def _avalanche(word: Words) -> None:
    word ^= word >> np.uint64(33)
    word *= np.uint64(0xFF51AFD7ED558CCD)
    word ^= word >> np.uint64(33)
    word *= np.uint64(0xC4CEB9FE1A85EC53)
    word ^= word >> np.uint64(33)


def _rotate(word: Words, by: int) -> Words:
    rotated = word << np.uint64(by)
    rotated |= word >> np.uint64(64 - by)
    return rotated


def hash_label(label: str, secret: bytes) -> str:
    """16 hexadecimal digits in place of a label. Without the secret they show only whether labels are equal."""
    return hashlib.blake2b(label.encode("utf-8", "surrogatepass"), key=secret[:64], digest_size=8).hexdigest()
