"""Choose the metrics that make up the feature vector of a run, and scale them so that they can be compared."""

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
"""Runs below which no novelty is learned; a feature needs a value in each of this many newest runs."""
PAPER_FEATURES = (
    *("completeness", "approx_count_distinct", "most_frequent_ratio"),
    *("min", "max", "mean", "stddev", "index_of_peculiarity"),
)
"""The metrics that the paper uses as features (section 4)."""
NOISE_FLOOR = 0.01  # the smallest width of a feature, as a share of its natural size
_DAY_SECONDS = 86_400.0


@dataclass(frozen=True, slots=True)
class Features:
    """The metrics of a past at `indices`; the scaled value of each is (value - low) / width.

    `noise_floor` is the smallest width of each feature, divided by its width.
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
        left_out: Collection[int] = (),
    ) -> Features:
        """The features of runs (rows of `values`, oldest first): all plain metrics with these names (None: any name).

        Each is scaled so that its past lies between 0 and 1. A feature that hardly varied has the width `noise_floor`
        times its natural size. With `noise_floor=0`, as in the paper's code, one that never varied has the width 1.
        `left_out` are the indices of metrics that are no features.
        """
        is_wanted = [
            each.is_plain and index not in left_out and (names is None or each.key.name in names)
            for index, each in enumerate(metrics)
        ]
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
        """Rows with a value for every metric of the past, as points of scaled features; NaN for a missing value."""
        with np.errstate(over="ignore"):
            points: Floats = (rows[..., self.indices] - self.low) / self.width
        return np.where(np.isfinite(points), points, np.nan)


def leave_one_out_widths(points: Floats, noise_floor: Floats) -> Floats:
    """For each point the width of every feature over all other points, so that no point sets the scale of its score.

    >>> leave_one_out_widths(np.array([[0.0], [0.4], [1.0]]), np.zeros(1)).tolist()
    [[0.6], [1.0], [0.4]]
    """
    rising = np.sort(np.where(np.isfinite(points), points, np.inf), axis=0)
    falling = np.sort(np.where(np.isfinite(points), points, -np.inf), axis=0)
    low = np.where(points == rising[0], rising[1], rising[0])
    high = np.where(points == falling[-1], falling[-2], falling[-1])
    widths: Floats = np.hypot(high - low, noise_floor)
    return widths


def natural_size(values: Floats, metrics: Sequence[MetricTraits]) -> Floats:
    """What a change of each metric is compared with.

    1 for shares, 100 days for timestamps, otherwise its own size or, if larger, its column's standard deviation.

    >>> from headgate.learn.metric_traits import traits_of
    >>> from headgate.values.key import MetricKey
    >>> keys = map(MetricKey.parse, ["completeness(x)", "mean(x)", "stddev(x)"])
    >>> natural_size(np.array([[0.9, 0.0, 5.0], [1.0, 2.0, 5.0]]), [traits_of(key) for key in keys]).tolist()
    [1.0, 5.0, 5.0]
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # numpy warns about series that are NaN throughout
        largest = np.nanmax(np.abs(np.where(np.isfinite(values), values, np.nan)), axis=0)
    column_deviation = {
        each.column: largest[index] for index, each in enumerate(metrics) if each.is_plain and each.key.name == "stddev"
    }
    deviations = np.array(
        [column_deviation.get(each.column, 0.0) if each.scale is Scale.SPREAD else 0.0 for each in metrics]
    )
    fixed = {Scale.SHARE: 1.0, Scale.TIME: 100 * _DAY_SECONDS}
    sizes = np.array([fixed.get(each.scale, np.nan) for each in metrics])
    sizes = np.where(np.isnan(sizes), np.fmax(largest, deviations), sizes)
    return np.where(np.isfinite(sizes) & (sizes > 0), sizes, 1.0)
