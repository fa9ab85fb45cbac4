"""What the history teaches about the next batch: one program within one budget, from all learners."""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

from headgate.learn.history.bounds import FiniteSampleBounds
from headgate.learn.history.forecast import MIN_RUNS
from headgate.learn.history.learn import ProposalSet
from headgate.learn.history.program import Program
from headgate.learn.issue_effects import IssueEffect, apply_to_latest, measure_effects
from headgate.learn.novelty.model import NOVELTY, Novelty
from headgate.learn.novelty.propose import propose_novelty
from headgate.learn.past import Past, attempt_prefixes
from headgate.learn.pooled_rates import PooledRates, load_pooled_rates
from headgate.learn.text_rules import reprice
from headgate.values.expectation import Source
from headgate.values.key import MetricKey
from headgate.values.outcome import Outcome, Undefined
from headgate.values.proposal import Proposal
from headgate.values.run import Run
from headgate.values.schema import Schema
from headgate.values.state import State

RETRAIN_EVERY = 10  # runs, about, after which the damage of issues is trained again


class Learner(StrEnum):
    """Who may propose expectations for a table beside the people who declare checks."""

    HISTORY = "history"
    PATTERNS = "patterns"
    NOVELTY = "novelty"


@dataclass(frozen=True)
class Learned:
    """The past that was learned from, the program for the next batch, and what each learner gave to it."""

    past: Past | None
    program: Program
    novelty: Novelty | None = None
    text_rules: tuple[Proposal, ...] = ()
    learner_notes: Mapping[str, str] = field(default_factory=dict)
    reference_attempts: tuple[str, ...] = ()

    def extend_outcomes(
        self, schema: Schema, outcomes: Mapping[MetricKey, Outcome], states: Mapping[MetricKey, State]
    ) -> dict[MetricKey, Outcome]:
        """All that a batch is judged by: what was measured, its distances from the past, and how novel it is."""
        if self.past is None:
            return dict(outcomes)
        found = {**outcomes, **self.past.distances(schema, states)}
        if self.novelty is not None:
            found[NOVELTY] = self.novelty.outcome(found)
        return found

    def largest_contributions(self, outcomes: Mapping[MetricKey, Outcome]) -> tuple[tuple[str, float], ...]:
        """The metrics that make the batch unlike the runs before it, each with its share, the largest first."""
        if self.novelty is None:
            return ()
        return tuple((str(key), round(share, 4)) for key, share in self.novelty.contributions(outcomes)[:8])


class IssueEffectCache:
    """What issues do to the metrics of a table, trained on one of its runs and kept while that one is the anchor.

    Which run that is follows from the runs alone, so that a gate that was just started learns what one that has run for
    months learns: about every tenth run is fit to be an anchor, by a hash of its partition.
    """

    def __init__(self) -> None:
        self._effects: dict[tuple[str, int], list[IssueEffect]] = {}

    def effects_for(self, past: Past, runs: Sequence[Run]) -> list[IssueEffect]:
        anchor = _choose_anchor(runs, past)
        key = anchor.attempt, hash(past.metrics)
        if key not in self._effects:
            self._effects = {key: measure_effects(replace(past, states=anchor.states))}
        return self._effects[key]


def _choose_anchor(runs: Sequence[Run], past: Past) -> Run:
    """The newest run that is fit and has the columns of the newest; if there is none, the newest."""
    anchors = [
        each
        for each in runs
        if zlib.crc32(each.partition.encode("utf-8", "surrogatepass")) % RETRAIN_EVERY == 0
        and each.schema.columns == past.schema.columns
    ]
    return anchors[-1] if anchors else runs[-1]


@dataclass(frozen=True)
class ProposalPool:
    """All that the learners propose for the next batch, before any budget is spent."""

    past: Past
    proposal_set: ProposalSet
    novelty: Novelty | None
    text_rules: tuple[Proposal, ...]
    reasons: Mapping[str, str]
    reference_attempts: tuple[str, ...] = ()
    _sets_by_source: dict[frozenset[Source], ProposalSet] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        runs: Sequence[Run],
        secret: bytes | None,
        learners: Sequence[Learner],
        effect_cache: IssueEffectCache,
        *,
        max_cost: float = 1.0,
        pooled_rates: PooledRates | None = None,
    ) -> ProposalPool:
        """Of accepted runs, oldest first. Nothing that costs more than `dearest` is proposed."""
        past, pooled_rates = Past.of_runs(runs, secret=secret), pooled_rates or load_pooled_rates()
        account = runs[-1].account
        text_rules = () if account is None or Learner.PATTERNS not in learners else account.shapes
        effects = effect_cache.effects_for(past, runs) if len(past) >= MIN_RUNS else []
        other_proposals, reasons, novelty = reprice(text_rules, past), {}, None
        if Learner.NOVELTY in learners:
            found = Novelty.learn(past)
            if isinstance(found, Undefined):
                reasons[Learner.NOVELTY.value] = found.why
            else:
                novelty = found
                other_proposals += propose_novelty(found, past, apply_to_latest(effects, past), pooled_rates)
        history_effects = effects if Learner.HISTORY in learners else []
        proposal_set = ProposalSet.of(
            past, FiniteSampleBounds(pooled_rates, max_cost), history_effects, other_proposals
        )
        return cls(past, proposal_set, novelty, text_rules, reasons, attempt_prefixes(runs))

    def spend_budget(self, false_alarms: float, learners: Sequence[Learner] = tuple(Learner)) -> Learned:
        """What this budget buys of the proposals of these learners."""
        sources = frozenset(Source(each.value) for each in learners)
        if sources not in self._sets_by_source:  # several budgets are tried on the same proposals
            chosen = (each for each in self.proposal_set.proposals if each.expectation.source in sources)
            self._sets_by_source[sources] = ProposalSet(self.past, tuple(chosen), self.proposal_set.issues)
        program = self._sets_by_source[sources].build_program(false_alarms, schema=Learner.HISTORY in learners)
        novelty = self.novelty if Learner.NOVELTY in learners else None
        return Learned(
            self.past,
            program,
            novelty,
            self.text_rules,
            self._summarize_learners(program, learners),
            self.reference_attempts,
        )

    def _summarize_learners(self, program: Program, learners: Sequence[Learner]) -> dict[str, str]:
        """Of each learner, what it gave to the program, or why nothing."""
        counts = Counter(clause.expectation.source.value for clause in program.clauses)
        return {each.value: self._describe_contribution(each, counts[each.value]) for each in learners}

    def _describe_contribution(self, learner: Learner, count: int) -> str:
        if learner.value in self.reasons:
            return f"not yet: {self.reasons[learner.value]}"
        if learner is Learner.HISTORY and len(self.past) < MIN_RUNS:
            return f"{count} expectations about columns; {len(self.past)} of {MIN_RUNS} runs that ranges take"
        if count:
            return f"{count} expectation{'s' * (count > 1)} from {_format_runs(len(self.past))}"
        if learner is Learner.PATTERNS and not self.text_rules:
            return "nothing: no rule was safe enough"
        return "nothing within the budget"


def _format_runs(count: int) -> str:
    return f"{count} run{'s' * (count > 1)}"


def nothing_learned(learners: Sequence[Learner]) -> Learned:
    """Before the first accepted run."""
    why = "no accepted run"
    return Learned(None, Program(why=why), learner_notes={each.value: f"not yet: {why}" for each in learners})
