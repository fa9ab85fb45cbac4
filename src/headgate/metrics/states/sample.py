"""A few of a column's different values, the same wherever and in whatever order the column is read."""

from __future__ import annotations

import msgspec
import numpy as np
import numpy.typing as npt
import pyarrow as pa

from headgate.metrics.base.hashing import hash_label
from headgate.metrics.base.labels import LONGEST_LABEL
from headgate.metrics.base.tally import Tally
from headgate.values.state import MOST, State


class SampledValue(msgspec.Struct, frozen=True, array_like=True, order=True):
    """One value with the hash that it was chosen by, and how often it occurs; None stands for one too long to keep."""

    hash: int
    text: str | None
    count: int


class Sample(State, frozen=True, tag="value_sample"):
    """The different values with the smallest hashes, each with its exact count (Beyer et al. 2007, KMV).

    A value that is among the smallest of the whole is among the smallest of every part that holds it, so its counts add
    up. It holds values of the data: a gate reads it and lets it go; a store that hides values keeps hashes.
    """

    values: tuple[SampledValue, ...] = ()
    most: int = 0

    @classmethod
    def of(cls, tally: Tally, most: int) -> Sample:
        keys = tally.keys
        if not len(tally.counts):
            return cls()
        chosen = np.argpartition(keys, most)[:most] if len(keys) > most else np.arange(len(keys))
        texts = tally.label(chosen) if len(chosen) else []
        found = zip(keys[chosen].tolist(), texts, tally.counts[chosen].tolist(), strict=True)
        whole = (SampledValue(key, text if len(text) <= LONGEST_LABEL else None, count) for key, text, count in found)
        return cls(tuple(sorted(whole)), most)

    def is_sound(self) -> bool:
        return 0 <= self.most < MOST and all(each.hash >= 0 and 0 < each.count < MOST for each in self.values)

    def __add__(self, other: Sample) -> Sample:
        most = max(self.most, other.most)
        counts: dict[int, SampledValue] = {}
        for each in (*self.values, *other.values):
            known = counts.get(each.hash)
            counts[each.hash] = SampledValue(each.hash, each.text, each.count + known.count) if known else each
        return Sample(tuple(sorted(counts.values())[:most]), most)

    def hide_values(self, secret: bytes) -> Sample:
        names = ((hash_label(each.text or str(each.hash), secret), each.count) for each in self.values)
        return Sample(tuple(sorted(SampledValue(int(name, 16), name, count) for name, count in names)), self.most)

    def list_texts(self) -> tuple[pa.Array, npt.NDArray[np.int64]]:
        """The values that were kept, and how often each occurs."""
        kept = [(each.text, each.count) for each in self.values if each.text is not None]
        return pa.array([text for text, _ in kept], pa.string()), np.array([count for _, count in kept], np.int64)

    @property
    def cut_share(self) -> float:
        """The share of the sampled rows whose value was too long to keep."""
        total = sum(each.count for each in self.values)
        return sum(each.count for each in self.values if each.text is None) / total if total else 0.0

    @property
    def weight(self) -> int:
        return len(self.values) + 1
