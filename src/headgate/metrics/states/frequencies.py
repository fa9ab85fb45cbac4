"""The most frequent labels of a stream with a bound on what was lost."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from operator import attrgetter
from typing import Any, NamedTuple

import msgspec
import numpy as np
import numpy.typing as npt

from headgate.metrics.base.hashing import Words, hash_label
from headgate.metrics.base.labels import Labels
from headgate.metrics.base.runs import find_starts
from headgate.metrics.states.packing import Integers, pack_integers, unpack_integers
from headgate.values.errors import MisuseError
from headgate.values.outcome import Distribution
from headgate.values.state import MOST, Rows, Stack, State, are_counts

VALUES = 512
PATTERNS = 128

_SKETCH_ROWS, _SKETCH_WIDTH = 4, 512
_SKETCH_SHIFTS = np.arange(0, 9 * _SKETCH_ROWS, 9, dtype=np.uint64)[:, np.newaxis]
_SKETCH_MASK = np.uint64(_SKETCH_WIDTH - 1)
_LEAST_COUNT = 2.56
"""How many times the count that a full summary surely keeps a label has to have, so that `finish` keeps it too."""
_TOTAL = attrgetter("total")
_INDEX_BITS = 14
_AT_ONCE = 1 << _INDEX_BITS  # labels added up at a time: they fit into a core's cache, and their places into few bits
_LOW = np.uint64(_AT_ONCE - 1)
_FEW = 8  # summaries
_PLACES = np.arange(_AT_ONCE, dtype=np.uint64)


class Frequencies(State, frozen=True, tag="frequent_labels"):
    """A Misra-Gries summary (1982) in its mergeable form (Agarwal et al. 2012) of at most `capacity` labels.

    Exact while there are no more distinct labels than that. Beyond, a count is understated by at most `lost`, and
    `lost` is at most total / (capacity + 1): any label more frequent than that is here. Labels are values of the data,
    which a store hides (`hashed` then names the secret), or patterns of them, which it does not.

    Labels stand in the order of their hashes: `hashes` and `counts` are 64-bit numbers, `texts` the labels in UTF-8 one
    after the other, `ends` 32-bit numbers that say where each ends. So thousands of summaries merge as arrays. Two
    labels are taken for one with probability n^2 / 2^65: 3e-8 for a million labels.

    The counts of a Misra-Gries summary depend on the order of merging. So a summary that is full also counts all values
    in a sketch (Count-Min, Cormode and Muthukrishnan 2005), which does not, and `finish` takes the counts from there.
    `keys` are the hashes of the values, by which the sketch counts them. Neither is stored. In a finished summary a
    count is off by less than `lost` on either side, with few exceptions.
    """

    hashes: bytes = b""
    counts: bytes = b""
    texts: bytes = b""
    ends: bytes = b""
    total: int = 0
    lost: int = 0
    capacity: int = 0
    patterns: bool = False
    hashed: str = ""
    keys: bytes = b""
    sketch: bytes = b""

    @classmethod
    def of(
        cls,
        counts: Integers,
        label: Callable[[Integers], list[str] | Labels],
        capacity: int,
        patterns: bool = False,
        keys: Words | None = None,
    ) -> Frequencies:
        """Of distinct labels, which are asked for only where they are kept; `keys` has a hash of each."""
        if not len(counts):
            return cls()
        cut = _find_cut(counts, capacity)
        kept = np.flatnonzero(counts > cut)
        sketch = pack_integers(_count_in_sketch(keys, counts).ravel()) if cut and keys is not None else b""
        empty = cls(total=int(counts.sum()), lost=cut, capacity=capacity, patterns=patterns, sketch=sketch)
        if not len(kept):
            return empty
        keys = None if keys is None else keys[kept]
        labels = label(kept)
        labels = labels if isinstance(labels, Labels) else Labels.of(labels)
        return empty._with_labels(labels, counts[kept] - cut, keys)

    def __add__(self, other: Frequencies) -> Frequencies:
        return self.merge_all([self, other])

    @classmethod
    def merge_all(cls, states: Sequence[Frequencies]) -> Frequencies:
        """All counts added up, as many at a time as fit, and cut each time that there are more than are kept."""
        held = list(filter(_TOTAL, states))
        if len(held) < 2:
            return held[0] if held else cls()
        return _FrequencyStack(held).merge_rows(np.arange(len(held)))

    @classmethod
    def stack(cls, states: Sequence[Frequencies]) -> Stack[Frequencies]:
        return _FrequencyStack(states)

    def finish(self) -> Frequencies:
        """The labels with counts that do not depend on the order of merging; of a full summary the most frequent."""
        whole = msgspec.structs.replace(self, keys=b"", sketch=b"")
        if not self.sketch or len(self.keys) != len(self.hashes):
            return whole
        least = int(_LEAST_COUNT * self.total / (self.capacity + 1))
        lost = least + least // 2  # a sketched count that is just too small may be of a label that is more frequent
        # by either count, so that a rare label whose sketched count is far too large is not kept by chance
        frequent = np.flatnonzero(np.frombuffer(self.counts, "<i8") + self.lost > least)
        if not len(frequent):
            return msgspec.structs.replace(whole, hashes=b"", counts=b"", texts=b"", ends=b"", lost=lost)
        counts = np.minimum(self._estimate_counts(frequent), self.total)
        kept, counts = frequent[counts > least], counts[counts > least]
        excess = int(counts.sum()) - self.total
        counts -= max(0, -(-excess // max(1, len(kept))))
        hashes = np.frombuffer(self.hashes, "<u8")[kept]
        return msgspec.structs.replace(whole, lost=lost)._with_arrays(hashes, counts, _take_texts([self], kept))

    def _estimate_counts(self, at: Rows) -> Integers:
        """The counts of some labels by the sketch: what their cells count, less what a cell usually counts.

        Of the four the second smallest, as a cell may be shared with another frequent value.
        """
        cells = unpack_integers(self.sketch).reshape(_SKETCH_ROWS, _SKETCH_WIDTH)
        places = _find_cells(np.frombuffer(self.keys, "<u8")[at])
        half = _SKETCH_WIDTH // 2
        usual = np.partition(cells, (half - 1, half), axis=1)[:, half - 1 : half + 1].sum(axis=1, keepdims=True) / 2
        counts = np.take_along_axis(cells, places, axis=1) - usual
        second: Integers = np.rint(np.sort(counts, axis=0)[1]).astype(np.int64)
        return second

    def hide_values(self, secret: bytes) -> Frequencies:
        if self.patterns or self.hashed or not self.total:
            return self.finish()
        whole = self.finish()
        labels = whole.labels()
        names = [hash_label(label, secret) for label in labels]
        counts = np.fromiter(labels.values(), np.int64, len(labels))
        return msgspec.structs.replace(whole, hashed=hash_label("", secret)[:8])._with_labels(Labels.of(names), counts)

    def is_sound(self) -> bool:
        hashes, counts = np.frombuffer(self.hashes, "<u8"), np.frombuffer(self.counts, "<i8")
        ends = np.frombuffer(self.ends, "<u4").astype(np.int64)
        facts = (self.total, self.lost, self.capacity)
        return (
            len(hashes) == len(counts) == len(ends)
            and all(0 <= fact < MOST for fact in facts)
            and bool((hashes[1:] > hashes[:-1]).all())
            and bool((np.diff(ends, prepend=0) >= 0).all())
            and int(ends[-1] if len(ends) else 0) == len(self.texts)
            and are_counts(counts)
            and len(self.labels()) == len(hashes)
            and len(self.keys) in (0, len(self.hashes))
            and self._is_sketch_sound()
        )

    def _is_sketch_sound(self) -> bool:
        if not self.sketch:
            return True
        cells = unpack_integers(self.sketch).reshape(_SKETCH_ROWS, _SKETCH_WIDTH)
        return bool((cells >= 0).all()) and bool((cells.sum(axis=1) == self.total).all())

    def labels(self) -> dict[str, int]:
        """The labels that are kept, with their counts."""
        ends = np.frombuffer(self.ends, "<u4").tolist()
        starts = [0, *ends[:-1]]
        if self.texts.isascii():  # then bytes and characters have the same places
            text = self.texts.decode()
            names = [text[start:end] for start, end in zip(starts, ends, strict=False)]
        else:
            names = [self.texts[start:end].decode() for start, end in zip(starts, ends, strict=False)]
        return dict(zip(names, np.frombuffer(self.counts, "<i8").tolist(), strict=True))

    def largest(self) -> int:
        """The count of the most frequent label."""
        return int(np.frombuffer(self.counts, "<i8").max(initial=0))

    def distribution(self) -> Distribution:
        counts = self.labels()
        ranked = sorted(sorted(counts), key=counts.__getitem__, reverse=True)  # by label where counts are equal
        return Distribution({label: counts[label] for label in ranked}, total=self.total, error=self.lost)

    def _with_labels(self, labels: Labels, counts: Integers, keys: Words | None = None) -> Frequencies:
        """This with other labels; two that are equal, as escaped bytes that are not UTF-8 may be, become one."""
        hashes = keys if labels.are_values and keys is not None else labels.hash()
        firsts, sums = _sum_in_order(hashes, counts)
        return self._with_arrays(hashes[firsts], sums, labels.take(firsts), None if keys is None else keys[firsts])

    def _with_arrays(self, hashes: Words, counts: Integers, labels: Labels, keys: Words | None = None) -> Frequencies:
        return msgspec.structs.replace(
            self,
            hashes=hashes.astype("<u8", copy=False).tobytes(),
            counts=counts.astype("<i8", copy=False).tobytes(),
            texts=labels.texts,
            ends=labels.offsets[1:].astype("<u4").tobytes(),
            keys=b"" if keys is None else keys.astype("<u8", copy=False).tobytes(),
        )


class NamedFrequencies(State, frozen=True, tag="frequencies"):
    """How the first version stored a summary: the labels and their counts as a dictionary. Only read."""

    counts: dict[str, int] = msgspec.field(default_factory=dict)
    total: int = 0
    lost: int = 0
    capacity: int = 0

    def is_sound(self) -> bool:
        return all(0 <= count < MOST for count in (self.total, self.lost, self.capacity, *self.counts.values()))

    def current(self) -> Frequencies:
        empty = Frequencies(total=self.total, lost=self.lost, capacity=self.capacity)
        return empty._with_labels(
            Labels.of(list(self.counts)), np.fromiter(self.counts.values(), np.int64, len(self.counts))
        )


class _FrequencyStack(Stack[Frequencies]):
    """The hashes and counts of all labels of all summaries one after the other, and where each summary begins."""

    def __init__(self, states: Sequence[Frequencies]) -> None:
        super().__init__(states)
        counts = [each.counts for each in states]
        self._starts = np.cumsum([0, *(size // 8 for size in map(len, counts))])
        self._counts = np.frombuffer(b"".join(counts), "<i8")
        self._hashes = np.frombuffer(b"".join([each.hashes for each in states]), "<u8")
        facts = [(each.total, each.lost, each.capacity) for each in states]
        self._facts = np.array(facts, np.int64).reshape(len(states), 3)
        self._secrets = np.array([each.hashed for each in states])
        self._keys = np.frombuffer(b"".join([each.keys for each in states]), "<u8")

    def merge_rows(self, rows: Rows) -> Frequencies:
        rows = rows[self._facts[rows, 0] > 0]
        if len(rows) < 2:
            return self.states[rows[0]] if len(rows) else Frequencies()
        if (self._secrets[rows] != self._secrets[rows[0]]).any():
            raise MisuseError(
                "these frequencies do not merge: not all have their values hidden under one secret.",
                hint="Hide them with the store's secret: state.hide_values(secret).",
            )
        total, lost, _ = self._facts[rows].sum(axis=0).tolist()
        capacity = int(self._facts[rows, 2].min())
        left = _Labels()
        for places in self._chunks(rows, capacity):
            left = left.with_more(self._hashes[places], self._counts[places], places, capacity)
        has_keys = len(self._keys) == len(self._hashes)
        merged = self._build_summary(self.states[rows[0]], left, has_keys)
        lost += left.lost
        sketch = self._add_sketches(rows) if lost and has_keys else b""
        return msgspec.structs.replace(merged, total=total, lost=lost, capacity=capacity, sketch=sketch)

    def _add_sketches(self, rows: Rows) -> bytes:
        """The sketch of all values. A summary without one is exact, so its labels are all of its values."""
        cells = np.zeros((_SKETCH_ROWS, _SKETCH_WIDTH), np.int64)
        for row in rows.tolist():
            if sketch := self.states[row].sketch:
                cells += unpack_integers(sketch).reshape(cells.shape)
            else:
                places = slice(*self._starts[row : row + 2])
                cells += _count_in_sketch(self._keys[places], self._counts[places])
        return pack_integers(cells.ravel())

    def _chunks(self, rows: Rows, kept: int) -> Iterator[Rows]:
        """The places of the labels of these summaries, as many as leave room for those that are kept from before."""
        widths = (self._starts[1:] - self._starts[:-1])[rows]
        chunk = np.cumsum(widths) // max(1, _AT_ONCE - kept - int(widths.max()))
        cuts = np.flatnonzero(chunk[1:] != chunk[:-1]) + 1
        for some, wide in zip(np.split(rows, cuts), np.split(widths, cuts), strict=True):
            ends = np.cumsum(wide)
            yield np.arange(ends[-1]) + np.repeat(self._starts[some] - ends + wide, wide)

    def _build_summary(self, like: Frequencies, left: _Labels, has_keys: bool) -> Frequencies:
        """A summary of the labels that are left, with their texts from the summaries that they came from."""
        order = np.argsort(left.hashes)
        origins = left.origins[order]
        labels = self._take_labels(origins)
        keys = self._keys[origins] if has_keys else None
        return like._with_arrays(left.hashes[order], left.counts[order], labels, keys)

    def _take_labels(self, origins: Rows) -> Labels:
        if len(self.states) <= _FEW:
            return _take_texts(self.states, origins)
        # of thousands of summaries only few may have a label that is left
        owners = np.searchsorted(self._starts, origins, "right") - 1
        used, at = np.unique(owners, return_inverse=True)
        begins = np.cumsum([0, *(self._starts[used + 1] - self._starts[used])])
        places = begins[at] + origins - self._starts[owners]
        return _take_texts([self.states[owner] for owner in used.tolist()], places)


class _Labels(NamedTuple):
    """Labels while they are added up, by hash; `origins` are their places in the stack."""

    hashes: npt.NDArray[Any] = np.empty(0, np.uint64)
    counts: npt.NDArray[Any] = np.empty(0, np.int64)
    origins: npt.NDArray[Any] = np.empty(0, np.int64)
    lost: int = 0

    def with_more(self, hashes: Words, counts: Integers, origins: Rows, capacity: int) -> _Labels:
        """These and more labels, cut to so many."""
        hashes, counts = np.concatenate([self.hashes, hashes]), np.concatenate([self.counts, counts])
        firsts, sums = _sum_by_hash(hashes, counts)
        cut = _find_cut(sums, capacity)
        kept = np.flatnonzero(sums > cut)
        firsts = firsts[kept]
        old = len(self.hashes)
        found = np.empty(len(firsts), np.int64)
        before = firsts < old
        found[before] = self.origins[firsts[before]]
        found[~before] = origins[firsts[~before] - old]
        return _Labels(hashes[firsts], sums[kept] - cut, found, self.lost + cut)


def _find_cells(keys: Words) -> Rows:
    """Where a value is counted in each row of a sketch: nine bits of its hash for each."""
    cells = keys >> _SKETCH_SHIFTS
    cells &= _SKETCH_MASK
    return cells.view(np.int64)


def _count_in_sketch(keys: Words, counts: Integers) -> Integers:
    """The sketch of values that occur so often."""
    # to count is much faster than to add up
    weights = None if len(counts) and counts.max() == 1 else counts.astype(np.float64)
    cells = np.empty((_SKETCH_ROWS, _SKETCH_WIDTH), np.int64)
    for row, places in enumerate(_find_cells(keys)):
        cells[row] = np.bincount(places, weights, _SKETCH_WIDTH)
    return cells


def _take_texts(states: Sequence[Frequencies], places: Rows) -> Labels:
    """The labels at these places, counted through all of these summaries."""
    texts = [state.texts for state in states]
    counts, sizes = [len(state.ends) // 4 for state in states], np.array([len(each) for each in texts], np.int64)
    ends = np.frombuffer(b"".join([state.ends for state in states]), "<u4") + np.repeat(
        np.cumsum(sizes) - sizes, counts
    )
    return Labels(b"".join(texts), np.concatenate([[0], ends])).take(places)


def _sum_by_hash(hashes: Words, counts: Integers) -> tuple[npt.NDArray[np.intp], Integers]:
    """One place of each different hash, in any order, and the sum of its counts."""
    if len(hashes) > _AT_ONCE:
        return _sum_in_order(hashes, counts)
    # sorting whole numbers is several times as fast as sorting places by them, so the places ride along in few bits
    packed = np.sort((hashes & ~_LOW) | _PLACES[: len(hashes)])
    repeats = np.count_nonzero((packed[1:] ^ packed[:-1]) <= _LOW)
    if not repeats:
        return _PLACES[: len(hashes)].view(np.int64), counts
    order = (packed & _LOW).view(np.int64)
    begins = find_starts(hashes[order])
    if len(begins) + repeats > len(hashes):  # two differ only in the bits that gave way
        return _sum_in_order(hashes, counts)
    return order[begins], np.add.reduceat(counts[order], begins)


def _sum_in_order(hashes: Words, counts: Integers) -> tuple[npt.NDArray[np.intp], Integers]:
    """The same in the order of the hashes."""
    order = np.argsort(hashes, kind="stable")
    begins = find_starts(hashes[order])
    if len(begins) == len(order):
        return order, counts[order]
    return order[begins], np.add.reduceat(counts[order], begins)


def _find_cut(counts: Integers, capacity: int) -> int:
    """The count that must be taken off all so that no more than `capacity` are left."""
    if len(counts) <= capacity:
        return 0
    least = counts.min()
    more = counts[counts > least]
    if len(more) <= capacity:  # of many labels most are equally rare, and a selection among equals is slow
        return int(least)
    return int(np.partition(more, len(more) - capacity - 1)[len(more) - capacity - 1])
