"""Every run of every feed judged by programs learned from the runs before it: what is held, and by what."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from benchmarks.history.feeds import Feed
from benchmarks.history.incidents import is_incident
from benchmarks.history.series import read_recorded
from benchmarks.values_mode import SECRET
from headgate.engine.analysis import Analysis
from headgate.learn.history.bounds import Bounds, FiniteSampleBounds
from headgate.learn.history.learn import ProposalSet
from headgate.learn.history.paper import PaperBounds
from headgate.learn.history.program import Program
from headgate.learn.issue_effects import IssueEffect, measure_effects
from headgate.learn.past import Past, merge_states
from headgate.learn.pooled_rates import PooledRates
from headgate.values.expectation import Status
from headgate.values.verdict import Verdict
from training.pooled_rates import evidence

RUNS = 30


class Form(NamedTuple):
    """A form of the learner: the paper's bounds and selection or ours, whose the budget is, and the budgets to try."""

    plain: bool
    budget: str
    budgets: tuple[float, ...]


BOUNDS: dict[bool, Callable[[Feed], Bounds]] = {
    False: lambda feed: FiniteSampleBounds(tails_for(feed.folder)),
    True: lambda _: PaperBounds(),
}
FORMS = {
    "headgate": Form(False, "table", (0.003, 0.01, 0.02, 0.05, 0.1)),
    "headgate, by column": Form(False, "column", (1e-3,)),
    "paper": Form(True, "column", (1e-12, 1e-6, 1e-3, 1e-2)),
    "paper, by table": Form(True, "table", (1e-2,)),
}


class Programs(NamedTuple):
    """All forms at all budgets, learned from one past."""

    past: Past
    made: dict[str, Program]  # by form and budget: "headgate 0.01"

    @classmethod
    def of(cls, feed: Feed, past: Past, damage: Sequence[IssueEffect]) -> Programs:
        made = {}
        offers = {plain: ProposalSet.of(past, bounds(feed), damage) for plain, bounds in BOUNDS.items()}
        for name, form in FORMS.items():
            for share in form.budgets:
                made[f"{name} {share:g}"] = offers[form.plain].build_program(
                    share, budget=form.budget, paper_algorithm=form.plain
                )
        return cls(past, made)

    def held(self, batch: Analysis) -> dict[str, tuple[str, ...]]:
        """Which of them hold a batch, and why."""
        outcomes = self.past.outcomes(batch)
        found = {name: reasons(made.verdict(outcomes, batch.schema)) for name, made in self.made.items()}
        return {name: why for name, why in found.items() if why}


class Trained:
    """Damage that is trained again every so many runs, and whenever the table gets other columns."""

    def __init__(self, every: int = 10) -> None:
        self.every = every
        self._last: tuple[int, frozenset[Any], list[IssueEffect]] | None = None

    def damage(self, at: int, past: Past) -> list[IssueEffect]:
        columns = frozenset(past.schema.columns)
        if self._last is None or at - self._last[0] >= self.every or columns != self._last[1]:
            self._last = at, columns, measure_effects(past)
        return self._last[2]


def past_at(feed: Feed, at: int, fewest: int = RUNS) -> Past | None:
    """The last 30 good runs before a run, or at least so many; None if there are fewer."""
    table = whole_past(feed)
    rows = np.array([row for row in range(at) if not is_incident(feed.title, table.partitions[row])][-RUNS:], int)
    if len(rows) < fewest:
        return None
    values = table.values[rows]
    held = [read_recorded(feed)[row].analysis.states for row in rows]
    used = np.flatnonzero(np.isfinite(values).any(axis=0))
    return Past(
        tuple(table.partitions[row] for row in rows),
        tuple(table.metrics[each] for each in used),
        values[:, used],
        tuple(table.schemas[row] for row in rows),
        held[-1],
        SECRET,
        merged=merge_states(table.schemas[rows[-1]], held),
    )


@cache
def whole_past(feed: Feed) -> Past:
    """All runs of a feed as one table; distances are from runs before that are no incidents."""
    batches = read_recorded(feed)
    good = [not is_incident(feed.title, each.partition) for each in batches]
    return Past.of([each.analysis for each in batches], [each.partition for each in batches], trusted=good)


@cache
def tails_for(folder: str) -> PooledRates:
    """Evidence gathered without the dataset that is judged by it."""
    return evidence(without=(folder,))


def reasons(found: Verdict) -> tuple[str, ...]:
    """Why a batch is held: what failed or could not be judged."""
    bad = (each for each in found.judgements if each.status in (Status.FAIL, Status.ERROR))
    return tuple(each.reason for each in bad)
