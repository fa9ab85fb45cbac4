"""What distances of numbers share: a quantile sketch opened once, its bins, and how exact they are."""

from __future__ import annotations

import math
from functools import cached_property, lru_cache
from typing import ClassVar, NamedTuple

import numpy as np

from headgate.metrics.distances.distance import NONE_BEFORE, NONE_NOW, Distance
from headgate.metrics.states.quantiles import Quantiles
from headgate.stats.distances import EmpiricalDistribution, Floats, Gaps
from headgate.values.outcome import Outcome, Undefined, outcome_of
from headgate.values.schema import ORDERED

RANK_ERROR = 0.0133  # of a rank of a KLL sketch with k = 200: the largest over all values, in 99% of sketches
SHARE_ERROR = 0.0166  # the same of the share of a bin

_KLL = b"\x05\x01\x0f"  # DataSketches' words of preamble, version and family for a KLL sketch of two and more numbers


class Sketched(NamedTuple):
    """The numbers of a batch as its sketch knows them; its ends are exact, and `exact` says whether all is."""

    sample: EmpiricalDistribution
    bin_ends: Floats
    counts: Floats  # in these bins, and in one above them
    exact: bool

    @property
    def rank_error(self) -> float:
        return 0.0 if self.exact else RANK_ERROR

    @property
    def share_error(self) -> float:
        return 0.0 if self.exact else SHARE_ERROR

    @property
    def range(self) -> float:
        return float(self.sample.values[-1]) - float(self.sample.values[0])


# The same state is read by every distance, and as the earlier one by the next run: 1,000 columns of two runs fit.
@lru_cache(maxsize=2048)
def read_sketch(state: Quantiles) -> Sketched:
    ends, items, weights = _unpack_sketch(state)
    sample = EmpiricalDistribution.of(np.concatenate([items, ends]), np.concatenate([weights, [0.0, 0.0]]))
    bin_ends = sample.bin_ends()
    return Sketched(sample, bin_ends, sample.count_in_bins(bin_ends), exact=bool(weights.max() == 1.0))


def _unpack_sketch(state: Quantiles) -> tuple[Floats, Floats, Floats]:
    """The least and largest number of a sketch, the numbers that it kept, and how many each stands for."""
    if state.sketch[:3] == _KLL:
        # the library gives out item after item, which takes several times as long as all else together
        levels = state.sketch[18]
        starts = np.frombuffer(state.sketch, "<u4", levels, 20).astype(np.int64)
        ends, items = np.split(np.frombuffer(state.sketch, "<f8", -1, 20 + 4 * levels), [2])
        sizes = np.diff(starts, append=starts[0] + len(items))
        return ends, items, np.repeat(2.0 ** np.arange(levels), sizes)
    sketch = state.open_sketch()
    kept = np.array(list(sketch), np.float64)
    return np.array([sketch.get_min_value(), sketch.get_max_value()]), kept[:, 0], kept[:, 1]


class Pair:
    """Two batches, and what several distances ask of them."""

    def __init__(self, now: Sketched, before: Sketched) -> None:
        self.now = now
        self.before = before

    @cached_property
    def gaps(self) -> Gaps:
        return Gaps.between(self.now.sample, self.before.sample)

    @cached_property
    def counts(self) -> Floats:
        """How many numbers of the new batch lie in each bin of the earlier one."""
        return self.now.sample.count_in_bins(self.before.bin_ends)


@lru_cache(maxsize=256)
def pair_sketches(now: Quantiles, before: Quantiles) -> Pair:
    return Pair(read_sketch(now), read_sketch(before))


class BetweenSketches(Distance[Quantiles], frozen=True):
    """Between the finite numbers of two batches, from their KLL sketches.

    With 99% confidence a sketch is off by at most 1.33% in any rank and 1.66% in the share of any bin; of up to some
    200 numbers it is exact. Errors are stated for two sketches that keep to this, so with 98% confidence.
    """

    state: ClassVar = Quantiles
    folded: ClassVar = "quantiles"
    accepts: ClassVar = ORDERED

    def between(self, now: Quantiles, before: Quantiles) -> Outcome:
        if not now.sketch or not before.sketch:
            return Undefined(NONE_BEFORE if now.sketch else NONE_NOW)
        return outcome_of(self.apart(pair_sketches(now, before)), otherwise="the distance is too large for a double")

    def error(self, now: Quantiles, before: Quantiles) -> float:
        return self.bound(pair_sketches(now, before)) if now.sketch and before.sketch else math.inf

    def apart(self, pair: Pair) -> float:
        """The distance of two batches that have numbers."""
        raise NotImplementedError(f"{type(self).__name__} does not say how far apart two batches are")

    def bound(self, pair: Pair) -> float:
        """How far `apart` may be from the exact distance."""
        raise NotImplementedError(f"{type(self).__name__} does not say how exact it is")
