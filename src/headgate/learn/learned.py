"""What the history teaches about the next batch: one program within one budget, from all learners."""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

from headgate.learn.history.bounds import FiniteSample
from headgate.learn.history.forecast import FEWEST
from headgate.learn.history.learn import Offers
from headgate.learn.history.program import Program
from headgate.learn.issue_effects import Damage, applied, damages
from headgate.learn.novelty.model import NOVELTY, Novelty
from headgate.learn.novelty.propose import propose_novelty
from headgate.learn.past import Past, after
from headgate.learn.pooled_rates import Tails, pooled
from headgate.learn.text_rules import priced
from headgate.values.expectation import Source
from headgate.values.key import MetricKey
from headgate.values.outcome import Outcome, Undefined
from headgate.values.proposal import Proposal
from headgate.values.run import Run
from headgate.values.schema import Schema
from headgate.values.state import State

AGAIN = 10  # runs, about, after which the damage of issues is trained again


class Learner(StrEnum):
    """Who may propose expectations for a table beside the people who declare checks."""

    HISTORY = "history"
    PATTERNS = "patterns"
    NOVELTY = "novelty"


@dataclass(frozen=True)
class Lesson:
    """The past that was learned from, the program for the next batch, and what each learner gave to it."""

    past: Past | None
    program: Program
    novelty: Novelty | None = None
    shapes: tuple[Proposal, ...] = ()
    learners: Mapping[str, str] = field(default_factory=dict)
    after: tuple[str, ...] = ()

    def outcomes(
        self, schema: Schema, outcomes: Mapping[MetricKey, Outcome], states: Mapping[MetricKey, State]
    ) -> dict[MetricKey, Outcome]:
        """All that a batch is judged by: what was measured, its distances from the past, and how novel it is."""
        if self.past is None:
            return dict(outcomes)
        found = {**outcomes, **self.past.distances(schema, states)}
        if self.novelty is not None:
            found[NOVELTY] = self.novelty.outcome(found)
        return found

    def blamed(self, outcomes: Mapping[MetricKey, Outcome]) -> tuple[tuple[str, float], ...]:
        """The metrics that make the batch unlike the runs before it, each with its share, the largest first."""
        if self.novelty is None:
            return ()
        return tuple((str(key), round(share, 4)) for key, share in self.novelty.contributions(outcomes)[:8])


class Training:
    """What issues do to the metrics of a table, trained on one of its runs and kept while that one is the anchor.

    Which run that is follows from the runs alone, so that a gate that was just started learns what one that has run for
    months learns: about every tenth run is fit to be an anchor, by a hash of its partition.
    """

    def __init__(self) -> None:
        self._kept: dict[tuple[str, int], list[Damage]] = {}

    def damage(self, past: Past, runs: Sequence[Run]) -> list[Damage]:
        anchor = _anchor(runs, past)
        key = anchor.attempt, hash(past.measures)
        if key not in self._kept:
            self._kept = {key: damages(replace(past, states=anchor.states))}
        return self._kept[key]


def _anchor(runs: Sequence[Run], past: Past) -> Run:
    """The newest run that is fit and has the columns of the newest; if there is none, the newest."""
    fit = [
        each
        for each in runs
        if zlib.crc32(each.partition.encode("utf-8", "surrogatepass")) % AGAIN == 0
        and each.schema.columns == past.schema.columns
    ]
    return fit[-1] if fit else runs[-1]


@dataclass(frozen=True)
class Offered:
    """All that the learners propose for the next batch, before any budget is spent."""

    past: Past
    offers: Offers
    novelty: Novelty | None
    shapes: tuple[Proposal, ...]
    said: Mapping[str, str]
    after: tuple[str, ...] = ()
    _chosen: dict[frozenset[Source], Offers] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        runs: Sequence[Run],
        secret: bytes | None,
        learners: Sequence[Learner],
        training: Training,
        *,
        dearest: float = 1.0,
        tails: Tails | None = None,
    ) -> Offered:
        """Of accepted runs, oldest first. Nothing that costs more than `dearest` is proposed."""
        past, tails = Past.of_runs(runs, secret=secret), tails or pooled()
        account = runs[-1].account
        shapes = () if account is None or Learner.PATTERNS not in learners else account.shapes
        damage = training.damage(past, runs) if len(past) >= FEWEST else []
        others, said, novelty = priced(shapes, past), {}, None
        if Learner.NOVELTY in learners:
            found = Novelty.learn(past)
            if isinstance(found, Undefined):
                said[Learner.NOVELTY.value] = found.why
            else:
                novelty = found
                others += propose_novelty(found, past, applied(damage, past), tails)
        mine = damage if Learner.HISTORY in learners else []
        offers = Offers.of(past, FiniteSample(tails, dearest), mine, others)
        return cls(past, offers, novelty, shapes, said, after(runs))

    def lesson(self, false_alarms: float, learners: Sequence[Learner] = tuple(Learner)) -> Lesson:
        """What this budget buys of the proposals of these learners."""
        sources = frozenset(Source(each.value) for each in learners)
        if sources not in self._chosen:  # several budgets are tried on the same proposals
            chosen = (each for each in self.offers.proposals if each.expectation.source in sources)
            self._chosen[sources] = Offers(self.past, tuple(chosen), self.offers.issues)
        program = self._chosen[sources].program(false_alarms, schema=Learner.HISTORY in learners)
        novelty = self.novelty if Learner.NOVELTY in learners else None
        return Lesson(self.past, program, novelty, self.shapes, self._told(program, learners), self.after)

    def _told(self, program: Program, learners: Sequence[Learner]) -> dict[str, str]:
        """Of each learner, what it gave to the program, or why nothing."""
        counts = Counter(clause.expectation.source.value for clause in program.clauses)
        return {each.value: self._gave(each, counts[each.value]) for each in learners}

    def _gave(self, learner: Learner, count: int) -> str:
        if learner.value in self.said:
            return f"not yet: {self.said[learner.value]}"
        if learner is Learner.HISTORY and len(self.past) < FEWEST:
            return f"{count} expectations about columns; {len(self.past)} of {FEWEST} runs that ranges take"
        if count:
            return f"{count} expectation{'s' * (count > 1)} from {_runs(len(self.past))}"
        if learner is Learner.PATTERNS and not self.shapes:
            return "nothing: no rule was safe enough"
        return "nothing within the budget"


def _runs(count: int) -> str:
    return f"{count} run{'s' * (count > 1)}"


def no_lesson(learners: Sequence[Learner]) -> Lesson:
    """Before the first accepted run."""
    why = "no accepted run"
    return Lesson(None, Program(why=why), learners={each.value: f"not yet: {why}" for each in learners})
