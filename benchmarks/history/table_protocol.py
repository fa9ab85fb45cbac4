"""Methods held against whole batches: a table is as strange as its strangest column."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import groupby, pairwise
from typing import NamedTuple

import numpy as np

import headgate as hg
from benchmarks.history.baselines.method import Method, Series
from benchmarks.history.columns import Floats, distances_of, features, groups, metrics_by_column, vector
from benchmarks.history.feeds import Feed
from benchmarks.history.incidents import is_incident
from benchmarks.history.series import Batch, analysed
from benchmarks.history.table_cases import ALL, table_cases

HISTORY = 30

Features = Mapping[str, Mapping[str, float]]  # by column, then by metric


class Spot(NamedTuple):
    """One batch with its history. The first test of a column is the clean batch, the others are of cases that touch it.

    `touched` tells for each case which test of which column it is.
    """

    feed: str
    at: int
    columns: dict[str, Series]
    issues: tuple[str, ...]
    touched: tuple[dict[str, int], ...]


def spots(feed: Feed, history: int = HISTORY) -> Iterator[Spot]:
    """Every batch of a feed that has cases, with the clean runs before it."""
    batches = analysed(feed)
    measured = _Measured(batches)
    for at, same in groupby(table_cases(feed, batches), lambda case: case.at):
        fit = [place for place in range(at) if not is_incident(feed.title, batches[place].partition)]
        past = fit[-history - 1 :]
        rows = [measured(now, before) for before, now in pairwise(past)]
        clean = measured(at, past[-1])
        cases = [(case.issue, _broken(case.column, case.analysis, batches[past[-1]].analysis)) for case in same]
        steady = _steady([batches[place].analysis for place in (*past[1:], at)])
        yield _spot(feed.title, at, steady, rows, clean, cases)


def spot_scores(method: Method, spot: Spot) -> tuple[float, Floats]:
    """The score of the clean batch, and of each case."""
    found = {
        column: method.scores(each.history, each.tests, each.names)
        for column, each in spot.columns.items()
        if each.group in method.groups
    }
    clean = {column: float(each[0]) for column, each in found.items()}
    cases = [
        max(
            {
                **clean,
                **{column: float(found[column][at]) for column, at in touched.items() if column in found},
            }.values()
        )
        if clean
        else 0.0
        for touched in spot.touched
    ]
    return max(clean.values(), default=0.0), np.array(cases)


class _Measured:
    """The features of a run, given the one before; computed once, since histories overlap."""

    def __init__(self, batches: Sequence[Batch]) -> None:
        self.batches = batches
        self._of = lru_cache(maxsize=4 * HISTORY)(self._features)

    def __call__(self, now: int, before: int) -> Features:
        return self._of(now, before)

    def _features(self, now: int, before: int) -> Features:
        return _features(self.batches[now].analysis, self.batches[before].analysis)


def _features(now: hg.Analysis, before: hg.Analysis) -> Features:
    measured = metrics_by_column(now)
    return {column: measured[column] | distances_of(column, now, before) for column in now.schema.labels}


def _broken(column: str, now: hg.Analysis, before: hg.Analysis) -> Features:
    if column == ALL:
        return _features(now, before)
    return {column: features(column, now, before)}


def _steady(analyses: Sequence[hg.Analysis]) -> dict[str, str]:
    """The columns that are there in all of these, and of one group."""
    each = [groups(analysis) for analysis in analyses]
    return {column: group for column, group in each[-1].items() if all(one.get(column) == group for one in each)}


def _spot(
    feed: str,
    at: int,
    steady: Mapping[str, str],
    rows: Sequence[Features],
    clean: Features,
    cases: Sequence[tuple[str, Features]],
) -> Spot:
    tests = {column: [clean[column]] for column in steady}
    touched = []
    for _, found in cases:
        places = {}
        for column in found.keys() & steady.keys():
            places[column] = len(tests[column])
            tests[column].append(found[column])
        touched.append(places)
    columns = {}
    for column, group in steady.items():
        names = tuple(dict.fromkeys(name for row in (*rows, clean) for name in row[column]))
        past, now = ([vector(names, row) for row in each] for each in ([row[column] for row in rows], tests[column]))
        columns[column] = Series(group, names, np.array(past), np.array(now))
    return Spot(feed, at, columns, tuple(issue for issue, _ in cases), tuple(touched))
