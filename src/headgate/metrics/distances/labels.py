"""What distances of labels share: the counts of two batches side by side, and how much of them is lost."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import ClassVar, NamedTuple

import numpy as np

from headgate.metrics.distances.distance import NONE_BEFORE, NONE_NOW, Distance
from headgate.metrics.states.frequencies import Frequencies
from headgate.stats.distances import Floats
from headgate.values.outcome import Outcome, Undefined, outcome_of
from headgate.values.schema import HASHABLE

OTHER_SECRET = "the labels of the two batches are hidden under different secrets"
NONE_KEPT = "no value of these batches is frequent enough to be told from the others"


class Side(NamedTuple):
    """One batch: how often each label of the two occurs, and last how often "other", which was lost; how many all are.

    `lost` is the most that the count of a label is understated by.
    """

    counts: Floats
    total: float
    lost: float

    @property
    def label_counts(self) -> Floats:
        """The counts without "other"."""
        return self.counts[:-1]

    @property
    def missing_share(self) -> float:
        """The share of the batch that the counts leave out."""
        return float(self.counts[-1]) / self.total


# Six distances ask for the same pair, one after the other.
@lru_cache(maxsize=64)
def side_by_side(now: Frequencies, before: Frequencies) -> tuple[Side, Side]:
    """The counts of two batches in one order of labels, found by their hashes."""
    names, earlier = np.frombuffer(now.hashes, "<u8"), np.frombuffer(before.hashes, "<u8")
    counts, were = np.frombuffer(now.counts, "<i8"), np.frombuffer(before.counts, "<i8")
    at = np.searchsorted(names, earlier)
    shared = at < len(names)
    shared[shared] = names[at[shared]] == earlier[shared]
    gone = were[~shared]
    new, old = np.zeros((2, len(names) + len(gone) + 1))
    new[: len(names)] = counts
    old[at[shared]] = were[shared]
    old[len(names) : -1] = gone
    return _side(now, new), _side(before, old)


def _side(state: Frequencies, counts: Floats) -> Side:
    counts[-1] = state.total - counts.sum()
    return Side(counts, state.total, state.lost)


class BetweenValues(Distance[Frequencies], frozen=True):
    """Between the values of two batches as labels, from their frequency summaries.

    A summary is exact to 512 values. Beyond, it leaves out a share of the batch, a and b for the two, which counts as
    one label more, "other"; and each count is understated by at most `lost`. Errors are stated in these terms.
    """

    state: ClassVar = Frequencies
    folded: ClassVar = "frequent_values"
    accepts: ClassVar = HASHABLE

    def between(self, now: Frequencies, before: Frequencies) -> Outcome:
        if not now.total or not before.total:
            return Undefined(NONE_BEFORE if now.total else NONE_NOW)
        if now.hashed != before.hashed:
            return Undefined(OTHER_SECRET)
        return outcome_of(self.apart(*side_by_side(now, before)), otherwise=NONE_KEPT)

    def error(self, now: Frequencies, before: Frequencies) -> float:
        if not now.total or not before.total or now.hashed != before.hashed:
            return math.inf
        return self.bound(*side_by_side(now, before))

    def apart(self, now: Side, before: Side) -> float:
        """The distance of two batches that have values; NaN where nothing of them is known."""
        raise NotImplementedError(f"{type(self).__name__} does not say how far apart two batches are")

    def bound(self, now: Side, before: Side) -> float:
        """How far `apart` may be from the exact distance."""
        raise NotImplementedError(f"{type(self).__name__} does not say how exact it is")
