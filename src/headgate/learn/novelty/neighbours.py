"""How far points lie from those nearest to them: exact, without a tree (docs/decisions/0025)."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

NO_CAP = 1e100
"""A cap that caps nothing, and whose square is still a number."""


class Aggregate(StrEnum):
    """What is made of the distances to the nearest."""

    MEAN = "mean"
    LARGEST = "largest"
    MEDIAN = "median"


class PairwiseGaps(NamedTuple):
    """Sums of squared gaps between points (rows) and others (columns), and over how many features each sum runs."""

    sums: Floats
    shared: Floats
    features: int

    @property
    def distances(self) -> Floats:
        """Euclidean; a missing feature is taken to lie as far apart as those that both have, on average."""
        with np.errstate(divide="ignore", invalid="ignore"):
            squares = np.fmax(self.sums, 0.0) * (self.features / self.shared)
        return np.sqrt(np.where(self.shared > 0, squares, np.inf))


def square_gaps(point: Floats, others: Floats, cap: float = NO_CAP) -> Floats:
    """The squares of the gaps, feature by feature, none larger than the cap's; NaN where either has no value."""
    gaps: Floats = others - point
    np.clip(gaps, -cap, cap, out=gaps)
    np.multiply(gaps, gaps, out=gaps)
    return gaps


def pairwise_gaps(points: Floats, others: Floats, cap: float = NO_CAP) -> PairwiseGaps:
    """Each point against each other point, one row at a time: all gaps at once would not fit."""
    sums, shared = np.zeros((2, len(points), len(others)))
    nothing_missing = not (np.isnan(points).any() or np.isnan(others).any())
    for at, point in enumerate(points):
        squares = square_gaps(point, others, cap)
        sums[at] = squares.sum(axis=1) if nothing_missing else np.nansum(squares, axis=1)
        shared[at] = points.shape[1] if nothing_missing else np.isfinite(squares).sum(axis=1)
    return PairwiseGaps(sums, shared, points.shape[1])


def aggregate_nearest(distances: Floats, count: int, aggregate: Aggregate = Aggregate.MEAN) -> Floats:
    """For each row of distances, the mean (or largest, or median) of the smallest.

    >>> aggregate_nearest(np.array([[4.0, 1.0, 3.0, 9.0]]), 2).tolist()
    [2.0]
    """
    count = min(count, distances.shape[1])
    smallest = np.partition(distances, count - 1, axis=1)[:, :count]
    match aggregate:
        case Aggregate.MEAN:
            scores: Floats = smallest.mean(axis=1)
        case Aggregate.LARGEST:
            scores = smallest.max(axis=1)
        case Aggregate.MEDIAN:
            scores = np.median(smallest, axis=1)
    return scores


def leave_one_out_scores(
    points: Floats, count: int, aggregate: Aggregate = Aggregate.MEAN, cap: float = NO_CAP, widths: Floats | None = None
) -> Floats:
    """For each point how far it is from the nearest of the others; it is no neighbour of its own.

    `widths` are what each point (row) divides the gaps of each feature by.

    >>> leave_one_out_scores(np.array([[0.0], [1.0], [3.0]]), 1).tolist()
    [1.0, 1.0, 2.0]
    """
    count = min(count, len(points) - 1)
    if widths is None and np.isfinite(points).all() and np.ptp(points) <= cap:
        return aggregate_nearest(_nearest_distances(points, count), count, aggregate)
    units = np.ones(points.shape) if widths is None else widths
    rows = [pairwise_gaps(points[at : at + 1] / unit, points / unit, cap).distances for at, unit in enumerate(units)]
    distances = np.concatenate(rows)
    np.fill_diagonal(distances, np.inf)
    return aggregate_nearest(distances, count, aggregate)


def _nearest_distances(points: Floats, count: int) -> Floats:
    """The distances of each point to the nearest of the others.

    One matrix product says who they are. It is not exact where points are close, so their distances are reckoned again.
    """
    norms = np.einsum("ij,ij->i", points, points)
    squares = norms[:, None] + norms - 2 * (points @ points.T)
    np.fill_diagonal(squares, np.inf)
    near = np.argpartition(squares, count - 1, axis=1)[:, :count]
    found = [
        np.sqrt(square_gaps(point, points[places]).sum(axis=1)) for point, places in zip(points, near, strict=True)
    ]
    return np.array(found)
