"""The distribution of numbers as counts in bins, which depend on the numbers alone."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from headgate.metrics.states.packing import Integers, pack_integers, unpack_integers
from headgate.values.state import MOST, State, are_counts

MOST_BINS = 1024
SAMPLED_RANK_ERROR = 0.0133
"""By how much a rank is off in a KLL sketch with k = 200, at most, with 99% confidence."""
SAMPLED_SHARE_ERROR = 0.0166
"""The same for the share between two points."""

Floats = npt.NDArray[np.float64]

_MAGNITUDE = np.int64(0x7FFF_FFFF_FFFF_FFFF)
_MOST_SHIFT = 63
_GLANCE = 64  # numbers that mostly show whether all are integers


class Bins(NamedTuple):
    """Bins that hold numbers, in rising order, and how many each holds.

    The 64 bits of a double, read as an integer, keep the order of the numbers. A bin is all numbers whose integers are
    equal but for the lowest `shift` bits, and `indices` are these integers without those bits.
    """

    shift: int
    indices: Integers
    counts: Integers

    @classmethod
    def of_sorted(cls, values: Floats) -> Bins:
        """The narrowest bins of numbers in rising order of which there are at most `MOST_BINS`."""
        keys = _to_keys(values)
        differ = (keys[1:] ^ keys[:-1]).view(np.uint64)
        shift = _find_shift(differ)
        lasts = np.append((differ >= np.uint64(1 << shift)).nonzero()[0], len(keys) - 1)
        counts = lasts.copy()
        counts[0] += 1
        counts[1:] -= lasts[:-1]
        return cls(shift, keys[lasts] >> np.int64(shift), counts)

    def fit(self) -> Bins:
        """The narrowest bins of which there are at most `MOST_BINS`."""
        if len(self.indices) <= MOST_BINS:
            return self
        differ = (self.indices[1:] ^ self.indices[:-1]).view(np.uint64)
        # without the second highest bit, so that the conversion to a double does not round up to the next power
        highest = np.frexp((differ & ~(differ >> np.uint64(1))).astype(np.float64))[1] - 1
        left = 1 + np.cumsum(np.bincount(highest, minlength=64)[::-1])[::-1]  # bins after a shift by so many bits
        return self.coarsen(self.shift + int(np.argmax(left <= MOST_BINS)))

    def coarsen(self, shift: int) -> Bins:
        """The same numbers in wider bins."""
        if shift == self.shift:
            return self
        return Bins(shift, *_count_runs(self.indices >> np.int64(shift - self.shift), self.counts))

    @property
    def lower_ends(self) -> Floats:
        """The least number of each bin."""
        return _to_values(self.indices << np.int64(self.shift))

    @property
    def upper_ends(self) -> Floats:
        """The largest number of each bin."""
        return _to_values((self.indices << np.int64(self.shift)) | np.int64((1 << self.shift) - 1))

    @classmethod
    def merge(cls, many: Sequence[Bins]) -> Bins:
        """All numbers of many, in bins as wide as the widest or wider."""
        shift = max(each.shift for each in many)
        indices = np.concatenate([each.indices >> np.int64(shift - each.shift) for each in many])
        counts = np.concatenate([each.counts for each in many])
        order = np.argsort(indices, kind="stable")
        return cls(shift, *_count_runs(indices[order], counts[order])).fit()


class Quantiles(State, frozen=True, tag="quantile_bins"):
    """The distribution of numbers as at most 1,024 bins of a histogram, and the least and largest number.

    It is exact if there are no more different numbers than that. Otherwise all bins are as narrow as so few allow: as
    the bins of HdrHistogram, each is a power of two of the doubles between two powers of two. Which bins there are
    depends only on which numbers there are, and counts add up. So equal numbers give an equal state, in whatever order
    and parts they are read: the verdict on a batch does not depend on how Spark splits it (docs/decisions/0031).

    A quantile lies in the same bin as the exact one. `whole` says that all numbers are integers. `sampled` says that
    some were read from a KLL sketch, which an older version stored: its ranks are off by up to 1.33%.
    """

    indices: bytes = b""  # the gap of each bin to the one before
    counts: bytes = b""
    first: int = 0  # the index of the first bin
    shift: int = 0
    total: int = 0
    low: float = 0.0
    high: float = 0.0
    whole: bool = True
    sampled: bool = False

    @classmethod
    def of(cls, values: Floats) -> Quantiles:
        """The state of finite numbers."""
        if not len(values):
            return cls()
        ordered = np.asarray(values, np.float64) + 0.0  # there is one zero
        if (ordered[1:] < ordered[:-1]).any():
            ordered = np.sort(ordered)
        whole = _are_whole(ordered[:_GLANCE]) and _are_whole(ordered)
        return cls._of_bins(Bins.of_sorted(ordered), float(ordered[0]), float(ordered[-1]), whole)

    @classmethod
    def _of_bins(cls, bins: Bins, low: float, high: float, whole: bool, sampled: bool = False) -> Quantiles:
        gaps, first, total = np.diff(bins.indices), int(bins.indices[0]), int(bins.counts.sum())  # a gap may wrap round
        return cls(pack_integers(gaps), pack_integers(bins.counts), first, bins.shift, total, low, high, whole, sampled)

    def __add__(self, other: Quantiles) -> Quantiles:
        return self.merge_all([self, other])

    @classmethod
    def merge_all(cls, states: Sequence[Quantiles]) -> Quantiles:
        held = [each for each in states if each.total]
        if len(held) < 2:
            return held[0] if held else cls()
        return cls._of_bins(
            Bins.merge([each.bins() for each in held]),
            min(each.low for each in held),
            max(each.high for each in held),
            all(each.whole for each in held),
            any(each.sampled for each in held),
        )

    def bins(self) -> Bins:
        """The bins that hold numbers."""
        if not self.total:
            return Bins(0, np.empty(0, np.int64), np.empty(0, np.int64))
        gaps = unpack_integers(self.indices)
        indices = np.full(len(gaps) + 1, self.first, np.int64)
        np.cumsum(gaps, out=indices[1:])
        indices[1:] += self.first
        return Bins(self.shift, indices, unpack_integers(self.counts))

    @property
    def exact(self) -> bool:
        """Whether each bin is one number."""
        return not self.shift and not self.sampled

    def quantile(self, share: float) -> float:
        """The least number that this share of the numbers does not exceed; NaN if there is none.

        >>> Quantiles.of(np.arange(1.0, 101.0)).quantile(0.5)
        50.0
        """
        return float(self.quantiles([share])[0])

    def quantiles(self, shares: Sequence[float] | Floats) -> Floats:
        """The quantiles at these shares. Within a bin the numbers are taken to be spread evenly."""
        if not self.total:
            return np.full(len(shares), np.nan)
        bins = self.bins()
        up_to = bins.counts.cumsum()
        # a product may exceed the whole number that it stands for by a few units in the last place
        ranks = np.ceil(np.asarray(shares, np.float64) * self.total - 1e-9)
        ranks = np.minimum(np.maximum(ranks, 1), self.total)
        at = up_to.searchsorted(ranks)
        held = Bins(self.shift, bins.indices[at], bins.counts[at])
        if not self.shift:  # each bin is one number
            return held.lower_ends
        low, high = self._clip(held.lower_ends), self._clip(held.upper_ends)
        inside = (ranks - (up_to[at] - held.counts) - 0.5) / held.counts
        values = low + (high - low) * inside
        values = self._clip(np.rint(values)) if self.whole else values
        return np.where(ranks == 1, self.low, np.where(ranks == self.total, self.high, values))

    def share_up_to(self, points: Sequence[float] | Floats) -> Floats:
        """The share of the numbers that are no larger than each point. Within a bin they are spread evenly.

        >>> Quantiles.of(np.arange(1.0, 101.0)).share_up_to([0.5, 50.0, 1000.0]).tolist()
        [0.0, 0.5, 1.0]
        """
        given = np.asarray(points, np.float64)
        if not self.total:
            return np.full(len(given), np.nan)
        bins = self.bins()
        low, high = self._clip(bins.lower_ends), self._clip(bins.upper_ends)
        up_to = np.concatenate([[0], np.cumsum(bins.counts)])
        at = np.minimum(np.searchsorted(high, given, "left"), len(high) - 1)
        wide = high[at] > low[at]
        with np.errstate(over="ignore"):  # far beyond a narrow bin
            inside = np.divide(given - low[at], high[at] - low[at], out=np.zeros(len(given)), where=wide)
        inside = np.where(wide, np.clip(inside, 0.0, 1.0), given >= high[at])
        return (up_to[at] + inside * bins.counts[at]) / self.total

    def share_below(self, points: Sequence[float] | Floats) -> Floats:
        """The share of the numbers that are smaller than each point."""
        return self.share_up_to(np.nextafter(np.asarray(points, np.float64), -np.inf))

    def _clip(self, values: Floats) -> Floats:
        return np.minimum(np.maximum(values, self.low), self.high)

    def is_sound(self) -> bool:
        if not self.total:
            return self == Quantiles()
        if not 0 <= self.shift <= _MOST_SHIFT or not -math.inf < self.low <= self.high < math.inf:
            return False
        bins = self.bins()
        ends = _to_keys(np.array([self.low, self.high])) >> np.int64(self.shift)
        return (
            len(bins.indices) == len(bins.counts) <= MOST_BINS
            and bool((bins.indices[1:] > bins.indices[:-1]).all())
            and ends.tolist() == [bins.indices[0], bins.indices[-1]]
            and are_counts(bins.counts)
            and int(bins.counts.sum()) == self.total < MOST
        )


class KllQuantiles(State, frozen=True, tag="quantiles"):
    """How earlier versions stored a distribution: a KLL sketch in Apache DataSketches' bytes. Only read."""

    sketch: bytes = b""

    def is_sound(self) -> bool:
        if not self.sketch:
            return True
        sketch = self.open_sketch()
        finite = bool(np.isfinite([sketch.get_min_value(), sketch.get_max_value()]).all())
        return bool(sketch.k == 200 and 0 < sketch.n < MOST and finite and len(self.sketch) == len(sketch.serialize()))

    def open_sketch(self) -> Any:
        from datasketches import kll_doubles_sketch

        return kll_doubles_sketch.deserialize(self.sketch)

    def current(self) -> Quantiles:
        if not self.sketch:
            return Quantiles()
        sketch = self.open_sketch()
        kept = np.array(list(sketch), np.float64)
        values, weights = kept[:, 0] + 0.0, kept[:, 1].astype(np.int64)
        order = np.argsort(values, kind="stable")
        low, high = sketch.get_min_value() + 0.0, sketch.get_max_value() + 0.0
        whole = bool((values == np.rint(values)).all())
        bins = Bins(0, *_count_runs(_to_keys(values[order]), weights[order])).fit()
        return Quantiles._of_bins(
            _with_ends(bins, low, high), low, high, whole, sampled=bool(sketch.is_estimation_mode())
        )


def _are_whole(values: Floats) -> bool:
    return bool((values == np.rint(values)).all())


def _find_shift(differ: npt.NDArray[np.uint64]) -> int:
    """The fewest low bits without which so few neighbours differ that there are at most `MOST_BINS` bins.

    `differ` has the bits in which each number differs from the one before.
    """
    if len(differ) < MOST_BINS:
        return 0
    low, high = 0, _MOST_SHIFT + 1
    while low < high:
        shift = (low + high) // 2
        if np.count_nonzero(differ >= np.uint64(1 << shift)) < MOST_BINS:
            high = shift
        else:
            low = shift + 1
    return low


def _with_ends(bins: Bins, low: float, high: float) -> Bins:
    """The bins with the first and the last number moved to the ends, which a sketch keeps apart from its sample."""
    ends = _to_keys(np.array([low, high])) >> np.int64(bins.shift)
    indices, counts = bins.indices, bins.counts
    for end, at in ((ends[0], 0), (ends[1], -1)):
        if indices[at] == end:
            continue
        counts = counts.copy()
        counts[at] -= 1
        place = 0 if at == 0 else len(indices)
        indices, counts = np.insert(indices, place, end), np.insert(counts, place, 1)
    held = counts > 0
    return Bins(bins.shift, indices[held], counts[held]).fit()


def _to_keys(values: Floats) -> Integers:
    """The bits of doubles as integers in the same order."""
    bits = np.ascontiguousarray(values, np.float64).view(np.int64)
    if bits.min(initial=0) >= 0:
        return bits
    return bits ^ ((bits >> np.int64(63)) & _MAGNITUDE)


def _to_values(keys: Integers) -> Floats:
    """The doubles of such integers. What is beyond the largest double is infinite or NaN, and clipped by the ends."""
    values = (keys ^ ((keys >> np.int64(63)) & _MAGNITUDE)).view(np.float64)
    beyond = np.isnan(values)
    if beyond.any():
        values[beyond] = np.where(keys[beyond] < 0, -np.inf, np.inf)
    return values


def _count_runs(ordered: Integers, counts: Integers | None) -> tuple[Integers, Integers]:
    """The different integers of an array in rising order, and how often each occurs, or the sum of its counts."""
    new = np.ones(len(ordered), np.bool_)
    np.not_equal(ordered[1:], ordered[:-1], out=new[1:])
    starts = np.flatnonzero(new)
    sums = np.diff(starts, append=len(ordered)) if counts is None else np.add.reduceat(counts, starts)
    return ordered[starts], sums
