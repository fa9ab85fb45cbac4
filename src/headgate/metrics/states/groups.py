"""Exact sizes of the groups of equal rows, by a 128-bit hash of each group instead of its values."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TypeAlias

import msgspec
import numpy as np
import numpy.typing as npt

from headgate.metrics.base.hashing import Hashes
from headgate.values.state import MOST, State, are_counts

Words: TypeAlias = npt.NDArray[np.uint64]
Integers: TypeAlias = npt.NDArray[np.int64]


class GroupSizes(State, frozen=True, tag="group_sizes"):
    """How many groups have each size. Adds up over groups that are known to be different, and only over those."""

    groups: dict[int, int] = msgspec.field(default_factory=dict)

    @classmethod
    def of(cls, counts: Integers) -> GroupSizes:
        sizes, groups = np.unique(counts, return_counts=True)
        return cls(dict(zip(sizes.tolist(), groups.tolist(), strict=True)))

    def __add__(self, other: GroupSizes) -> GroupSizes:
        merged = dict(self.groups)
        for size, groups in other.groups.items():
            merged[size] = merged.get(size, 0) + groups
        return GroupSizes(merged)

    def is_sound(self) -> bool:
        return all(0 < size < MOST and 0 < groups < MOST for size, groups in self.groups.items())

    @property
    def mergeable(self) -> bool:
        return False

    @property
    def sizes(self) -> GroupSizes:
        return self

    @property
    def distinct(self) -> int:
        return sum(self.groups.values())

    @property
    def rows(self) -> int:
        return sum(size * groups for size, groups in self.groups.items())

    @property
    def unique(self) -> int:
        return self.groups.get(1, 0)

    def entropy(self) -> float:
        """-sum p ln p over the groups, in nats."""
        rows = self.rows
        if not rows:
            return 0.0
        ordered = sorted(self.groups.items())
        # adding zero turns the negative zero of a single group into zero
        return float(-sum(groups * (size / rows) * np.log(size / rows) for size, groups in ordered)) + 0.0


class Groups(State, frozen=True, tag="groups"):
    """Hash and count of every group, sorted by hash: a frequency table (ICDE 2019, Table I) that holds no values.

    24 bytes a group. Two different groups are taken for one with probability n^2 / 2^129: 1.5e-21 for a billion groups.
    """

    first: bytes = b""
    second: bytes = b""
    counts: bytes = b""

    @classmethod
    def of(cls, hashes: Hashes) -> Groups:
        return _group_hashes(*hashes, np.ones(len(hashes[0]), np.int64))

    def __add__(self, other: Groups) -> Groups:
        if not self.counts or not other.counts:
            return self if self.counts else other
        mine, theirs = self._arrays(), other._arrays()
        return _group_hashes(*(np.concatenate(pair) for pair in zip(mine, theirs, strict=True)))

    @classmethod
    def merge_all(cls, states: Sequence[Groups]) -> Groups:
        held = [each._arrays() for each in states if each.counts]
        return _group_hashes(*map(np.concatenate, zip(*held, strict=True))) if held else cls()

    def is_sound(self) -> bool:
        first, second, counts = self._arrays()
        ordered = bool((first[1:] >= first[:-1]).all())
        return len(first) == len(second) == len(counts) and ordered and are_counts(counts)

    def _arrays(self) -> tuple[Words, Words, Integers]:
        return (
            np.frombuffer(self.first, np.uint64),
            np.frombuffer(self.second, np.uint64),
            np.frombuffer(self.counts, np.int64),
        )

    @property
    def weight(self) -> int:
        return len(self.counts) // 8

    @property
    def sizes(self) -> GroupSizes:
        return GroupSizes.of(self._arrays()[2])

    def pieces(self, count: int) -> dict[int, Groups]:
        """By the leading bits of the hash: a group is in one piece, whichever task saw it."""
        arrays = self._arrays()
        bounds = [(piece << 64) // count for piece in range(1, count)]
        cuts = [0, *np.searchsorted(arrays[0], np.array(bounds, np.uint64)).tolist(), self.weight]
        spans = [(piece, low, high) for piece, (low, high) in enumerate(pairwise(cuts)) if low < high]
        return {piece: Groups(*(array[low:high].tobytes() for array in arrays)) for piece, low, high in spans}

    def shrink(self) -> GroupSizes:
        return self.sizes


def _group_hashes(first: Words, second: Words, counts: Integers) -> Groups:
    order = np.argsort(first)
    first, second, counts = first[order], second[order], counts[order]
    if bool(((first[1:] == first[:-1]) & (second[1:] != second[:-1])).any()):
        order = np.lexsort((second, first))
        first, second, counts = first[order], second[order], counts[order]
    begins = np.flatnonzero(np.concatenate([[True], (first[1:] != first[:-1]) | (second[1:] != second[:-1])]))
    begins = begins[: len(first)]
    summed = np.add.reduceat(counts, begins) if len(begins) else counts
    return Groups(first[begins].tobytes(), second[begins].tobytes(), summed.astype(np.int64).tobytes())
