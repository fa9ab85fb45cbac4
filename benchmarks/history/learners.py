"""Programs as methods of the column protocol: a batch is as strange as the smallest budget whose program holds it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from typing import NamedTuple

import numpy as np

from benchmarks.history.cases import BROKEN, LENGTH, Window, windows
from benchmarks.history.columns import CATEGORICAL, NUMERIC, Floats
from benchmarks.history.evidence import tails_for
from benchmarks.history.feeds import Feed, feeds
from benchmarks.history.protocol import HISTORY, Judged
from benchmarks.history.series import read_recorded
from headgate.learn.history.learn import ProposalSet
from headgate.learn.history.paper import PaperBounds
from headgate.learn.history.paper_proposals import PaperProposals
from headgate.learn.history.program import Program
from headgate.learn.history.rarity import make_rarity_key
from headgate.learn.issue_effects import IssueEffect, measure_effects
from headgate.learn.metric_traits import traits_of
from headgate.learn.past import DEFAULT_DISTANCES, Past
from headgate.metrics.distances.registry import distances
from headgate.values.key import MetricKey
from headgate.values.schema import Column, Schema

BUDGETS = (1e-6, 1e-5, 1e-4, 3e-4, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3)
EVERY = 3  # histories: a program is learned for every third of the 30 tests of a window


class Learner(NamedTuple):
    """A form of the program: the bounds of the paper's, and which metrics it may use. Ours has none."""

    name: str
    bounds: PaperBounds | None = None
    distances: bool = True

    def uses(self, name: str, group: str) -> bool:
        """Ours follows its few distances, the paper those of its Tables 3 and 4; both all other metrics."""
        if name not in distances():
            return True
        if self.bounds is None:
            return self.distances and name in DEFAULT_DISTANCES
        return self.distances and name.startswith(("value_", "pattern_")) == (group == CATEGORICAL)


LEARNERS = {
    each.name: each
    for each in (
        Learner("headgate"),
        Learner("headgate, single-distribution only", distances=False),
        Learner("paper", PaperBounds()),
        Learner("paper, single-distribution only", PaperBounds(distances=False)),
        Learner("paper, no stationarity", PaperBounds(stationary=False)),
    )
}


class Tested(NamedTuple):
    """What programs made of the windows: scores as of any method, and the clauses at each budget."""

    judged: Judged
    clauses: dict[str, list[int]]


def measured(learner: Learner, history: int = HISTORY, workers: int = 2, sparse: int = 1) -> Tested:
    """A learner on all windows of all feeds (every `sparse`-th window of each)."""
    begin = time.perf_counter()
    with ProcessPoolExecutor(workers, get_context("spawn")) as pool:
        jobs = [(learner.name, feed, history, sparse) for feed in feeds()]
        found = [each for part in pool.map(_on_feed, jobs) for each in part]
    return _gathered(learner.name, found, time.perf_counter() - begin)


class _Scores(NamedTuple):
    feed: str
    group: str
    issues: tuple[str, ...]
    changed: np.ndarray
    clean: Floats
    broken: Floats
    clauses: tuple[int, ...]


def _on_feed(job: tuple[str, Feed, int, int]) -> list[_Scores]:
    name, feed, history, sparse = job
    learner = LEARNERS[name]
    states = {batch.partition: batch.analysis for batch in read_recorded(feed)}
    meant = [each for each in windows(feed) if each.group in (NUMERIC, CATEGORICAL)]
    found = []
    for window in meant[::sparse]:
        newest = states[window.partitions[BROKEN - 1]]
        column = next((each for each in newest.schema.columns if each.label == window.column), None)
        if column is not None:
            found.append(_scored(learner, feed, window, column, newest.states, history))
    return found


def _scored(learner, feed: Feed, window: Window, column: Column, states, history: int) -> _Scores:  # type: ignore[no-untyped-def]
    keys = [MetricKey(name, () if name == "size" else (column.label,)) for name in window.names]
    used = np.array([learner.uses(key.name, window.group) for key in keys])
    measures = tuple(traits_of(key, column.kind) for key, use in zip(keys, used, strict=True) if use)
    schema = Schema((column,))

    def past(at: int) -> Past:
        values = window.clean[at - history : at][:, used]
        return Past(window.partitions[at - history : at], measures, values, (schema,) * history, states)

    damage = measure_effects(past(BROKEN)) if learner.bounds is not None else []
    clean, broken, clauses = [], np.zeros(0), ()
    for at in range(BROKEN, LENGTH, EVERY):
        if learner.bounds is None:
            score = _rarity_scores(feed, past(at))
        else:
            programs = _programs(learner.bounds, past(at), damage)
            score = partial(_budget_that_holds, programs, [each.key for each in measures])
        clean.append(score(window.clean[at : at + 1][:, used]))
        if at == BROKEN:
            broken = score(window.injected[:, used])
            clauses = tuple(len(each.clauses) for each in programs) if learner.bounds is not None else ()
    return _Scores(window.feed, window.group, window.issues, window.changed, np.concatenate(clean), broken, clauses)


def _rarity_scores(feed: Feed, past: Past) -> Callable[[Floats], Floats]:
    """Scores tests: -log10 of the smallest budget at which they are held; 0 if at none."""
    proposals = ProposalSet.of(past, tails_for(feed.folder))
    rarities = proposals.rarities
    programs = [proposals.build_program(budget) for budget in BUDGETS]

    def score(tests: Floats) -> Floats:
        columns = {} if rarities is None else rarities.measure_columns(tests)
        keys = [*(each.key for each in past.metrics), *map(make_rarity_key, columns)]
        return _budget_that_holds(programs, keys, np.column_stack([tests, *columns.values()]))

    return score


def _programs(bounds: PaperBounds, past: Past, damage: list[IssueEffect]) -> list[Program]:
    proposals = PaperProposals.of(past, bounds, damage)
    return [proposals.build_program(budget, budget="column") for budget in BUDGETS]


def _budget_that_holds(programs: list[Program], keys: Sequence[MetricKey], tests: Floats) -> Floats:
    """For each test -log10 of the smallest budget at which it is held; 0 if at none."""
    places = {key: at for at, key in enumerate(keys)}
    scores = np.zeros(len(tests))
    for budget, program in zip(BUDGETS[::-1], programs[::-1], strict=True):
        for expectation in program.expectations:
            values = tests[:, places[expectation.metric]]
            low, high = expectation.predicate.floor, expectation.predicate.ceiling
            with np.errstate(invalid="ignore"):
                out = (values < (-np.inf if low is None else low)) | (values > (np.inf if high is None else high))
            scores[out] = -np.log10(budget)
    return scores


def _gathered(name: str, found: Iterable[_Scores], seconds: float) -> Tested:
    every = list(found)
    tests, issues = [len(each.clean) for each in every], [len(each.broken) for each in every]
    judged = Judged(
        name,
        np.concatenate([each.clean for each in every]),
        np.repeat([(LENGTH - BROKEN) / count for count in tests], tests),
        np.repeat(np.array([each.feed for each in every], np.str_), tests),
        np.repeat(np.array([each.group for each in every], np.str_), tests),
        np.concatenate([each.broken for each in every]),
        np.repeat(np.array([each.feed for each in every], np.str_), issues),
        np.repeat(np.array([each.group for each in every], np.str_), issues),
        np.array([issue for each in every for issue in each.issues], np.str_),
        np.concatenate([each.changed for each in every]),
        seconds,
    )
    clauses = {
        f"{group} {budget:g}": [each.clauses[at] for each in every if each.group == group and each.clauses]
        for group in (NUMERIC, CATEGORICAL)
        for at, budget in enumerate(BUDGETS)
    }
    return Tested(judged, clauses)
