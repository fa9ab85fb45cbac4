"""Which measures of a table make up the vector of a run, and the scale on which each of them is compared."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from headgate.learn.metric_traits import Measure, Scale

Floats = npt.NDArray[np.float64]
Places = npt.NDArray[np.intp]

FEWEST = 8
"""Runs below which nothing is said, and newest runs in which a feature must be there."""
PAPER = (
    *("completeness", "approx_count_distinct", "most_frequent_ratio"),
    *("min", "max", "mean", "stddev", "index_of_peculiarity"),
)
"""The statistics of the paper (section 4), as metrics of this package; each is there where its column's type has it."""
GRAIN = 0.01  # of a feature's natural size: what it moves by without telling anything
_DAY = 86_400.0


@dataclass(frozen=True, slots=True)
class Features:
    """Measures of a past by their places, with what is taken off each and what the rest is divided by.

    `grain` is what each moves by without telling anything, in such widths.
    """

    places: Places
    low: Floats
    width: Floats
    grain: Floats

    @classmethod
    def of(
        cls, values: Floats, measures: Sequence[Measure], names: Collection[str] | None = None, grain: float = GRAIN
    ) -> Features:
        """Of runs (rows, oldest first): the plain measures of these names (None: all) that the newest runs have.

        Each is scaled so that its past lies within 0 and 1. Where it hardly varied, its width is `grain` of its
        natural size; with `grain=0` as in the paper's code: 1 where it never varied at all.
        """
        wanted = [each.plain and (names is None or each.key.name in names) for each in measures]
        places = np.flatnonzero(np.isfinite(values[-FEWEST:]).all(axis=0) & np.array(wanted, np.bool_))
        kept = np.where(np.isfinite(values[:, places]), values[:, places], np.nan)
        if not len(places):
            return cls(places, *np.zeros((3, 0)))
        low, high = np.nanmin(kept, axis=0), np.nanmax(kept, axis=0)
        least = grain * natural_size(values, measures)[places]
        with np.errstate(over="ignore"):
            width = np.hypot(high - low, least)
        width = np.where((width > 0) & np.isfinite(width), width, 1.0)
        return cls(places, low, width, least / width)

    def scaled(self, rows: Floats) -> Floats:
        """Vectors over all measures as points over the features; NaN where a value is missing."""
        with np.errstate(over="ignore"):
            found: Floats = (rows[..., self.places] - self.low) / self.width
        return np.where(np.isfinite(found), found, np.nan)


def left_out_widths(points: Floats, grain: Floats) -> Floats:
    """For each of some points the width of every feature over the others, so that none is judged by a scale it set.

    >>> left_out_widths(np.array([[0.0], [0.4], [1.0]]), np.zeros(1)).tolist()
    [[0.6], [1.0], [0.4]]
    """
    rising = np.sort(np.where(np.isfinite(points), points, np.inf), axis=0)
    falling = np.sort(np.where(np.isfinite(points), points, -np.inf), axis=0)
    low = np.where(points == rising[0], rising[1], rising[0])
    high = np.where(points == falling[-1], falling[-2], falling[-1])
    found: Floats = np.hypot(high - low, grain)
    return found


def natural_size(values: Floats, measures: Sequence[Measure]) -> Floats:
    """What a feature is large against: 1 for shares, 100 days for moments, else its own size or its column's deviation.

    >>> from headgate.learn.metric_traits import measure_of
    >>> from headgate.values.key import MetricKey
    >>> keys = map(MetricKey.parse, ["completeness(x)", "mean(x)", "stddev(x)"])
    >>> natural_size(np.array([[0.9, 0.0, 5.0], [1.0, 2.0, 5.0]]), [measure_of(key) for key in keys]).tolist()
    [1.0, 5.0, 5.0]
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # a series without a value is NaN all through
        own = np.nanmax(np.abs(np.where(np.isfinite(values), values, np.nan)), axis=0)
    spread = {each.column: own[at] for at, each in enumerate(measures) if each.plain and each.key.name == "stddev"}
    beside = np.array([spread.get(each.column, 0.0) if each.scale is Scale.SPREAD else 0.0 for each in measures])
    fixed = {Scale.SHARE: 1.0, Scale.MOMENT: 100 * _DAY}
    found = np.array([fixed.get(each.scale, np.nan) for each in measures])
    found = np.where(np.isnan(found), np.fmax(own, beside), found)
    return np.where(np.isfinite(found) & (found > 0), found, 1.0)
