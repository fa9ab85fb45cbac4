"""Learn one program for the next batch from the proposals of all learners, within one budget."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property

import msgspec

from headgate.learn.copies import COPIES, count_copies, find_copies
from headgate.learn.drift import HOLD_FACTOR, Anchor
from headgate.learn.history.forecast import MIN_RUNS
from headgate.learn.history.learn import ProposalSet, propose_free
from headgate.learn.history.program import Clause, Program
from headgate.learn.history.rarity import Rarities
from headgate.learn.history.rarity_reasons import tell_reasons
from headgate.learn.listed_days import add_listed_days, choose_runs
from headgate.learn.novelty.model import NOVELTY, Novelty
from headgate.learn.novelty.propose import propose_novelty
from headgate.learn.past import Past, attempt_prefixes, numeric_values
from headgate.learn.pins import explain_distances
from headgate.learn.pooled_rates import PooledRates, load_pooled_rates
from headgate.learn.remembered_rarity import gather_memory, limit_rarity
from headgate.learn.scope import WHOLE_TABLE, LearningScope
from headgate.learn.surprises import NOTHING_ACCEPTED, AcceptedSurprises, bound_surprises, find_usual_run
from headgate.learn.text_rules import applicable, reprice
from headgate.values.account import Drift
from headgate.values.day_lists import NO_LISTS, DayLists
from headgate.values.expectation import Level, Source
from headgate.values.key import MetricKey
from headgate.values.outcome import Measured, Outcome, Undefined
from headgate.values.period import Period
from headgate.values.proposal import Proposal
from headgate.values.rarity_memory import NOTHING_REMEMBERED, BatchRarity, Part, RarityMemory
from headgate.values.run import Run
from headgate.values.schema import Schema
from headgate.values.state import State
from headgate.values.verdict import Verdict

NEARLY = 0.7
"""The share of the limit of rarity beyond which a column is worth a word in a batch that is held for something else."""


class Learner(StrEnum):
    """A source of learned expectations for a table."""

    HISTORY = "history"
    PATTERNS = "patterns"
    NOVELTY = "novelty"


@dataclass(frozen=True)
class Learned:
    """The program for the next batch, the past that it was learned from, and what each learner contributed.

    `past` has all columns; the program is about those of the `scope`, and about what a person pinned. `surprises` are
    the batches that were accepted though they failed: what is like one of them passes. `usual_past` is given after such
    a batch, and ends with the last run that was not surprising: the next batch may be near to either. `anchor` is the
    level of long ago, from which drift is measured. `rarities` says how rare values are; None for too few runs.
    """

    past: Past | None
    program: Program
    novelty: Novelty | None = None
    text_rules: tuple[Proposal, ...] = ()
    learner_notes: Mapping[str, str] = field(default_factory=dict)
    reference_attempts: tuple[str, ...] = ()
    scope: LearningScope = WHOLE_TABLE
    surprises: AcceptedSurprises = NOTHING_ACCEPTED
    usual_past: Past | None = None
    anchor: Anchor | None = None
    rarities: Rarities | None = None

    def judge(self, outcomes: Mapping[MetricKey, Outcome], schema: Schema) -> Verdict:
        """The verdict of the program on the outcomes of a batch, which `extend_outcomes` gives, and on its schema."""
        verdict = self.program.verdict(outcomes, self.scope.choose_columns(schema))
        if self.rarities is None:
            return self.surprises.excuse(verdict)
        told = tell_reasons(self.rarities, verdict, outcomes)
        if self.surprises.excuse(told) is told:
            return told
        # An accepted batch excuses only what it had alike, so a column that rows explain must be alike too.
        in_full = tell_reasons(self.rarities, verdict, outcomes, skips_explained=False)
        excused = self.surprises.excuse(in_full)
        return told if excused is in_full else excused

    def extend_outcomes(
        self, schema: Schema, outcomes: Mapping[MetricKey, Outcome], states: Mapping[MetricKey, State]
    ) -> dict[MetricKey, Outcome]:
        """The outcomes by which a batch is judged: its own, its distances from the past, its rarity and novelty."""
        extended = dict(outcomes)
        if self.past is not None:
            extended |= {**self._measure_distances(self.past, schema, states), COPIES: count_copies(self.past, states)}
        if self.anchor is not None and self.past is not None:
            extended |= self.anchor.measure(self.past, extended)
        if self.rarities is not None:
            extended |= self.rarities.measure_outcomes(extended)
        if self.novelty is not None:
            extended[NOVELTY] = self.novelty.outcome(extended)
        return extended | explain_distances(self.program.pins, schema, extended)

    def _measure_distances(
        self, past: Past, schema: Schema, states: Mapping[MetricKey, State]
    ) -> dict[MetricKey, Outcome]:
        """The distances of a batch from the newest run; from the last usual one where that is nearer."""
        distances = past.distances(schema, states)
        if self.usual_past is None:
            return distances
        from_usual = numeric_values(self.usual_past.distances(schema, states))
        nearer = {
            key: from_usual[key]
            for key, value in numeric_values(distances).items()
            if key in from_usual and from_usual[key] < value
        }
        return distances | {key: Measured(value) for key, value in nearer.items()}

    @property
    def memory(self) -> RarityMemory:
        """How rare the good batches were so far."""
        return NOTHING_REMEMBERED if self.rarities is None else self.rarities.memory

    def measure_rarity(self, outcomes: Mapping[MetricKey, Outcome], verdict: Verdict) -> BatchRarity | None:
        """How rare a batch is, as it is remembered if it is accepted; None for too few runs.

        `verdict` says whether it is held for what was learned of the history: then accepting it is a false alarm.
        """
        if self.rarities is None:
            return None
        is_held = any(
            each.expectation.source is Source.HISTORY and each.expectation.level is Level.ERROR
            for each in verdict.failures
        )
        return limit_rarity(self.rarities.measure_batch(outcomes), self.program.limits, is_held=is_held)

    def find_rare_columns(self, outcomes: Mapping[MetricKey, Outcome]) -> list[str]:
        """The columns of a batch that are nearly too rare or more, the rarest first."""
        limit = self.program.limits.get(Part.COLUMNS)
        if self.rarities is None or limit is None:
            return []
        found = {
            column: float(rare)
            for column, rare in self.rarities.measure_columns(self.rarities.arrange(outcomes)).items()
        }
        return sorted((column for column in found if found[column] > NEARLY * limit), key=lambda each: -found[each])

    def describe_ranges(self, metrics: Iterable[MetricKey]) -> dict[str, str]:
        """From what the range of each of these metrics was learned, in a few words."""
        notes = {each.metric: each.note for each in self.program.clauses}
        rarities = self.rarities
        found = {key: notes.get(key) or ("" if rarities is None else rarities.describe_metric(key)) for key in metrics}
        return {str(key): note for key, note in found.items() if note}

    def find_drifts(self, outcomes: Mapping[MetricKey, Outcome]) -> tuple[Drift, ...]:
        """What has moved slowly, and farther than any of the last runs."""
        return () if self.anchor is None or self.past is None else self.anchor.find_drifts(self.past, outcomes)

    def find_copy(self, states: Mapping[MetricKey, State]) -> str:
        """The newest run that has exactly the rows of a batch; empty if there is none."""
        copies = None if self.past is None else find_copies(self.past, states)
        return copies[-1] if copies else ""

    def largest_contributions(self, outcomes: Mapping[MetricKey, Outcome]) -> tuple[tuple[str, float], ...]:
        """The eight metrics that contribute most to the novelty of a batch, each with its share, the largest first."""
        if self.novelty is None:
            return ()
        return tuple((str(key), round(share, 4)) for key, share in self.novelty.contributions(outcomes)[:8])


@dataclass(frozen=True)
class ProposalPool:
    """The proposals of all learners for the next batch, before a budget chooses among them."""

    past: Past
    proposal_set: ProposalSet
    novelty: Novelty | None
    text_rules: tuple[Proposal, ...]
    reasons: Mapping[str, str]
    reference_attempts: tuple[str, ...] = ()
    scope: LearningScope = WHOLE_TABLE
    pins: tuple[Clause, ...] = ()
    day_note: str = ""
    surprises: AcceptedSurprises = NOTHING_ACCEPTED
    usual_past: Past | None = None
    anchor: Anchor | None = None

    @classmethod
    def of(
        cls,
        runs: Sequence[Run],
        secret: bytes | None,
        learners: Sequence[Learner],
        *,
        following: str | None = None,
        period: Period | None = None,
        days: DayLists = NO_LISTS,
        pooled_rates: PooledRates | None = None,
        scope: LearningScope = WHOLE_TABLE,
        pins: Sequence[Clause] = (),
        surprises: AcceptedSurprises = NOTHING_ACCEPTED,
        anchor_runs: Sequence[Run] = (),
    ) -> ProposalPool:
        """The proposals that the learners make from accepted runs, oldest first.

        Args:
            runs: The runs.
            secret: The key with which the store hides values.
            learners: Who proposes.
            following: The partition that is judged next. Default: the one that the names of the runs let expect.
            period: The period of that partition, if its name does not tell it.
            days: Lists of days that are compared with each other.
            pooled_rates: Default: those that ship with the package.
            scope: The columns and metrics that are learned from. Default: all.
            pins: Clauses that a person pinned.
            surprises: The surprising batches that were accepted, however long ago.
            anchor_runs: Runs of long ago, oldest first, from which drift is measured.
        """
        for_day = choose_runs(runs, days, following, period)
        runs = for_day.runs
        past_of_all = Past.of_runs(runs, secret=secret, following=following, period=period)
        if for_day.listed is not None:
            past_of_all = add_listed_days(past_of_all, for_day.listed)
        past = past_of_all.choose_columns(scope)
        pooled_rates = pooled_rates or load_pooled_rates()
        account = runs[-1].account
        text_rules = () if account is None or Learner.PATTERNS not in learners else account.text_rules
        measurable = set(applicable(text_rules, past.schema, scope))
        rules_in_scope = [each for each in text_rules if each.expectation.metric in measurable]
        reasons, novelty, novelty_limits = {}, None, []
        if Learner.NOVELTY in learners:
            learned_novelty = (
                Novelty.learn(past, features=scope.metrics)
                if for_day.listed is None
                else Undefined(f"{for_day.name}: few such days")
            )
            if isinstance(learned_novelty, Undefined):
                reasons[Learner.NOVELTY.value] = learned_novelty.why
            else:
                novelty = learned_novelty
                novelty_limits = propose_novelty(novelty, pooled_rates)
        usual_run = find_usual_run(runs)
        pinned = {each.metric for each in pins}
        proposal_set = ProposalSet.of(
            bound_surprises(past, runs),
            pooled_rates,
            gather_memory(runs, pooled_rates.batch_rates(Part.COLUMNS, len(runs)))
            if Learner.HISTORY in learners
            else NOTHING_REMEMBERED,
            novelty_limits=novelty_limits,
            others=reprice(rules_in_scope, past),
            is_learned=lambda metric: metric not in pinned and scope.learns_metric(metric),
        )
        return cls(
            past_of_all,
            proposal_set,
            novelty,
            text_rules,
            reasons,
            attempt_prefixes(runs),
            scope,
            tuple(pins),
            for_day.describe(),
            surprises,
            None if usual_run is None else replace(past_of_all, states=usual_run.states),
            Anchor.of(anchor_runs, surprises, scope) if Learner.HISTORY in learners else None,
        )

    def spend_budget(
        self,
        false_alarms: float,
        learners: Sequence[Learner] = tuple(Learner),
        drift_limit: float = HOLD_FACTOR,
        *,
        counts_alarms: bool = True,
    ) -> Learned:
        """The program that these learners' proposals give within the budget.

        Args:
            false_alarms: The budget.
            learners: Whose proposals.
            drift_limit: How many times less or more than long ago something may be, before a batch is held.
            counts_alarms: Whether false alarms so far lower the working budget: not if another budget made them.
        """
        has_history = Learner.HISTORY in learners
        chosen = replace(
            self.proposal_set,
            rare_columns=self.proposal_set.rare_columns if has_history else None,
            basic_bands=self.proposal_set.basic_bands if has_history else None,
            coarse_bands=self.proposal_set.coarse_bands if has_history else None,
            novelty_limits=self.proposal_set.novelty_limits if Learner.NOVELTY in learners else (),
            others=self.proposal_set.others if Learner.PATTERNS in learners else (),
        )
        program = chosen.build_program(
            false_alarms,
            pins=self.pins,
            free=self._free if has_history else (),
            counts_alarms=counts_alarms,
        )
        novelty = self.novelty if Learner.NOVELTY in learners else None
        if self.anchor is not None:
            limits = self.anchor.expect_no_drift(drift_limit)
            program = msgspec.structs.replace(program, clauses=(*program.clauses, *limits))
        return Learned(
            self.past,
            program,
            novelty,
            self.text_rules,
            self._summarize_learners(program, learners),
            self.reference_attempts,
            self.scope,
            self.surprises,
            self.usual_past,
            self.anchor,
            chosen.rarities,
        )

    @cached_property
    def _free(self) -> list[Proposal]:
        return propose_free(self.proposal_set.past)

    def _summarize_learners(self, program: Program, learners: Sequence[Learner]) -> dict[str, str]:
        """What each learner contributed to the program, or why nothing, in words."""
        counts = Counter(clause.expectation.source.value for clause in program.clauses)
        notes = {each.value: self._describe_contribution(each, counts[each.value]) for each in learners}
        return {**notes, "calendar": self.day_note} if self.day_note else notes

    def _describe_contribution(self, learner: Learner, count: int) -> str:
        if learner.value in self.reasons:
            return f"not yet: {self.reasons[learner.value]}"
        if learner is Learner.HISTORY and len(self.past) < MIN_RUNS:
            return f"{count} expectations; learning, {len(self.past)} of {MIN_RUNS} runs that ranges take"
        if count:
            return f"{count} expectation{'s' * (count > 1)} from {_format_runs(len(self.past))}"
        if learner is Learner.PATTERNS and not self.text_rules:
            return "nothing: no rule was safe enough"
        return "nothing within the budget"


def _format_runs(count: int) -> str:
    return f"{count} run{'s' * (count > 1)}"


def nothing_learned(
    learners: Sequence[Learner], scope: LearningScope = WHOLE_TABLE, pins: Sequence[Clause] = ()
) -> Learned:
    """The program of a table without an accepted run: what a person pinned."""
    why = "no accepted run"
    notes = {each.value: f"not yet: {why}" for each in learners}
    return Learned(None, Program(tuple(pins), why=why), learner_notes=notes, scope=scope)
