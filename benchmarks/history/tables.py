"""Every run of every feed judged by programs learned from the runs before it: what is held, and by what."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from benchmarks.history.evidence import evidence, whole
from benchmarks.history.feeds import Feed
from benchmarks.history.incidents import is_incident
from benchmarks.history.series import analysed
from headgate.engine.analysis import Analysis
from headgate.learn.history.bounds import Bounds, FiniteSample
from headgate.learn.history.damage import Damage, damages
from headgate.learn.history.learn import Offers
from headgate.learn.history.paper import Paper
from headgate.learn.history.past import Past
from headgate.learn.history.program import Program
from headgate.learn.history.tails import Tails
from headgate.values.expectation import Status

RUNS = 30


class Method(NamedTuple):
    """A form of the learner: its bounds, whether the budget is a column's, and the budgets to try."""

    name: str
    bounds: Callable[[Feed], Bounds]
    budgets: tuple[float, ...]
    by_column: bool = False

    def programs(self, feed: Feed, past: Past, damage: Sequence[Damage]) -> Iterator[tuple[float, Program]]:
        plain = self.name.startswith("paper")
        offers = Offers.of(past, self.bounds(feed), damage)
        for budget in self.budgets:
            yield budget, offers.program(budget, budget="column" if self.by_column else "table", plain=plain)


OURS = Method("headgate", lambda feed: FiniteSample(tails_for(feed.folder)), (0.001, 0.003, 0.01, 0.02, 0.05, 0.1))
PAPER = Method("paper", lambda _: Paper(), (1e-6, 1e-5, 1e-4, 0.001, 0.01), by_column=True)


class Judged(NamedTuple):
    """One batch held or not by one method at one budget, and by which clauses."""

    feed: str
    at: int
    partition: str
    method: str
    budget: float
    held: bool
    reasons: tuple[str, ...]
    clauses: int
    cost: float


class Trained:
    """Damage that is trained again every so many runs, and whenever the table gets other columns."""

    def __init__(self, every: int = 10) -> None:
        self.every = every
        self._last: tuple[int, frozenset[Any], list[Damage]] | None = None

    def damage(self, at: int, past: Past) -> list[Damage]:
        columns = frozenset(past.schema.columns)
        if self._last is None or at - self._last[0] >= self.every or columns != self._last[1]:
            self._last = at, columns, damages(past)
        return self._last[2]


def past_at(feed: Feed, at: int, runs: int = RUNS) -> Past | None:
    """The last good runs before a run; None if there are too few."""
    table = whole(feed)
    rows = np.array([row for row in range(at) if not is_incident(feed.title, table.partitions[row])][-runs:])
    if len(rows) < runs:
        return None
    values = table.values[rows]
    used = np.flatnonzero(np.isfinite(values).any(axis=0))
    return Past(
        tuple(table.partitions[row] for row in rows),
        tuple(table.measures[each] for each in used),
        values[:, used],
        tuple(table.schemas[row] for row in rows),
        analysed(feed)[rows[-1]].analysis.states,
    )


@cache
def tails_for(folder: str) -> Tails:
    """Evidence gathered without the dataset that is judged by it."""
    return evidence(without=(folder,))


def judged(feed: Feed, methods: Sequence[Method], places: Sequence[int], trained: Trained) -> Iterator[Judged]:
    """Some runs of a feed, judged by every method at every budget."""
    batches = analysed(feed)
    for at in places:
        past = past_at(feed, at)
        if past is not None:
            damage = trained.damage(at, past)
            for method in methods:
                for budget, made in method.programs(feed, past, damage):
                    yield _judged(feed, at, method.name, budget, made, batches[at].analysis, past)


def _judged(feed: Feed, at: int, method: str, budget: float, made: Program, batch: Analysis, past: Past) -> Judged:
    held, reasons = verdict(made, batch, past)
    partition = analysed(feed)[at].partition
    return Judged(feed.title, at, partition, method, budget, held, reasons, len(made.clauses), made.cost)


def verdict(made: Program, batch: Analysis, past: Past) -> tuple[bool, tuple[str, ...]]:
    """Whether a batch is held: a clause failed or could not be judged."""
    found = made.judge(batch, past)
    bad = [each for each in found.judgements if each.status in (Status.FAIL, Status.ERROR)]
    return bool(bad), tuple(each.reason for each in bad)
