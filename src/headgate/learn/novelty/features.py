"""Which measures of a table make up the vector of a run, and the scale on which each of them is compared."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from headgate.learn.metric_traits import MetricTraits, Scale

Floats = npt.NDArray[np.float64]
Indices = npt.NDArray[np.intp]

MIN_NOVELTY_RUNS = 8
"""Runs below which nothing is said, and newest runs in which a feature must be there."""
PAPER_FEATURES = (
    *("completeness", "approx_count_distinct", "most_frequent_ratio"),
    *("min", "max", "mean", "stddev", "index_of_peculiarity"),
)
"""The statistics of the paper (section 4), as metrics of this package; each is there where its column's type has it."""
NOISE_FLOOR = 0.01  # of a feature's natural size: what it moves by without telling anything
_DAY_SECONDS = 86_400.0


@dataclass(frozen=True, slots=True)
class Features:
    """Measures of a past by their places, with what is taken off each and what the rest is divided by.

    `grain` is what each moves by without telling anything, in such widths.
    """

    indices: Indices
    low: Floats
    width: Floats
    noise_floor: Floats

    @classmethod
    def of(
        cls,
        values: Floats,
        metrics: Sequence[MetricTraits],
        names: Collection[str] | None = None,
        noise_floor: float = NOISE_FLOOR,
    ) -> Features:
        """Of runs (rows, oldest first): the plain measures of these names (None: all) that the newest runs have.

        Each is scaled so that its past lies within 0 and 1. Where it hardly varied, its width is `grain` of its
        natural size; with `grain=0` as in the paper's code: 1 where it never varied at all.
        """
        is_wanted = [each.is_plain and (names is None or each.key.name in names) for each in metrics]
        indices = np.flatnonzero(np.isfinite(values[-MIN_NOVELTY_RUNS:]).all(axis=0) & np.array(is_wanted, np.bool_))
        past = np.where(np.isfinite(values[:, indices]), values[:, indices], np.nan)
        if not len(indices):
            return cls(indices, *np.zeros((3, 0)))
        low, high = np.nanmin(past, axis=0), np.nanmax(past, axis=0)
        min_width = noise_floor * natural_size(values, metrics)[indices]
        with np.errstate(over="ignore"):
            width = np.hypot(high - low, min_width)
        width = np.where((width > 0) & np.isfinite(width), width, 1.0)
        return cls(indices, low, width, min_width / width)

    def scale_rows(self, rows: Floats) -> Floats:
        """Vectors over all measures as points over the features; NaN where a value is missing."""
        with np.errstate(over="ignore"):
            found: Floats = (rows[..., self.indices] - self.low) / self.width
        return np.where(np.isfinite(found), found, np.nan)


def leave_one_out_widths(points: Floats, noise_floor: Floats) -> Floats:
    """For each of some points the width of every feature over the others, so that none is judged by a scale it set.

    >>> leave_one_out_widths(np.array([[0.0], [0.4], [1.0]]), np.zeros(1)).tolist()
    [[0.6], [1.0], [0.4]]
    """
    rising = np.sort(np.where(np.isfinite(points), points, np.inf), axis=0)
    falling = np.sort(np.where(np.isfinite(points), points, -np.inf), axis=0)
    low = np.where(points == rising[0], rising[1], rising[0])
    high = np.where(points == falling[-1], falling[-2], falling[-1])
    found: Floats = np.hypot(high - low, noise_floor)
    return found


def natural_size(values: Floats, metrics: Sequence[MetricTraits]) -> Floats:
    """What a feature is large against: 1 for shares, 100 days for moments, else its own size or its column's deviation.

    >>> from headgate.learn.metric_traits import traits_of
    >>> from headgate.values.key import MetricKey
    >>> keys = map(MetricKey.parse, ["completeness(x)", "mean(x)", "stddev(x)"])
    >>> natural_size(np.array([[0.9, 0.0, 5.0], [1.0, 2.0, 5.0]]), [traits_of(key) for key in keys]).tolist()
    [1.0, 5.0, 5.0]
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # a series without a value is NaN all through
        largest = np.nanmax(np.abs(np.where(np.isfinite(values), values, np.nan)), axis=0)
    column_deviation = {
        each.column: largest[at] for at, each in enumerate(metrics) if each.is_plain and each.key.name == "stddev"
    }
    deviations = np.array(
        [column_deviation.get(each.column, 0.0) if each.scale is Scale.SPREAD else 0.0 for each in metrics]
    )
    fixed = {Scale.SHARE: 1.0, Scale.TIME: 100 * _DAY_SECONDS}
    sizes = np.array([fixed.get(each.scale, np.nan) for each in metrics])
    sizes = np.where(np.isnan(sizes), np.fmax(largest, deviations), sizes)
    return np.where(np.isfinite(sizes) & (sizes > 0), sizes, 1.0)
