"""Tokens of a column's values, as numbers: the whole value is one, and so is each run of letters and digits in it."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from headgate.metrics.base.batch import ColumnBatch
from headgate.metrics.base.hashing import Words, hash_bytes, hash_words
from headgate.metrics.base.text import Integers, Texts
from headgate.values.schema import BYTES, Kind

BUCKETS = 4096  # the number of different hashes of tokens

Buckets = npt.NDArray[np.uint16]

_ODD = 0x9E3779B97F4A7C15
_BYTE = np.arange(256, dtype=np.uint8)
_UPPER = (_BYTE >= 65) & (_BYTE <= 90)
_LOWER = np.where(_UPPER, _BYTE + 32, _BYTE).astype(np.uint8)
# all bytes beyond ASCII count: punctuation there was replaced by spaces before
_IN_WORD = _UPPER | ((_BYTE >= 97) & (_BYTE <= 122)) | ((_BYTE >= 48) & (_BYTE <= 57)) | (_BYTE >= 128)


class Tokens(NamedTuple):
    """The tokens of rows: those of row i are `sizes[i]` buckets from `starts[i]` on."""

    buckets: Buckets
    starts: Integers
    sizes: Integers

    def of_rows(self, rows: npt.NDArray[np.integer[Any]]) -> Tokens:
        return Tokens(self.buckets, self.starts[rows], self.sizes[rows])

    def in_a_row(self) -> Buckets:
        """The tokens of the first row, then those of the second, and so on."""
        return self.buckets[_span_indices(self.starts, self.sizes)]

    def owners(self) -> Integers:
        """The row of each token, in the order of `in_a_row`."""
        return np.repeat(np.arange(len(self.sizes)), self.sizes)


def tokens_of(batch: ColumnBatch, rows: Integers, place: int, most: int) -> Tokens:
    """At most `most` tokens of each of these rows of a column, none where it is null.

    The whole value comes first, then its words in order, in lower case; numbers and dates are read as text. `place` is
    the index of the column: the same word in another column is another token.

    >>> batch = ColumnBatch(pa.array(["New York", "york", None]), Kind.STRING)
    >>> found = tokens_of(batch, np.arange(3), place=0, most=8)
    >>> found.sizes.tolist()
    [3, 2, 0]
    >>> new_york, york = found.in_a_row()[:3], found.in_a_row()[3:]
    >>> bool(new_york[2] == york[1])
    True
    """
    texts, at = _distinct_values(batch, rows)
    found = _tokenize_texts(texts, place, most)
    nothing = Tokens(found.buckets, np.append(found.starts, 0), np.append(found.sizes, 0))
    return nothing.of_rows(at)


def side_by_side(columns: Sequence[Tokens]) -> Tokens:
    """The tokens of each row in all of the columns, column by column.

    >>> left = Tokens(np.array([1, 2, 3], np.uint16), starts=np.array([0, 2]), sizes=np.array([2, 1]))
    >>> right = Tokens(np.array([7, 8], np.uint16), starts=np.array([0, 1]), sizes=np.array([1, 1]))
    >>> side_by_side([left, right]).in_a_row().tolist()
    [1, 2, 7, 3, 8]
    """
    sizes = np.stack([column.sizes for column in columns]).sum(axis=0)
    starts = np.cumsum(sizes) - sizes
    buckets = np.empty(int(sizes.sum()), np.uint16)
    next_starts = starts.copy()
    for column in columns:
        buckets[_span_indices(next_starts, column.sizes)] = column.in_a_row()
        next_starts += column.sizes
    return Tokens(buckets, starts, sizes)


def _span_indices(starts: Integers, sizes: Integers) -> Integers:
    """The indices start, start + 1, ... of each span, span after span."""
    before = np.cumsum(sizes) - sizes
    return np.repeat(starts - before, sizes) + np.arange(int(sizes.sum()))


def _distinct_values(batch: ColumnBatch, rows: Integers) -> tuple[Texts, Integers]:
    """The distinct values of these rows as text, and the index of each row's value; past the last for a null."""
    if batch.kind in BYTES or batch.kind is Kind.DECIMAL:
        values = batch.array.take(pa.array(rows))
        encoded = (values if batch.kind in BYTES else values.cast(pa.string())).dictionary_encode()
        indices = encoded.indices.fill_null(len(encoded.dictionary)).to_numpy(zero_copy_only=False)
        return Texts(encoded.dictionary), indices
    tally = batch.tally
    texts = Texts(pa.array(tally.label(np.arange(len(tally.counts))), pa.string()))
    order = np.argsort(tally.hashes[0])
    near = np.searchsorted(tally.hashes[0][order], batch.hashes[0][rows])
    return texts, np.where(batch.valid[rows], np.append(order, len(order))[near], len(order))


def _tokenize_texts(texts: Texts, place: int, most: int) -> Tokens:
    texts = texts if texts.ascii else _lower_beyond_ascii(texts)
    data, offsets, inside = _LOWER[texts.data], texts.offsets, _IN_WORD[texts.data]
    begins, ends = _word_bounds(inside, offsets)
    owners = np.searchsorted(offsets, begins, side="right") - 1
    counts = np.bincount(owners, minlength=len(texts))
    ranks = np.arange(len(owners)) - (np.cumsum(counts) - counts)[owners]
    sizes = 1 + np.minimum(counts, most - 1)
    starts = np.cumsum(sizes) - sizes
    buckets = np.empty(int(sizes.sum()), np.uint16)
    buckets[starts] = _salt_hashes(hash_bytes(data, offsets)[0], 2 * place)
    words = _salt_hashes(hash_bytes(data[inside], np.append(0, np.cumsum(ends - begins)))[0], 2 * place + 1)
    kept = np.flatnonzero(ranks < most - 1)
    buckets[starts[owners[kept]] + 1 + ranks[kept]] = words[kept]
    return Tokens(buckets, starts, sizes)


def _word_bounds(inside: npt.NDArray[np.bool_], offsets: Integers) -> tuple[Integers, Integers]:
    """The starts and the ends of words."""
    before, after = np.append(False, inside[:-1]), np.append(inside[1:], False)
    bounds = offsets[(offsets > 0) & (offsets < len(inside))]
    before[bounds] = False
    after[bounds - 1] = False
    return np.flatnonzero(inside & ~before), np.flatnonzero(inside & ~after) + 1


def _salt_hashes(hashes: Words, salt: int) -> Buckets:
    mixed, _ = hash_words(hashes ^ np.uint64(salt * _ODD % 2**64))
    return (mixed % np.uint64(BUCKETS)).astype(np.uint16)


def _lower_beyond_ascii(texts: Texts) -> Texts:
    """The texts in lower case, with separators, punctuation and symbols beyond ASCII replaced by spaces."""
    raw = texts.array.cast(pa.large_binary())
    foreign = np.zeros(len(texts), np.bool_)
    foreign[np.searchsorted(texts.offsets, np.flatnonzero(texts.data >= 128), side="right") - 1] = True
    mask = pa.array(foreign)
    lowered = [value.decode("utf-8", "backslashreplace").lower() for value in raw.filter(mask).to_pylist()]
    return Texts(pc.replace_with_mask(raw, mask, _break_words(lowered)))


def _break_words(texts: list[str]) -> pa.Array:
    """The texts with a space for every character beyond ASCII that ends a word, computed on all code points at once."""
    points = np.frombuffer("".join(texts).encode("utf-32-le"), "<u4")
    points = np.where(_break_table()[np.minimum(points, len(_break_table()) - 1)], np.uint32(32), points)
    widths = 1 + (points >= 0x80) + (points >= 0x800) + (points >= 0x10000)
    ends = np.cumsum([0, *map(len, texts)])
    offsets = np.append(0, np.cumsum(widths))[ends].astype(np.int64)
    data = points.astype("<u4").tobytes().decode("utf-32-le").encode()
    return pa.Array.from_buffers(pa.large_binary(), len(texts), [None, pa.py_buffer(offsets), pa.py_buffer(data)])


@cache
def _break_table() -> npt.NDArray[np.bool_]:
    """Whether a character beyond ASCII ends a word. Combining marks do not: many scripts write vowels with them."""
    breaks = [unicodedata.category(chr(point))[0] in "PSZ" for point in range(0x20000)]
    return np.array([*[False] * 0x80, *breaks[0x80:], False])
