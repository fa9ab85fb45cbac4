"""What every method is: a history of metrics and new batches in, how strange each of these is out."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple, Protocol

import numpy as np

from benchmarks.history.columns import CATEGORICAL, NUMERIC, Floats

BOTH = frozenset({NUMERIC, CATEGORICAL})
LEAST = 1e-9  # of a metric's size: a metric that never moved is strange as soon as it moves


class Method(Protocol):
    """A method. `usual` is the threshold that its authors or libraries use; curves sweep it."""

    name: str
    groups: frozenset[str]  # the columns that it is made for
    usual: float
    every: int  # judge every so many runs only, where a fit is slow

    def scores(self, history: Floats, tests: Floats, names: Sequence[str]) -> Floats:
        """For each test (a row) a number, the larger the stranger. Columns are metrics, NaN where there is none."""
        ...


class Series(NamedTuple):
    """The history of one column of a table, and what is to be judged."""

    group: str
    names: Sequence[str]
    history: Floats
    tests: Floats


def table_scores(method: Method, columns: Iterable[Series]) -> Floats:
    """The score of a table: that of its strangest column. Columns that the method is not made for are left out."""
    found = [method.scores(each.history, each.tests, each.names) for each in columns if each.group in method.groups]
    return np.max(found, axis=0) if found else np.zeros(0)


def complete(history: Floats, tests: Floats) -> tuple[Floats, Floats]:
    """Both without the metrics that the history never had. What is missing takes the median of the history.

    >>> complete(np.array([[1.0, np.nan], [3.0, np.nan]]), np.array([[np.nan, 5.0]]))
    (array([[1.],
           [3.]]), array([[2.]]))
    """
    had = ~np.isnan(history).all(axis=0)
    past, now = history[:, had], tests[:, had]
    gaps, holes = np.isnan(past), np.isnan(now)
    if gaps.any() or holes.any():
        middle = np.nanmedian(past, axis=0)
        past, now = np.where(gaps, middle, past), np.where(holes, middle, now)
    return past, now


def floored(scale: Floats, centre: Floats) -> Floats:
    """A scale that is nowhere zero.

    >>> floored(np.array([2.0, 0.0]), np.array([5.0, 1000.0]))
    array([2.e+00, 1.e-06])
    """
    return np.maximum(scale, LEAST * np.maximum(1.0, np.abs(centre)))


def standardised(history: Floats, tests: Floats) -> tuple[Floats, Floats]:
    """Complete, and in deviations of the history from its mean."""
    past, now = complete(history, tests)
    mean = past.mean(axis=0)
    scale = floored(past.std(axis=0), mean)
    return (past - mean) / scale, (now - mean) / scale


def values(names: Sequence[str], rows: Floats) -> Mapping[str, Floats]:
    """Each metric's numbers by its name."""
    return {name: rows[..., at] for at, name in enumerate(names)}


def counted(rows: Mapping[str, Floats]) -> Floats:
    """How many values the column had: rows that are not null."""
    return np.nan_to_num(rows["size"] * rows["completeness"])


def tens(log: Floats) -> Floats:
    """-log10 p from the natural logarithm of p."""
    return np.nan_to_num(-log / math.log(10), nan=0.0, posinf=1e300)
