"""The distinct values of one batch of a column with their counts, computed in the fastest way for the column."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from headgate.metrics.base.arrow import to_plain
from headgate.metrics.base.hashing import Hashes, Words, hash_bytes, hash_words
from headgate.metrics.base.labels import Labels, format_labels
from headgate.metrics.base.runs import find_runs
from headgate.metrics.base.text import Texts, join_texts

Integers = npt.NDArray[np.int64]

_PROBE = 512  # values that are sampled to see whether nearly all values of a column differ


class Tally:
    """The counts of the distinct values, their hashes, and a function for the labels of some of them.

    `hashed` is what is hashed of the values, until their hashes are asked for; then it is these.
    `label` gives numbers as text, or the texts themselves. `spread` makes an array with an element for every row from
    one with an element for every distinct value, or for every row where `keys` are given. None of the functions refers
    to the tally, or to what holds it: a batch must be freed at once, not when garbage is collected.
    """

    def __init__(
        self,
        counts: Integers,
        hashed: Words | Texts | Hashes,
        label: Callable[[Integers], list[str] | pa.Array],
        keys: Words | None = None,
        spread: Callable[[Words], Words] | None = None,
    ) -> None:
        self.counts = counts
        self.hashed = hashed
        self._label = label
        self._spread = spread
        self._keys = keys

    @property
    def hashes(self) -> Hashes:
        if not isinstance(self.hashed, tuple):
            hash_together([self])
        assert isinstance(self.hashed, tuple)
        return self.hashed

    @property
    def row_hashes(self) -> Hashes | None:
        """The hash of the value of every row; None if they must be hashed again."""
        if self._spread is None:
            return None
        first, second = self.hashes
        return self._spread(first), self._spread(second)

    @property
    def rows(self) -> Words | None:
        """The first half of the hash of the value of every row; None if they must be hashed again."""
        return None if self._spread is None else self._spread(self.hashes[0])

    @property
    def keys(self) -> Words:
        """The first half of each distinct value's hash."""
        return self.hashes[0] if self._keys is None else self._keys

    def label(self, at: Integers) -> list[str]:
        """The labels of the distinct values at these places."""
        found = self._label(at)
        return found if isinstance(found, list) else format_labels(found)

    def pack_labels(self, at: Integers) -> Labels:
        """The same as bytes."""
        found = self._label(at)
        return Labels.of(found) if isinstance(found, list) else Labels.of_values(found)


def tally_numbers(
    ordered: npt.NDArray[np.int64] | npt.NDArray[np.float64], label: Callable[[npt.NDArray[np.generic]], list[str]]
) -> Tally:
    """The tally of sorted numbers. NaNs come last and count as one value."""
    starts, counts = find_runs(ordered)
    values = ordered[starts] if len(starts) < len(ordered) else ordered
    if ordered.dtype == np.float64 and len(ordered) and np.isnan(ordered[-1]):
        nans = int(np.isnan(values).sum())
        keep = len(values) - nans + 1
        values, counts = np.append(values[: keep - 1], np.nan), np.append(counts[: keep - 1], nans)
    return Tally(counts, values.view(np.uint64), lambda at: label(values[at]))


def tally_bytes(array: pa.Array) -> tuple[Tally, Texts, Integers | None]:
    """The tally of strings without nulls, with the values that further work must read and the weight of each.

    If values repeat, they are dictionary encoded and only the distinct ones are read again. If nearly all differ,
    encoding costs more than it saves: they are counted by their hashes, all of them are read, and weights are None.
    """
    if _mostly_new(array):
        texts = Texts(array.drop_null() if array.null_count else array)
        return _by_hash(texts), texts, None
    return tally_encoded(array.dictionary_encode())


def tally_encoded(encoded: pa.DictionaryArray) -> tuple[Tally, Texts, Integers | None]:
    """The same of strings that are dictionary encoded. Entries that no row has are left out."""
    present = encoded.indices.drop_null() if encoded.null_count else encoded.indices
    indices = present.to_numpy(zero_copy_only=False)
    counts = np.bincount(indices, minlength=len(encoded.dictionary))
    values = to_plain(encoded.dictionary)
    if not counts.all():
        used = np.flatnonzero(counts)
        places = np.empty(len(counts), np.int64)
        places[used] = np.arange(len(used))
        indices, counts, values = places[indices], counts[used], values.take(pa.array(used))
    distinct = Texts(values)
    tally = Tally(
        counts,
        distinct,
        lambda at: distinct.array if _are_all(at, len(counts)) else distinct.array.take(pa.array(at)),
        spread=lambda words: words[indices],
    )
    return tally, distinct, counts if int(counts.max(initial=0)) > 1 else None


def _are_all(places: Integers, count: int) -> bool:
    """Whether these are the first so many places, in order."""
    return len(places) == count and bool((places == np.arange(count)).all())


def _mostly_new(array: pa.Array) -> bool:
    return len(array) > 2 * _PROBE and len(array.slice(0, _PROBE).unique()) > 0.75 * _PROBE


def _by_hash(texts: Texts) -> Tally:
    first, second = hash_bytes(texts.data, texts.offsets)
    starts, counts = find_runs(ordered := np.sort(first))

    def label(at: Integers) -> pa.Array:
        wanted = ordered[starts[at]]
        order = np.argsort(wanted)
        near = np.minimum(np.searchsorted(wanted[order], first), len(wanted) - 1)
        hits = np.flatnonzero(wanted[order][near] == first)
        rows = np.empty(len(wanted), np.int64)
        rows[order[near[hits]]] = hits
        return texts.array.take(pa.array(rows))

    # equal values have equal hashes, so a distinct-count sketch may be fed with every row
    return Tally(counts, (first, second), label, ordered[starts], spread=lambda words: words)


def hash_together(tallies: Sequence[Tally]) -> None:
    """Hash the values of several columns as if they were one: of few values, many take hardly longer than one."""
    numbers = [(each, each.hashed) for each in tallies if isinstance(each.hashed, np.ndarray)]
    if numbers:
        words = np.concatenate([own for _, own in numbers]) if len(numbers) > 1 else numbers[0][1]
        _share_hashes([each for each, _ in numbers], hash_words(words))
    texts = [(each, each.hashed) for each in tallies if isinstance(each.hashed, Texts)]
    if texts:
        _share_hashes([each for each, _ in texts], hash_bytes(*join_texts([own for _, own in texts])))


def _share_hashes(tallies: Sequence[Tally], hashes: Hashes) -> None:
    """Give each tally its part of the hashes of all values."""
    first, second = hashes
    ends = np.cumsum([len(each.counts) for each in tallies]).tolist()
    for tally, start, end in zip(tallies, [0, *ends], ends, strict=False):
        tally.hashed = first[start:end], second[start:end]
