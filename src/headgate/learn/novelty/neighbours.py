"""Compute the exact distances between points and their nearest neighbours, without a tree (docs/decisions/0025)."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

NO_CAP = 1e100
"""A cap too large to have an effect, whose square is still finite."""


class Aggregate(StrEnum):
    """How the distances to the nearest neighbours become one score."""

    MEAN = "mean"
    LARGEST = "largest"
    MEDIAN = "median"


class PairwiseGaps(NamedTuple):
    """Sums of squared gaps between points (rows) and others (columns).

    `shared` is the number of features in each sum, those that both points have, and `features` the number of all.
    """

    sums: Floats
    shared: Floats
    features: int

    @property
    def distances(self) -> Floats:
        """Euclidean distances. A feature that one point lacks counts as the average of those that both have."""
        with np.errstate(divide="ignore", invalid="ignore"):
            squares = np.fmax(self.sums, 0.0) * (self.features / self.shared)
        return np.sqrt(np.where(self.shared > 0, squares, np.inf))


def square_gaps(point: Floats, others: Floats, cap: float = NO_CAP) -> Floats:
    """The squared gap of each feature, capped at `cap` before squaring; NaN where either point has no value."""
    gaps: Floats = others - point
    np.clip(gaps, -cap, cap, out=gaps)
    np.multiply(gaps, gaps, out=gaps)
    return gaps


def pairwise_gaps(points: Floats, others: Floats, cap: float = NO_CAP) -> PairwiseGaps:
    """The gaps between each point and each of the others, one point at a time to save memory."""
    sums, shared = np.zeros((2, len(points), len(others)))
    nothing_missing = not (np.isnan(points).any() or np.isnan(others).any())
    for index, point in enumerate(points):
        squares = square_gaps(point, others, cap)
        sums[index] = squares.sum(axis=1) if nothing_missing else np.nansum(squares, axis=1)
        shared[index] = points.shape[1] if nothing_missing else np.isfinite(squares).sum(axis=1)
    return PairwiseGaps(sums, shared, points.shape[1])


def aggregate_nearest(distances: Floats, count: int, aggregate: Aggregate = Aggregate.MEAN) -> Floats:
    """For each row of distances, the mean (or largest, or median) of the `count` smallest.

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
    """The score of each point among the others: its distance from the `count` nearest of them.

    `widths` has for each point (row) the width by which the gaps of each feature are divided.

    >>> leave_one_out_scores(np.array([[0.0], [1.0], [3.0]]), 1).tolist()
    [1.0, 1.0, 2.0]
    """
    count = min(count, len(points) - 1)
    if widths is None and np.isfinite(points).all() and np.ptp(points) <= cap:  # nothing missing, nothing capped
        return aggregate_nearest(_nearest_distances(points, count), count, aggregate)
    widths = np.ones(points.shape) if widths is None else widths
    rows = [
        pairwise_gaps(points[index : index + 1] / width, points / width, cap).distances
        for index, width in enumerate(widths)
    ]
    distances = np.concatenate(rows)
    np.fill_diagonal(distances, np.inf)  # a point is not its own neighbour
    return aggregate_nearest(distances, count, aggregate)


def _nearest_distances(points: Floats, count: int) -> Floats:
    """The distances of each point to the `count` nearest of the others.

    One matrix product finds the neighbours quickly. It loses digits where points are close, so the distances to these
    few are then computed exactly.
    """
    norms = np.einsum("ij,ij->i", points, points)
    squares = norms[:, None] + norms - 2 * (points @ points.T)
    np.fill_diagonal(squares, np.inf)
    nearest = np.argpartition(squares, count - 1, axis=1)[:, :count]
    distances = [
        np.sqrt(square_gaps(point, points[indices]).sum(axis=1)) for point, indices in zip(points, nearest, strict=True)
    ]
    return np.array(distances)
