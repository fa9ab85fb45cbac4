"""The most frequent labels of a stream with a bound on what was lost."""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Callable, Iterator, Sequence
from operator import attrgetter
from typing import Any, NamedTuple

import msgspec
import numpy as np
import numpy.typing as npt

from headgate.analyzers.base.hashing import Words, hash_bytes
from headgate.values.errors import MisuseError
from headgate.values.outcome import Distribution
from headgate.values.state import State

VALUES = 512
PATTERNS = 128

Integers = npt.NDArray[np.int64]

# thousands of summaries are read at a time, and a loop in Python over them would cost as much as the sorting
_HASHES, _COUNTS, _TOTAL, _LOST, _CAPACITY, _HASHED = map(
    attrgetter, ("hashes", "counts", "total", "lost", "capacity", "hashed")
)
_PAIR = struct.Struct("<II")
_INDEX_BITS = 14
_AT_ONCE = 1 << _INDEX_BITS  # labels added up at a time: they fit into a core's cache, and their places into few bits
_LOW = np.uint64(_AT_ONCE - 1)
_PLACES = np.arange(_AT_ONCE, dtype=np.uint64)


class Frequencies(State, frozen=True, tag="frequent_labels"):
    """A Misra-Gries summary (1982) in its mergeable form (Agarwal et al. 2012) of at most `capacity` labels.

    Exact while there are no more distinct labels than that. Beyond, a count is understated by at most `lost`, and
    `lost` is at most total / (capacity + 1): any label more frequent than that is here. Labels are values of the data,
    which a store hides (`hashed` then names the secret), or patterns of them, which it does not.

    Labels stand in the order of their hashes: `hashes` and `counts` are 64-bit numbers, `texts` the labels in UTF-8 one
    after the other, `ends` 32-bit numbers that say where each ends. So thousands of summaries merge as arrays. Two
    labels are taken for one with probability n^2 / 2^65: 3e-8 for a million labels.
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

    @classmethod
    def of(
        cls,
        counts: Integers,
        label: Callable[[Integers], list[str]],
        capacity: int,
        patterns: bool = False,
    ) -> Frequencies:
        """Of distinct labels, which are asked for only where they are kept."""
        if not len(counts):
            return cls()
        cut = _cut(counts, capacity)
        kept = np.flatnonzero(counts > cut)
        empty = cls(total=int(counts.sum()), lost=cut, capacity=capacity, patterns=patterns)
        return empty._labelled(label(kept), counts[kept] - cut) if len(kept) else empty

    def __add__(self, other: Frequencies) -> Frequencies:
        return self.merged([self, other])

    @classmethod
    def merged(cls, states: Sequence[Frequencies]) -> Frequencies:
        """All counts added up, as many at a time as fit, and cut each time that there are more than are kept."""
        held = list(filter(_TOTAL, states))
        if len(held) < 2:
            return held[0] if held else cls()
        if len(set(map(_HASHED, held))) > 1:
            raise MisuseError(
                "these frequencies do not merge: not all have their values hidden under one secret.",
                hint="Hide them with the store's secret: state.hidden(secret).",
            )
        capacity = min(map(_CAPACITY, held))
        left = _Labels()
        for chunk in _chunks(held, capacity):
            left = left.with_more(chunk, capacity)
        return msgspec.structs.replace(
            left.taken_from(held),
            total=sum(map(_TOTAL, held)),
            lost=sum(map(_LOST, held)) + left.lost,
            capacity=capacity,
        )

    def hidden(self, secret: bytes) -> Frequencies:
        if self.patterns or self.hashed or not self.total:
            return self
        labels = self.labels()
        keyed = [_keyed(label, secret) for label in labels]
        counts = np.fromiter(labels.values(), np.int64, len(labels))
        return msgspec.structs.replace(self, hashed=_keyed("", secret)[:8])._labelled(keyed, counts)

    def labels(self) -> dict[str, int]:
        """The labels that are kept, with their counts."""
        ends = np.frombuffer(self.ends, "<u4").tolist()
        starts = [0, *ends[:-1]]
        names = [self.texts[start:end].decode() for start, end in zip(starts, ends, strict=True)] if ends else []
        return dict(zip(names, np.frombuffer(self.counts, "<i8").tolist(), strict=True))

    def largest(self) -> int:
        """The count of the most frequent label."""
        return int(np.frombuffer(self.counts, "<i8").max(initial=0))

    def distribution(self) -> Distribution:
        ranked = sorted(self.labels().items(), key=lambda each: (-each[1], each[0]))
        return Distribution(dict(ranked), total=self.total, error=self.lost)

    def _labelled(self, names: Sequence[str], counts: Integers) -> Frequencies:
        """This with other labels; two that are equal, as escaped bytes that are not UTF-8 may be, become one."""
        texts = [name.encode() for name in names]
        offsets = np.zeros(len(texts) + 1, np.int64)
        np.cumsum([len(text) for text in texts], out=offsets[1:])
        hashes, _ = hash_bytes(np.frombuffer(b"".join(texts), np.uint8), offsets)
        firsts, sums = _sorted_up(hashes, counts)
        return self._holding(hashes[firsts], sums, [texts[at] for at in firsts])

    def _holding(self, hashes: Words, counts: Integers, texts: Sequence[bytes]) -> Frequencies:
        return msgspec.structs.replace(
            self,
            hashes=hashes.astype("<u8").tobytes(),
            counts=counts.astype("<i8").tobytes(),
            texts=b"".join(texts),
            ends=np.cumsum([len(text) for text in texts]).astype("<u4").tobytes(),
        )


class NamedFrequencies(State, frozen=True, tag="frequencies"):
    """How the first version stored a summary: the labels and their counts as a dictionary. Only read."""

    counts: dict[str, int] = msgspec.field(default_factory=dict)
    total: int = 0
    lost: int = 0
    capacity: int = 0

    def current(self) -> Frequencies:
        empty = Frequencies(total=self.total, lost=self.lost, capacity=self.capacity)
        return empty._labelled(list(self.counts), np.fromiter(self.counts.values(), np.int64, len(self.counts)))


class _Labels(NamedTuple):
    """Labels of many summaries while they are added up, by hash; `origins` counts through the labels of all of them."""

    hashes: npt.NDArray[Any] = np.empty(0, np.uint64)
    counts: npt.NDArray[Any] = np.empty(0, np.int64)
    origins: npt.NDArray[Any] = np.empty(0, np.int64)
    seen: int = 0
    lost: int = 0

    def with_more(self, some: Sequence[Frequencies], capacity: int) -> _Labels:
        """These and the labels of more summaries, cut to so many."""
        hashes = np.frombuffer(b"".join([self.hashes.tobytes(), *map(_HASHES, some)]), "<u8")
        counts = np.frombuffer(b"".join([self.counts.tobytes(), *map(_COUNTS, some)]), "<i8")
        firsts, sums = _added_up(hashes, counts)
        cut = _cut(sums, capacity)
        kept = np.flatnonzero(sums > cut)
        firsts = firsts[kept]
        old = len(self.hashes)
        origins = firsts + (self.seen - old)
        origins[firsts < old] = self.origins[firsts[firsts < old]]
        return _Labels(hashes[firsts], sums[kept] - cut, origins, self.seen + len(hashes) - old, self.lost + cut)

    def taken_from(self, held: Sequence[Frequencies]) -> Frequencies:
        """A summary of these labels, with their texts from the summaries that they came from."""
        starts = np.cumsum([0, *_widths(held)])
        order = np.argsort(self.hashes)
        origins = self.origins[order]
        states = np.searchsorted(starts, origins, "right") - 1
        texts = []
        for state, place in zip(states.tolist(), (origins - starts[states]).tolist(), strict=True):
            start, end = _span(held[state].ends, place)
            texts.append(held[state].texts[start:end])
        return held[0]._holding(self.hashes[order], self.counts[order], texts)


def _widths(held: Sequence[Frequencies]) -> list[int]:
    return [size // 8 for size in map(len, map(_COUNTS, held))]


def _span(ends: bytes, place: int) -> tuple[int, int]:
    if not place:
        return 0, int.from_bytes(ends[:4], "little")
    start, end = _PAIR.unpack_from(ends, 4 * place - 4)
    return start, end


def _chunks(held: Sequence[Frequencies], kept: int) -> Iterator[Sequence[Frequencies]]:
    """Summaries, as many together as leave room for the labels that are kept from before."""
    first, size = 0, 0
    for at, width in enumerate(_widths(held)):
        if size and size + width + kept > _AT_ONCE:
            yield held[first:at]
            first, size = at, 0
        size += width
    yield held[first:]


def _added_up(hashes: Words, counts: Integers) -> tuple[npt.NDArray[np.intp], Integers]:
    """One place of each different hash, in any order, and the sum of its counts."""
    if len(hashes) > _AT_ONCE:
        return _sorted_up(hashes, counts)
    # sorting whole numbers is several times as fast as sorting places by them, so the places ride along in few bits
    packed = np.sort((hashes & ~_LOW) | _PLACES[: len(hashes)])
    repeats = np.count_nonzero((packed[1:] ^ packed[:-1]) <= _LOW)
    if not repeats:
        return _PLACES[: len(hashes)].view(np.int64), counts
    order = (packed & _LOW).view(np.int64)
    begins = _begins(hashes[order])
    if len(begins) + repeats > len(hashes):  # two differ only in the bits that gave way
        return _sorted_up(hashes, counts)
    return order[begins], np.add.reduceat(counts[order], begins)


def _sorted_up(hashes: Words, counts: Integers) -> tuple[npt.NDArray[np.intp], Integers]:
    """The same in the order of the hashes."""
    order = np.argsort(hashes, kind="stable")
    begins = _begins(hashes[order])
    return order[begins], np.add.reduceat(counts[order], begins) if len(begins) else counts


def _begins(ordered: Words) -> npt.NDArray[np.intp]:
    new = np.ones(len(ordered), np.bool_)
    np.not_equal(ordered[1:], ordered[:-1], out=new[1:])
    return np.flatnonzero(new)


def _keyed(label: str, secret: bytes) -> str:
    """16 hexadecimal digits that stand for a label; without the secret they tell nothing but equality."""
    return hashlib.blake2b(label.encode("utf-8", "surrogatepass"), key=secret[:64], digest_size=8).hexdigest()


def _cut(counts: Integers, capacity: int) -> int:
    """The count that must be taken off all so that no more than `capacity` are left."""
    if len(counts) <= capacity:
        return 0
    least = counts.min()
    more = counts[counts > least]
    if len(more) <= capacity:  # of many labels most are equally rare, and a selection among equals is slow
        return int(least)
    return int(np.partition(more, len(more) - capacity - 1)[len(more) - capacity - 1])
