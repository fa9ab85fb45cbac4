"""Replays the history of a dataset batch by batch, from states alone: what the gate would have done with each.

Tested by `tests/gate/backtest/test_backtest.py`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from typing import Any

import msgspec
import numpy as np

from headgate.explain.causes import find_causes
from headgate.explain.column_changes import changes_behind
from headgate.gate.backtest.accepted_runs import AcceptedRuns
from headgate.gate.backtest.injected_issues import InjectedIssue, inject_into
from headgate.gate.settings import Settings
from headgate.learn.copies import COPIES
from headgate.learn.drift import find_drift_metric
from headgate.learn.history.forecast import MIN_RUNS
from headgate.learn.history.rarity import RARITY
from headgate.learn.learned import Learned, Learner, nothing_learned
from headgate.learn.novelty.model import NOVELTY
from headgate.metrics.distances.registry import distances
from headgate.stats.intervals import wilson
from headgate.store.port import HistoryStore
from headgate.values.account import Account
from headgate.values.expectation import Judgement, Level, Source, Status
from headgate.values.key import MetricKey
from headgate.values.outcome import Outcome, Undefined
from headgate.values.run import TRUSTED, Decision, Revision, Run
from headgate.values.verdict import Verdict

LEARNED = frozenset(Source(each.value) for each in Learner)
_COMPARISONS = frozenset({NOVELTY.name, COPIES.name, RARITY, *distances()})
WRONG = frozenset({Decision.HELD, Decision.REJECTED, Decision.DISCARDED})


class KnownQuality(StrEnum):
    """What is known of a recorded batch today: good if it was published or accepted, bad if stopped, else open."""

    GOOD = "good"
    BAD = "bad"
    OPEN = "open"

    @classmethod
    def of(cls, decision: Decision | None) -> KnownQuality:
        """A batch that was released is open: it was published, but nobody said that it was right.

        >>> KnownQuality.of(Decision.ACCEPTED), KnownQuality.of(Decision.RELEASED)
        (<KnownQuality.GOOD: 'good'>, <KnownQuality.OPEN: 'open'>)
        """
        if decision in TRUSTED:
            return cls.GOOD
        return cls.BAD if decision in WRONG else cls.OPEN


class BudgetPlan(msgspec.Struct, frozen=True):
    """A budget, and the learners that may spend it."""

    budget: float
    learners: tuple[Learner, ...]


class ReplayedBatch(msgspec.Struct, frozen=True):
    """What would have become of one recorded batch.

    `alarms` and `costs` have an entry for each plan: whether the learned program would have held the batch, and the
    false alarm rate that the program states. `declared` is whether a check that a person wrote failed when the batch
    was recorded, or a range that is pinned now fails. `by` and `causes` say for the first plan whose expectations the
    batch breaks and what is wrong. `early` is a batch with too few accepted runs before it for ranges.
    """

    partition: str
    number: int
    decision: Decision | None
    early: bool
    alarms: tuple[bool, ...]
    costs: tuple[float, ...]
    declared: bool = False
    by: tuple[str, ...] = ()
    causes: tuple[str, ...] = ()
    injected_issues: tuple[InjectedIssue, ...] = ()

    @property
    def quality(self) -> KnownQuality:
        return KnownQuality.of(self.decision)

    @property
    def is_held(self) -> bool:
        """Whether the gate as it is set would hold it."""
        return self.alarms[0] or self.declared


class BudgetResult(msgspec.Struct, frozen=True):
    """What one plan did: good batches that it held, bad ones that it held, injected issues that it caught.

    `cost` is the mean false alarm rate that its programs stated.
    """

    plan: BudgetPlan
    false_holds: int
    good: int
    stopped: int
    bad: int
    caught: int
    injected: int
    cost: float

    @classmethod
    def of(cls, plan: BudgetPlan, at: int, judged: Sequence[ReplayedBatch]) -> BudgetResult:
        """The result of the plan at index `at`, over batches that are not early."""
        good = [each.alarms[at] for each in judged if each.quality is KnownQuality.GOOD]
        bad = [each.alarms[at] for each in judged if each.quality is KnownQuality.BAD]
        caught = [issue.caught[at] for each in judged for issue in each.injected_issues]
        cost = sum(each.costs[at] for each in judged) / max(1, len(judged))
        return cls(plan, sum(good), len(good), sum(bad), len(bad), sum(caught), len(caught), cost)

    @property
    def rate(self) -> float | None:
        """The share of good batches that were held."""
        return self.false_holds / self.good if self.good else None

    @property
    def interval(self) -> tuple[float, float]:
        """Wilson's 95% interval of the rate."""
        return wilson(self.false_holds, self.good)

    @property
    def recall(self) -> float | None:
        """The share of injected issues that were caught."""
        return self.caught / self.injected if self.injected else None

    @property
    def keeps_budget(self) -> bool:
        """Whether no larger share of good batches was held than the budget says."""
        return self.rate is not None and self.rate <= self.plan.budget

    def to_dict(self) -> dict[str, Any]:
        return {
            "budget": self.plan.budget,
            "learners": [each.value for each in self.plan.learners],
            "false_holds": self.false_holds,
            "good": self.good,
            "rate": self.rate,
            "interval": list(self.interval),
            "stopped": self.stopped,
            "bad": self.bad,
            "caught": self.caught,
            "injected": self.injected,
            "recall": self.recall,
            "cost": self.cost,
        }

    def cells(self) -> tuple[str, ...]:
        """For people: false holds, their interval, bad batches, issues, cost."""
        low, high = self.interval
        return (
            f"{self.false_holds} of {self.good}",
            f"{low:.1%} to {high:.1%}" if self.good else "",
            f"{self.stopped} of {self.bad}",
            "" if self.recall is None else f"{self.recall:.1%}",
            f"{self.cost:.2%}",
        )


def replay_batches(
    store: HistoryStore, dataset: str, settings: Settings, plans: Sequence[BudgetPlan], spots: int
) -> Iterator[ReplayedBatch]:
    """Every partition in order, as its newest revision, judged by the accepted runs before it alone.

    The decisions are those of today, and the order is that of the partitions: a batch that came late is judged as if
    it had come in time. Issues are injected into about `spots` of the good batches, evenly spread.
    """
    head = store.head(dataset)
    newest = store.last(dataset, head, as_of=head)
    accepted_revisions = {each.partition: each for each in store.last(dataset, head, as_of=head, only=TRUSTED)}
    spots_chosen = _choose_spots(newest, accepted_revisions, settings.runs, spots)
    accepted_runs = AcceptedRuns(settings, store.secret, settings.find_rates(store.secret, dataset))
    for revision in newest:
        recorded = store.run(revision)
        scope = settings.scope.with_ignored(_muted_columns(recorded))
        pool = accepted_runs.make_pool(revision.partition, scope)
        programs = [
            nothing_learned(plan.learners, scope, settings.pins)
            if pool is None
            else pool.spend_budget(
                plan.budget, plan.learners, settings.drift, counts_alarms=plan.budget == plans[0].budget
            )
            for plan in plans
        ]
        run = _measure_again(recorded, programs[0])
        injected = inject_into(run, programs, store.secret) if revision.partition in spots_chosen else ()
        yield _replay_batch(revision, run, programs, injected)
        if (accepted_revision := accepted_revisions.get(revision.partition)) is not None:
            same = accepted_revision.number == revision.number
            accepted_run = run if same else _measure_again(store.run(accepted_revision), programs[0])
            accepted_runs.add(accepted_run, _judge_learned(accepted_run, programs[0]))


def _muted_columns(run: Run) -> list[str]:
    """The columns that were muted when a run was judged."""
    return [] if run.account is None else [each.column for each in run.account.mutes]


def _choose_spots(
    newest: Sequence[Revision], accepted: Mapping[str, Revision], runs: int, spots: int
) -> frozenset[str]:
    """Good batches that are not early, evenly spread."""
    if runs < MIN_RUNS:
        return frozenset()
    before, partitions = 0, []
    for revision in newest:
        if KnownQuality.of(revision.decision) is KnownQuality.GOOD and before >= MIN_RUNS:
            partitions.append(revision.partition)
        before += revision.partition in accepted
    indices = np.linspace(0, len(partitions) - 1, min(spots, len(partitions))).round().astype(int)
    return frozenset(partitions[index] for index in indices.tolist())


def _measure_again(run: Run, learned: Learned) -> Run:
    """A run with the distances that it would have if all runs had come in the order of their partitions."""
    own = {key: outcome for key, outcome in run.outcomes.items() if not _compares_runs(key)}
    outcomes = learned.extend_outcomes(run.schema, own, run.states)
    again = msgspec.structs.replace(run, outcomes=outcomes)
    account = msgspec.structs.replace(
        run.account or Account(),
        reference_attempts=learned.reference_attempts,
        rarity=learned.measure_rarity(outcomes, _judge_learned(again, learned)),
        rarities=learned.memory,
    )
    return msgspec.structs.replace(again, account=account)


def _compares_runs(key: MetricKey) -> bool:
    return key.name in _COMPARISONS or find_drift_metric(key) is not None


def _replay_batch(
    revision: Revision, run: Run, programs: Sequence[Learned], injected: Sequence[InjectedIssue]
) -> ReplayedBatch:
    failures_by_plan = [_failures(_judge_learned(run, each).judgements) for each in programs]
    pins = {each.expectation for each in programs[0].program.pins}
    recorded = (each for each in run.verdict.judgements if not _is_learned(each) and each.expectation not in pins)
    declared = [*_failures(recorded), *(each for each in failures_by_plan[0] if not _is_learned(each))]
    past, failures = programs[0].past, [*declared, *filter(_is_learned, failures_by_plan[0])]
    return ReplayedBatch(
        partition=revision.partition,
        number=revision.number,
        decision=revision.decision,
        early=past is None or len(past) < MIN_RUNS,
        alarms=tuple(any(map(_is_learned, each)) for each in failures_by_plan),
        costs=tuple(each.program.cost for each in programs),
        declared=bool(declared),
        by=tuple(dict.fromkeys(each.expectation.source.value for each in failures)),
        causes=_describe_causes(run, programs[0], failures) if failures else (),
        injected_issues=tuple(injected),
    )


def _is_learned(judgement: Judgement) -> bool:
    """Whether it judges what was learned, not what a person declared or pinned."""
    return judgement.expectation.source in LEARNED


def _judge_learned(run: Run, learned: Learned) -> Verdict:
    """The learned verdict. A metric that the run did not measure is skipped, so it holds nothing."""
    missing: dict[MetricKey, Outcome] = {
        each.metric: Undefined("it was not measured in this run")
        for each in learned.program.clauses
        if each.metric not in run.outcomes
    }
    return learned.judge({**missing, **run.outcomes}, run.schema)


def _describe_causes(run: Run, learned: Learned, failures: Sequence[Judgement]) -> tuple[str, ...]:
    """The titles of the causes that the gate would have named."""
    broken = [each.expectation.metric for each in failures]
    changes = changes_behind(learned, run.outcomes, run.states, broken)
    return tuple(each.title for each in find_causes(failures, changes.add_to(Account())))


def _failures(judgements: Iterable[Judgement]) -> list[Judgement]:
    """The judgements that a gate holds a batch for."""
    return [
        each
        for each in judgements
        if each.status is Status.ERROR or (each.status is Status.FAIL and each.expectation.level is Level.ERROR)
    ]
