"""Every run of every feed judged by programs learned from the runs before it: what is held, and by what."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any, NamedTuple

from benchmarks.history.evidence import tails_for
from benchmarks.history.feeds import Feed
from benchmarks.history.incidents import is_incident
from benchmarks.history.series import read_recorded
from benchmarks.rarity.memory import list_accounts
from benchmarks.values_mode import SECRET
from headgate.engine.analysis import Analysis
from headgate.learn.copies import COPIES, count_copies
from headgate.learn.history.learn import ProposalSet, propose_free
from headgate.learn.history.paper import PaperBounds
from headgate.learn.history.paper_proposals import PaperProposals
from headgate.learn.history.program import Program
from headgate.learn.history.rarity import Rarities
from headgate.learn.history.rarity_reasons import tell_reasons
from headgate.learn.issue_effects import IssueEffect, measure_effects
from headgate.learn.past import DEFAULT_DISTANCES, Past, attempt_prefixes, measure_distances
from headgate.learn.remembered_rarity import gather_memory
from headgate.values.account import Account
from headgate.values.expectation import Status
from headgate.values.rarity_memory import Part
from headgate.values.run import Run
from headgate.values.verdict import Verdict

RUNS = 30


class Form(NamedTuple):
    """A form of the learner: the paper's or ours, whose the budget is, and the budgets to try."""

    plain: bool
    budget: str
    budgets: tuple[float, ...]


FORMS = {
    "headgate": Form(False, "table", (0.003, 0.01, 0.02, 0.05, 0.1)),
    "paper": Form(True, "column", (1e-12, 1e-6, 1e-3, 1e-2)),
    "paper, by table": Form(True, "table", (1e-2,)),
}


class Programs(NamedTuple):
    """All forms at all budgets, learned from one past."""

    past: Past
    rarities: Rarities | None
    made: dict[str, Program]  # by form and budget: "headgate 0.01"

    @classmethod
    def of(cls, feed: Feed, runs: Sequence[Run], past: Past, damage: Sequence[IssueEffect]) -> Programs:
        rates = tails_for(feed.folder)
        ours = ProposalSet.of(past, rates, gather_memory(runs, rates.batch_rates(Part.COLUMNS, len(runs))))
        papers = PaperProposals.of(past, PaperBounds(), damage)
        free = propose_free(past)
        made = {
            f"{name} {share:g}": papers.build_program(share, budget=form.budget, free=free)
            if form.plain
            else ours.build_program(share, free=free)
            for name, form in FORMS.items()
            for share in form.budgets
        }
        return cls(past, ours.rarities, made)

    def held(self, batch: Analysis) -> dict[str, tuple[str, ...]]:
        """Which of them hold a batch, and why."""
        outcomes = {**self.past.outcomes(batch), COPIES: count_copies(self.past, batch.states)}
        if self.rarities is not None:
            outcomes |= self.rarities.measure_outcomes(outcomes)
        verdicts = {name: made.verdict(outcomes, batch.schema) for name, made in self.made.items()}
        if self.rarities is not None:
            verdicts = {name: tell_reasons(self.rarities, each, outcomes) for name, each in verdicts.items()}
        found = {name: reasons(each) for name, each in verdicts.items()}
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


def runs_before(feed: Feed, at: int, fewest: int = RUNS) -> list[Run]:
    """The last 30 good runs before a run, or at least so many; empty if there are fewer."""
    runs = [run for run in list_runs(feed)[:at] if run is not None][-RUNS:]
    return runs if len(runs) >= fewest else []


def past_of(feed: Feed, at: int, runs: Sequence[Run]) -> Past:
    """The past of runs, for the batch that follows: as the gate makes it."""
    batches = read_recorded(feed)
    return Past.of_runs(runs, secret=SECRET, following=batches[min(at, len(batches) - 1)].partition)


@cache
def list_runs(feed: Feed) -> list[Run | None]:
    """All runs of a feed as a store has them; None for incidents. Distances are from the good runs before."""
    runs: list[Run | None] = []
    account, good = Account(), list[Run]()
    for batch in read_recorded(feed):
        if is_incident(feed.title, batch.partition):
            runs.append(None)
            continue
        account = list_accounts(feed).get(batch.partition, account)
        schema, states, before = batch.analysis.schema, batch.analysis.states, good[-RUNS:]
        earlier = [each.states for each in before]
        distances = measure_distances(schema, states, earlier, DEFAULT_DISTANCES) if before else {}
        run = Run(
            dataset=feed.title,
            partition=batch.partition,
            fingerprint=batch.partition,
            schema=schema,
            outcomes={**batch.analysis.outcomes, **distances},
            states=states,
            account=Account(
                reference_attempts=attempt_prefixes(before), rarity=account.rarity, rarities=account.rarities
            ),
        )
        runs.append(run)
        good.append(run)
    return runs


def reasons(found: Verdict) -> tuple[str, ...]:
    """Why a batch is held: what failed or could not be judged."""
    bad = (each for each in found.judgements if each.status in (Status.FAIL, Status.ERROR))
    return tuple(each.reason for each in bad)
