"""What distances of numbers share: the bins of two batches side by side, and how exact they are."""

from __future__ import annotations

import math
from functools import cached_property, lru_cache
from typing import ClassVar, NamedTuple

import numpy as np

from headgate.metrics.distances.distance import NONE_BEFORE, NONE_NOW, Distance
from headgate.metrics.states.quantiles import SAMPLED_RANK_ERROR, SAMPLED_SHARE_ERROR, Quantiles
from headgate.stats.distances import EmpiricalDistribution, Floats, Gaps
from headgate.values.outcome import Outcome, Undefined, outcome_of
from headgate.values.schema import ORDERED

_LARGEST = float(np.finfo(np.float64).max)


class BinnedSample(NamedTuple):
    """The numbers of a batch, each as the largest number of its bin, and the deciles of the batch.

    `rank_error` is the most by which the share of numbers up to some point may be off, and `share_error` the same for
    the share between two ends of bins.
    """

    sample: EmpiricalDistribution
    bin_ends: Floats
    counts: Floats  # in these bins, and in one above them
    width: float  # of the widest bin
    rank_error: float
    share_error: float


# The same state is read by every distance, and as the earlier one by the next run: 256 columns of two runs fit. More
# would cost a stream memory for states that are never read again.
@lru_cache(maxsize=512)
def read_bins(state: Quantiles, shift: int | None = None) -> BinnedSample:
    """The numbers of a state, in bins of the state's own width or of a larger one."""
    bins = state.bins().coarsen(max(shift or 0, state.shift))
    below = np.nextafter(bins.lower_ends[:1], -np.inf) if bins.shift else bins.lower_ends[:0]
    points = np.clip(np.concatenate([below, bins.upper_ends]), -_LARGEST, _LARGEST)
    shares = np.concatenate([np.zeros(len(below)), np.cumsum(bins.counts) / state.total])
    sample = EmpiricalDistribution(points, shares, float(state.total))
    bin_ends = sample.bin_ends()
    rank_error, share_error = (SAMPLED_RANK_ERROR, SAMPLED_SHARE_ERROR) if state.sampled else (0.0, 0.0)
    width = 0.0
    if bins.shift:
        rank_error += float(bins.counts.max()) / state.total
        lower, upper = (np.clip(ends, state.low, state.high) for ends in (bins.lower_ends, bins.upper_ends))
        width = float((upper - lower).max())
    return BinnedSample(sample, bin_ends, sample.count_in_bins(bin_ends), width, rank_error, share_error)


class Pair:
    """Two batches in the same bins, and what several distances ask of them."""

    def __init__(self, now: BinnedSample, before: BinnedSample, widest: float) -> None:
        self.now = now
        self.before = before
        self.widest = widest  # the range of the batch that has the larger one

    @cached_property
    def gaps(self) -> Gaps:
        return Gaps.between(self.now.sample, self.before.sample)

    @cached_property
    def counts(self) -> Floats:
        """How many numbers of the new batch lie in each decile of the earlier one."""
        return self.now.sample.count_in_bins(self.before.bin_ends)


@lru_cache(maxsize=64)
def pair_bins(now: Quantiles, before: Quantiles) -> Pair:
    """Two batches in bins of the same width, so that the shares up to the end of a bin are exact in both."""
    shift = max(now.shift, before.shift)
    widest = max(now.high - now.low, before.high - before.low)
    return Pair(read_bins(now, shift), read_bins(before, shift), widest)


class BetweenNumbers(Distance[Quantiles], frozen=True):
    """Between the finite numbers of two batches, from their bins.

    It is exact if each batch has at most 1,024 different numbers. Otherwise both are compared in the same bins.
    """

    state: ClassVar = Quantiles
    folded: ClassVar = "quantiles"
    accepts: ClassVar = ORDERED

    def between(self, now: Quantiles, before: Quantiles) -> Outcome:
        if not now.total or not before.total:
            return Undefined(NONE_BEFORE if now.total else NONE_NOW)
        return outcome_of(self.apart(pair_bins(now, before)), otherwise="the distance is too large for a double")

    def error(self, now: Quantiles, before: Quantiles) -> float:
        return self.bound(pair_bins(now, before)) if now.total and before.total else math.inf

    def apart(self, pair: Pair) -> float:
        """The distance of two batches that have numbers."""
        raise NotImplementedError(f"{type(self).__name__} does not say how far apart two batches are")

    def bound(self, pair: Pair) -> float:
        """How far `apart` may be from the exact distance."""
        raise NotImplementedError(f"{type(self).__name__} does not say how exact it is")
