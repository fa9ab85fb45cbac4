"""Methods held against windows: every clean next batch a test of precision, every injected issue one of recall."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from benchmarks.history.baselines.method import Method
from benchmarks.history.cases import BROKEN, LENGTH, Window, windows
from benchmarks.history.columns import Floats
from benchmarks.history.feeds import feeds

HISTORY = 30


class Judged(NamedTuple):
    """The scores of one method: of every clean test, and of every issue. Each has its feed and column group."""

    method: str
    clean: Floats
    weights: Floats  # how many tests each clean one stands for
    clean_feeds: npt.NDArray[np.str_]
    clean_groups: npt.NDArray[np.str_]
    broken: Floats
    broken_feeds: npt.NDArray[np.str_]
    broken_groups: npt.NDArray[np.str_]
    issues: npt.NDArray[np.str_]
    changed: npt.NDArray[np.bool_]
    seconds: float

    def of(self, group: str, feeds: Sequence[str] | None = None) -> Judged:
        """The tests of one group of columns, of some feeds or of all."""
        clean, broken = self.clean_groups == group, self.broken_groups == group
        if feeds is not None:
            clean, broken = clean & np.isin(self.clean_feeds, feeds), broken & np.isin(self.broken_feeds, feeds)
        return Judged(
            self.method,
            *(each[clean] for each in self[1:5]),
            *(each[broken] for each in self[5:10]),
            self.seconds,
        )


class Point(NamedTuple):
    """Precision and recall at a threshold, and the share of clean batches that raise an alarm."""

    threshold: float
    precision: float
    recall: float
    false_alarms: float


def judged(method: Method, given: Iterable[Window], history: int = HISTORY) -> Judged:
    """The scores of a method on windows, with this many runs of history before each test."""
    meant = [window for window in given if window.group in method.groups]
    begin = time.perf_counter()
    clean, broken = [], []
    for window in meant:
        one, other = scores(method, window, history)
        clean.append(one)
        broken.append(other)
    spent = time.perf_counter() - begin
    tests, issues = [len(each) for each in clean], [len(each) for each in broken]
    return Judged(
        method.name,
        np.concatenate([np.zeros(0), *clean]),
        np.repeat([(LENGTH - BROKEN) / count for count in tests], tests),
        np.repeat(np.array([window.feed for window in meant], np.str_), tests),
        np.repeat(np.array([window.group for window in meant], np.str_), tests),
        np.concatenate([np.zeros(0), *broken]),
        np.repeat(np.array([window.feed for window in meant], np.str_), issues),
        np.repeat(np.array([window.group for window in meant], np.str_), issues),
        np.array([issue for window in meant for issue in window.issues], np.str_),
        np.concatenate([np.zeros(0, np.bool_), *(window.changed for window in meant)]),
        spent,
    )


def compared(methods: Sequence[Method], history: int = HISTORY, workers: int = 2) -> list[Judged]:
    """The scores of methods on all windows of all feeds, several methods at a time."""
    with ProcessPoolExecutor(workers, get_context("spawn")) as pool:
        return list(pool.map(_on_all, methods, [history] * len(methods)))


def _on_all(method: Method, history: int) -> Judged:
    return judged(method, (window for feed in feeds() for window in windows(feed)), history)


def scores(method: Method, window: Window, history: int = HISTORY) -> tuple[Floats, Floats]:
    """The scores of the clean runs from the 31st on, and of the 31st after each issue."""
    found = []
    broken = np.zeros(0)
    for at in range(BROKEN, LENGTH, method.every):
        past, now = window.clean[at - history : at], window.clean[at : at + 1]
        if at == BROKEN:
            both = method.scores(past, np.concatenate([now, window.injected]), window.names)
            now_scores, broken = both[:1], both[1:]
        else:
            now_scores = method.scores(past, now, window.names)
        found.append(now_scores)
    return np.concatenate(found), broken


def point(tests: Judged, threshold: float, *, only_changed: bool = False) -> Point:
    """TP / (TP + FP) and TP / (TP + FN), a score at or above the threshold being an alarm."""
    kept = tests.changed if only_changed else np.ones(len(tests.broken), np.bool_)
    caught = float((tests.broken[kept] >= threshold).sum())
    alarms = float(tests.weights[tests.clean >= threshold].sum())
    precision = caught / (caught + alarms) if caught + alarms else 1.0
    return Point(threshold, precision, caught / max(1, kept.sum()), alarms / max(1.0, float(tests.weights.sum())))


def curve(tests: Judged, *, only_changed: bool = False) -> list[Point]:
    """The points at which recall passes each hundredth, from the strictest threshold down."""
    swept = _swept(tests, only_changed)
    first = np.unique(np.searchsorted(swept.recall, np.arange(1, 101) / 100 - 1e-12))
    return [swept.point(at) for at in first if at < len(swept.recall)]


def recall_at(tests: Judged, precision: float, *, only_changed: bool = False) -> Point | None:
    """The point of the most recall among those of at least this precision; None, if no threshold gives it."""
    swept = _swept(tests, only_changed)
    good = np.flatnonzero(swept.precision >= precision)
    return swept.point(int(good[-1])) if len(good) else None


class _Sweep(NamedTuple):
    """Every threshold that makes a difference, from the strictest down."""

    threshold: Floats
    precision: Floats
    recall: Floats
    false_alarms: Floats

    def point(self, at: int) -> Point:
        return Point(*(float(each[at]) for each in self))


def _swept(tests: Judged, only_changed: bool) -> _Sweep:
    broken = tests.broken[tests.changed] if only_changed else tests.broken
    every = np.concatenate([tests.clean, broken])
    order = np.argsort(-every, kind="stable")
    caught = np.cumsum(np.concatenate([np.zeros(len(tests.clean)), np.ones(len(broken))])[order])
    alarms = np.cumsum(np.concatenate([tests.weights, np.zeros(len(broken))])[order])
    last = np.append(np.diff(every[order]) != 0, True)  # equal scores are alarms together
    caught, alarms = caught[last], alarms[last]
    return _Sweep(
        every[order][last],
        caught / (caught + alarms),
        caught / max(1, len(broken)),
        alarms / max(1.0, float(tests.weights.sum())),
    )


def recall_by_issue(tests: Judged, threshold: float) -> dict[str, float]:
    """The share of each type of issue that raises an alarm, all its levels together."""
    kinds = np.array([each.partition("(")[0] for each in tests.issues])
    return {str(kind): float((tests.broken[kinds == kind] >= threshold).mean()) for kind in np.unique(kinds)}
