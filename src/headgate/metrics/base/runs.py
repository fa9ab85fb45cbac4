"""Runs of equal values in an array."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Integers = npt.NDArray[np.int64]


def find_starts(ordered: npt.NDArray[np.generic]) -> Integers:
    """Where each run of equal values in an array begins."""
    new = np.empty(len(ordered), np.bool_)
    new[:1] = True
    np.not_equal(ordered[1:], ordered[:-1], out=new[1:])
    return new.nonzero()[0]


def find_runs(ordered: npt.NDArray[np.generic]) -> tuple[Integers, Integers]:
    """Where each run of equal values in an array begins, and how long it is.

    >>> starts, counts = find_runs(np.array([3, 3, 5, 9, 9, 9]))
    >>> starts.tolist(), counts.tolist()
    ([0, 2, 3], [2, 1, 3])
    """
    starts = find_starts(ordered)
    counts = np.empty_like(starts)
    np.subtract(starts[1:], starts[:-1], out=counts[:-1])
    counts[-1:] = len(ordered) - starts[-1:]
    return starts, counts
