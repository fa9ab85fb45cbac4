"""The distinct values of one batch of a column with their counts, computed in the fastest way for the column."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from headgate.metrics.base.hashing import Hashes, Words, hash_bytes, hash_words
from headgate.metrics.base.text import Texts, format_labels

Integers = npt.NDArray[np.int64]

_PROBE = 512  # values that are sampled to see whether nearly all values of a column differ


class Tally:
    """The counts of the distinct values, their hashes, and a function for the labels of some of them.

    `row_words` makes the first half of the hash of the value of every row from the hashes of the distinct values, if
    that is known without hashing them again. None of the functions refers to the tally, or to what holds it: a batch
    must be freed at once, not when garbage is collected.
    """

    def __init__(
        self,
        counts: Integers,
        hashes: Callable[[], Hashes],
        label: Callable[[Integers], list[str]],
        keys: Words | None = None,
        row_words: Callable[[Hashes], Words] | None = None,
    ) -> None:
        self.counts = counts
        self.label = label
        self._row_words = row_words
        self._hashes = hashes
        self._keys = keys

    @cached_property
    def hashes(self) -> Hashes:
        return self._hashes()

    @property
    def rows(self) -> Words | None:
        """The first half of the hash of the value of every row; None if they must be hashed again."""
        return None if self._row_words is None else self._row_words(self.hashes)

    @property
    def keys(self) -> Words:
        """The first half of each distinct value's hash."""
        return self.hashes[0] if self._keys is None else self._keys


def find_runs(ordered: npt.NDArray[np.generic]) -> tuple[Integers, Integers]:
    """Where each run of equal values in a sorted array begins, and how long it is."""
    if not len(ordered):
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    starts = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]]))
    return starts, np.diff(np.append(starts, len(ordered)))


def tally_numbers(
    ordered: npt.NDArray[np.int64] | npt.NDArray[np.float64], label: Callable[[npt.NDArray[np.generic]], list[str]]
) -> Tally:
    """The tally of sorted numbers. NaNs come last and count as one value."""
    starts, counts = find_runs(ordered)
    values = ordered[starts]
    if ordered.dtype == np.float64 and len(ordered) and np.isnan(ordered[-1]):
        nans = int(np.isnan(values).sum())
        keep = len(values) - nans + 1
        values, counts = np.append(values[: keep - 1], np.nan), np.append(counts[: keep - 1], nans)
    return Tally(counts, lambda: hash_words(values.view(np.uint64)), lambda at: label(values[at]))


def tally_bytes(array: pa.Array) -> tuple[Tally, Texts, Integers | None]:
    """The tally of strings without nulls, with the values that further work must read and the weight of each.

    If values repeat, they are dictionary encoded and only the distinct ones are read again. If nearly all differ,
    encoding costs more than it saves: they are counted by their hashes, all of them are read, and weights are None.
    """
    if _mostly_new(array):
        texts = Texts(array.drop_null() if array.null_count else array)
        return _by_hash(texts), texts, None
    encoded = array.dictionary_encode()
    distinct = Texts(encoded.dictionary)
    # nulls have no index; they are counted behind the last value, and that count is dropped
    indices = encoded.indices.fill_null(len(distinct)) if array.null_count else encoded.indices
    counts = np.bincount(indices.to_numpy(zero_copy_only=False), minlength=len(distinct))[: len(distinct)]
    tally = Tally(
        counts.astype(np.int64),
        lambda: hash_bytes(distinct.data, distinct.offsets),
        lambda at: format_labels(distinct.array.take(pa.array(at))),
        row_words=lambda hashes: hashes[0][encoded.indices.drop_null().to_numpy(zero_copy_only=False)],
    )
    return tally, distinct, tally.counts


def _mostly_new(array: pa.Array) -> bool:
    return len(array) > 2 * _PROBE and len(array.slice(0, _PROBE).unique()) > 0.75 * _PROBE


def _by_hash(texts: Texts) -> Tally:
    first, second = hash_bytes(texts.data, texts.offsets)
    starts, counts = find_runs(ordered := np.sort(first))

    def label(at: Integers) -> list[str]:
        wanted = ordered[starts[at]]
        order = np.argsort(wanted)
        near = np.minimum(np.searchsorted(wanted[order], first), len(wanted) - 1)
        hits = np.flatnonzero(wanted[order][near] == first)
        rows = np.empty(len(wanted), np.int64)
        rows[order[near[hits]]] = hits
        return format_labels(texts.array.take(pa.array(rows)))

    # equal values have equal hashes, so a distinct-count sketch may be fed with every row
    return Tally(counts, lambda: (first, second), label, ordered[starts], row_words=lambda hashes: hashes[0])
