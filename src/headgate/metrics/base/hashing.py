"""MurmurHash3 x64 128 over whole columns at once, bit for bit the hash that Apache DataSketches uses (seed 9001)."""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Sequence
from itertools import pairwise
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

Bytes: TypeAlias = npt.NDArray[np.uint8]
Integers: TypeAlias = npt.NDArray[np.int64]
Words: TypeAlias = npt.NDArray[np.uint64]
Hashes: TypeAlias = tuple[Words, Words]

SEED = 9001
LONGEST = 1024  # bytes; longer values would need many rounds of 16 bytes over few rows, which is slow in numpy

_FIRST_FACTOR, _SECOND_FACTOR = 0x87C37B91114253D5, 0x4CF5AD432745937F
_AVALANCHE_FACTORS = (0xFF51AFD7ED558CCD, 0xC4CEB9FE1A85EC53)
_WORD = (1 << 64) - 1
_C1, _C2 = np.uint64(_FIRST_FACTOR), np.uint64(_SECOND_FACTOR)
_FIVE = np.uint64(5)
_MORE_LOW, _MORE_HIGH = np.uint64(0x52DCE729), np.uint64(0x38495AB5)
_SEED, _EIGHT = np.uint64(SEED), np.uint64(8)
_AT_ONCE = 8192  # values hashed at a time: they fit into a core's cache with all that is computed from them
_FEW, _FEW_BYTES = 12, 512  # values, and bytes of all of them, that are hashed one by one
_ROUNDS = 4  # of 16 bytes, whose words are read at a time


def hash_words(words: Words) -> Hashes:
    """The hash of each 8-byte value (an integer, or the bits of a double)."""
    first, second = np.empty(len(words), np.uint64), np.empty(len(words), np.uint64)
    memory = _Memory(min(len(words), _AT_ONCE), 1)
    for start in range(0, len(words), _AT_ONCE):
        some = slice(start, start + _AT_ONCE)
        own = words[some]
        state, spare = (each[: 2 * len(own)].reshape(2, -1) for each in (memory.state, memory.spare))
        state[0], state[1] = own, _SEED
        _mix(state[0], _C1, 31, _C2, spare[0])
        state[0] ^= _SEED
        _finish(state, _EIGHT, spare)
        first[some], second[some] = state
    return first, second


def hash_bytes(data: Bytes, offsets: Integers) -> Hashes:
    """The hash of each byte string `data[offsets[i]:offsets[i + 1]]`; those over `LONGEST` bytes go through BLAKE2."""
    starts = offsets[:-1]
    lengths = np.diff(offsets)
    if not len(lengths):
        return np.empty(0, np.uint64), np.empty(0, np.uint64)
    if len(lengths) <= _FEW and len(data) <= _FEW_BYTES:
        return _hash_few(data.tobytes(), offsets.tolist())
    if len(data) <= LONGEST or int(lengths.max()) <= LONGEST:
        return _murmur(data, starts, lengths)
    long = np.flatnonzero(lengths > LONGEST)
    short = np.flatnonzero(lengths <= LONGEST)
    first, second = np.empty(len(lengths), np.uint64), np.empty(len(lengths), np.uint64)
    first[short], second[short] = _murmur(data, starts[short], lengths[short])
    for row in long:
        digest = hashlib.blake2b(data[starts[row] : starts[row] + lengths[row]].tobytes(), digest_size=16).digest()
        first[row], second[row] = np.frombuffer(digest, np.uint64)
    return first, second


def combine(columns: list[Hashes]) -> Hashes:
    """One hash for each row, from the hashes of several columns; the order of the columns matters."""
    state = np.array(columns[0])
    spare = np.empty_like(state)
    for low, high in columns[1:]:
        mixed_low, mixed_high = _mix(low.copy(), _C1, 31, _C2, spare[0]), _mix(high.copy(), _C2, 33, _C1, spare[0])
        _add_round(state, mixed_low, mixed_high, spare[0])
    _finish(state, np.uint64(16 * len(columns)), spare)
    return state[0], state[1]


def hash_rows(columns: Sequence[Words]) -> Hashes:
    """Two words for each row, from one word of each column; the order of the columns matters.

    Each step is a bijection of the row's hash and of the column's word, so that a single changed word always shows.
    Rows that differ in several have the same two words with probability 2^-128. It takes a third of the time of
    `combine`.
    """
    state = np.full((2, len(columns[0])), SEED, np.uint64)
    first, second = state
    for words in columns:
        first ^= words
        first *= _C1
        first ^= first >> np.uint64(29)
        second += words
        second *= _C2
        second ^= second >> np.uint64(32)
    _finish(state, np.uint64(8 * len(columns)), np.empty_like(state))
    return first, second


def _murmur(data: Bytes, starts: Integers, lengths: Integers) -> Hashes:
    first, second = np.empty(len(starts), np.uint64), np.empty(len(starts), np.uint64)
    if not len(starts):
        return first, second
    memory = _Memory(min(len(starts), _AT_ONCE), min(_ROUNDS, (int(lengths.max()) >> 4) + 1))
    for start in range(0, len(starts), _AT_ONCE):
        some = slice(start, start + _AT_ONCE)
        first[some], second[some] = _hash_block(data, starts[some], lengths[some], memory)
    return first, second


class _Memory:
    """Arrays that all blocks of values use: new memory costs more than most of what is done in it."""

    def __init__(self, count: int, rounds: int) -> None:
        self.state, self.spare = np.empty(2 * count, np.uint64), np.empty(max(2, rounds) * count, np.uint64)
        self.low, self.high = np.empty(rounds * count, np.uint64), np.empty(rounds * count, np.uint64)


def _hash_block(data: Bytes, starts: Integers, lengths: Integers, memory: _Memory) -> Words:
    """Hash as many values as fit into a core's cache with all that is computed from them."""
    rounds = lengths >> 4
    longest = int(rounds.max())
    begin, end = int(starts[0]), int(starts[-1]) + 16 * (longest + _ROUNDS)
    if end > len(data):  # words are read past the end of the last value
        data = np.concatenate([data[begin:], np.zeros(end - len(data), np.uint8)])
        starts = starts - begin
    if longest == int(rounds.min()):
        return _hash_ordered(data, starts, lengths, memory, [len(starts)] * (longest + 1))
    # those with more rounds first, so that each round is of the first so many
    order = np.argsort((longest - rounds).astype(np.uint8), kind="stable")
    sizes = np.bincount(rounds)
    at_least = len(starts) - np.cumsum(sizes) + sizes
    ordered = _hash_ordered(data, starts[order], lengths[order], memory, at_least.tolist())
    hashes = np.empty_like(ordered)
    hashes[0][order], hashes[1][order] = ordered
    return hashes


def _hash_ordered(data: Bytes, starts: Integers, lengths: Integers, memory: _Memory, at_least: list[int]) -> Words:
    """Hash values in falling order of their rounds of 16 bytes; so many have at least 0, 1, 2, ... rounds."""
    state = memory.state[: 2 * len(starts)].reshape(2, -1)
    state[:] = _SEED
    for before in range(0, len(at_least), _ROUNDS):
        counts = [*at_least[before : before + _ROUNDS], 0]
        if before + _ROUNDS < len(at_least):
            counts[-1] = at_least[before + _ROUNDS]
        low, high = _read_words(data, starts[: counts[0]], lengths, before, len(counts) - 1, memory)
        spans = list(pairwise(counts))
        for at, (many, more) in enumerate(spans):
            if more < many:  # these end in this round
                left = lengths[more:many] & 15
                low[at, more:many] &= _KEEP_LOW[left]
                high[at, more:many] &= _KEEP_HIGH[left]
        spare = memory.spare[: low.size].reshape(low.shape)
        _mix(low, _C1, 31, _C2, spare)
        _mix(high, _C2, 33, _C1, spare)
        for at, (many, more) in enumerate(spans):
            if more:
                _add_round(state[:, :more], low[at, :more], high[at, :more], spare[0, :more])
            if more < many:
                state[0, more:many] ^= low[at, more:many]
                state[1, more:many] ^= high[at, more:many]
    _finish(state, lengths.view(np.uint64), memory.spare[: state.size].reshape(state.shape))
    return state


def _read_words(
    data: Bytes, starts: Integers, lengths: Integers, before: int, rounds: int, memory: _Memory
) -> tuple[Words, Words]:
    """The first and the second little-endian word of each value in so many rounds, after those before."""
    size, count = int(lengths[0]), len(starts)
    if int(starts[-1]) - int(starts[0]) == size * (count - 1) and bool((starts[1:] - starts[:-1] == size).all()):
        # adjacent values of one length are read with a stride, which is faster than an index
        begin = int(starts[0]) + 16 * before
        words = np.ndarray((rounds, 2, count), "<u8", data.data, begin, strides=(16, 8, size))
    else:
        # one index for all words of a value: what an index costs hardly depends on how much it reads
        width = 16 * rounds
        windows = np.ndarray((len(data) - width + 1,), f"V{width}", data.data, strides=(1,))
        words = windows[starts + 16 * before].view("<u8").reshape(count, rounds, 2).transpose(1, 2, 0)
    low, high = (each[: rounds * count].reshape(rounds, count) for each in (memory.low, memory.high))
    np.copyto(low, words[:, 0])
    np.copyto(high, words[:, 1])
    return low, high


def _mix(words: Words, factor: np.uint64, turn: int, other_factor: np.uint64, spare: Words) -> Words:
    """Scramble words before they enter the state."""
    words *= factor
    _rotate(words, turn, spare)
    words *= other_factor
    return words


def _add_round(state: Words, low: Words, high: Words, spare: Words) -> None:
    first, second = state
    first ^= low
    _rotate(first, 27, spare)
    first += second
    first *= _FIVE
    first += _MORE_LOW
    second ^= high
    _rotate(second, 31, spare)
    second += first
    second *= _FIVE
    second += _MORE_HIGH


def _rotate(words: Words, turn: int, spare: Words) -> None:
    np.left_shift(words, _BITS[turn], out=spare)
    np.right_shift(words, _BITS[64 - turn], out=words)
    np.bitwise_or(words, spare, out=words)


def _finish(state: Words, length: Words | np.uint64, spare: Words) -> None:
    first, second = state
    state ^= length
    first += second
    second += first
    for factor in _AVALANCHE:
        np.right_shift(state, _BITS[33], out=spare)
        state ^= spare
        state *= factor
    np.right_shift(state, _BITS[33], out=spare)
    state ^= spare
    first += second
    second += first


_BITS = [np.uint64(count) for count in range(64)]
_AVALANCHE = tuple(map(np.uint64, _AVALANCHE_FACTORS))
# which bytes of its last two words belong to a value that has so many bytes left
_KEEP_LOW = np.array([(1 << (8 * min(count, 8))) - 1 for count in range(16)], np.uint64)
_KEEP_HIGH = np.array([(1 << (8 * max(count - 8, 0))) - 1 for count in range(16)], np.uint64)


def _hash_few(data: bytes, offsets: list[int]) -> Hashes:
    """Hash values one by one, which takes less time for few of them than the many steps over arrays."""
    found = [hash_value(data[start:end]) for start, end in pairwise(offsets)]
    first, second = zip(*found, strict=True)
    return np.array(first, np.uint64), np.array(second, np.uint64)


def hash_value(value: bytes) -> tuple[int, int]:
    """The hash of one value of at most `LONGEST` bytes."""
    first = second = SEED
    rounds = len(value) >> 4
    words = struct.unpack(f"<{2 * rounds + 2}Q", value.ljust(16 * rounds + 16, b"\0"))
    for at in range(0, len(words), 2):
        first ^= _rotate_word(words[at] * _FIRST_FACTOR, 31) * _SECOND_FACTOR & _WORD
        mixed = _rotate_word(words[at + 1] * _SECOND_FACTOR, 33) * _FIRST_FACTOR & _WORD
        if at < 2 * rounds:
            first = (_rotate_word(first, 27) + second) * 5 + 0x52DCE729 & _WORD
            second = (_rotate_word(second ^ mixed, 31) + first) * 5 + 0x38495AB5 & _WORD
        else:
            second ^= mixed
    first, second = first ^ len(value), second ^ len(value)
    first = first + second & _WORD
    second = second + first & _WORD
    first, second = _scatter_word(first), _scatter_word(second)
    first = first + second & _WORD
    return first, second + first & _WORD


def _rotate_word(word: int, turn: int) -> int:
    word &= _WORD
    return (word << turn | word >> 64 - turn) & _WORD


def _scatter_word(word: int) -> int:
    for factor in _AVALANCHE_FACTORS:
        word = (word ^ word >> 33) * factor & _WORD
    return word ^ word >> 33


def hash_label(label: str, secret: bytes) -> str:
    """16 hexadecimal digits in place of a label. Without the secret they show only whether labels are equal."""
    return hashlib.blake2b(label.encode("utf-8", "surrogatepass"), key=secret[:64], digest_size=8).hexdigest()
