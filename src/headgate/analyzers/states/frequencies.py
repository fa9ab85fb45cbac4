"""The most frequent labels of a stream with a bound on what was lost."""

from __future__ import annotations

from collections.abc import Callable

import msgspec
import numpy as np
import numpy.typing as npt

from headgate.values.outcome import Distribution
from headgate.values.state import State

VALUES = 512
PATTERNS = 128


class Frequencies(State, frozen=True, tag="frequencies"):
    """A Misra-Gries summary (1982) in its mergeable form (Agarwal et al. 2012) of at most `capacity` labels.

    Exact while there are no more distinct labels than that. Beyond, a count is understated by at most `lost`, and
    `lost` is at most total / (capacity + 1): any label more frequent than that is here.
    """

    counts: dict[str, int] = msgspec.field(default_factory=dict)
    total: int = 0
    lost: int = 0
    capacity: int = 0

    @classmethod
    def of(
        cls,
        counts: npt.NDArray[np.int64],
        label: Callable[[npt.NDArray[np.int64]], list[str]],
        capacity: int,
    ) -> Frequencies:
        """Of distinct labels, which are asked for only where they are kept."""
        if not len(counts):
            return cls()
        cut = _cut(counts, capacity)
        kept = np.flatnonzero(counts > cut)
        names, left = label(kept) if len(kept) else [], (counts[kept] - cut).tolist()
        named = dict(zip(names, left, strict=True))
        if len(named) < len(names):  # two values may share a label, where bytes that are not UTF-8 are escaped
            named = dict.fromkeys(names, 0)
            for name, count in zip(names, left, strict=True):
                named[name] += count
        return cls(named, total=int(counts.sum()), lost=cut, capacity=capacity)

    def __add__(self, other: Frequencies) -> Frequencies:
        if not self.total or not other.total:
            return self if self.total else other
        counts = dict(self.counts)
        for label, count in other.counts.items():
            counts[label] = counts.get(label, 0) + count
        capacity = min(self.capacity, other.capacity)
        cut = _cut(np.fromiter(counts.values(), np.int64, len(counts)), capacity)
        if cut:
            counts = {label: count - cut for label, count in counts.items() if count > cut}
        return Frequencies(counts, self.total + other.total, self.lost + other.lost + cut, capacity)

    def distribution(self) -> Distribution:
        ranked = sorted(self.counts.items(), key=lambda each: (-each[1], each[0]))
        return Distribution(dict(ranked), total=self.total, error=self.lost)


def _cut(counts: npt.NDArray[np.int64], capacity: int) -> int:
    """The count that must be taken off all so that no more than `capacity` are left."""
    if len(counts) <= capacity:
        return 0
    return int(np.partition(counts, len(counts) - capacity - 1)[len(counts) - capacity - 1])
