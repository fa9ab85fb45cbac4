"""The history of a dataset once more, batch by batch: what the gate would have made of each, from states alone."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from typing import Any

import msgspec
import numpy as np

from headgate.explain.causes import find_causes
from headgate.explain.column_changes import changes_behind
from headgate.gate.backtest.injected_issues import InjectedIssue, inject_into
from headgate.gate.settings import Settings
from headgate.learn.history.forecast import MIN_RUNS
from headgate.learn.learned import IssueEffectCache, Learned, Learner, ProposalPool, nothing_learned
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
WRONG = frozenset({Decision.HELD, Decision.REJECTED, Decision.DISCARDED})


class KnownQuality(StrEnum):
    """What is held of a recorded batch today: good if it teaches, bad if it was stopped, open if nobody has said."""

    GOOD = "good"
    BAD = "bad"
    OPEN = "open"

    @classmethod
    def of(cls, decision: Decision | None) -> KnownQuality:
        """A batch that was released was published and teaches nothing: nobody has said that it was right.

        >>> KnownQuality.of(Decision.ACCEPTED), KnownQuality.of(Decision.RELEASED)
        (<KnownQuality.GOOD: 'good'>, <KnownQuality.OPEN: 'open'>)
        """
        if decision in TRUSTED:
            return cls.GOOD
        return cls.BAD if decision in WRONG else cls.OPEN


class BudgetPlan(msgspec.Struct, frozen=True):
    """A budget and who may spend it."""

    budget: float
    learners: tuple[Learner, ...]


class ReplayedBatch(msgspec.Struct, frozen=True):
    """What would have become of one recorded batch.

    `alarms` and `costs` have a place for each plan: whether what was learned would have held the batch, and the stated
    rate of false alarms of what it was held against. `declared` is whether a check that a person wrote failed when it
    was recorded. `by` and `causes` tell, for the first plan, whose expectations it breaks and what is wrong. `early` is
    a batch with too few accepted runs before it for ranges. `strikes` are the issues that were injected into it.
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
    """How one plan fared: good batches that it held, bad ones that it held, injected issues that it caught.

    `cost` is the mean of what its programs stated as their share of false alarms.
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
        """Of the plan at this place, over batches that were not too early."""
        good = [each.alarms[at] for each in judged if each.quality is KnownQuality.GOOD]
        bad = [each.alarms[at] for each in judged if each.quality is KnownQuality.BAD]
        struck = [strike.caught[at] for each in judged for strike in each.injected_issues]
        cost = sum(each.costs[at] for each in judged) / max(1, len(judged))
        return cls(plan, sum(good), len(good), sum(bad), len(bad), sum(struck), len(struck), cost)

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
    """Every partition in its order, as its newest revision, judged by the trusted runs before it and by nothing else.

    What counts is what is decided about the runs today, and their order is that of the partitions: a batch that came
    late is judged as if it had come in time. Into about `spots` of the good ones, evenly spread, issues are injected.
    """
    head = store.head(dataset)
    newest = store.last(dataset, head, as_of=head)
    teachers = {each.partition: each for each in store.last(dataset, head, as_of=head, only=TRUSTED)}
    chosen = _choose_spots(newest, teachers, settings.runs, spots)
    accepted: deque[Run] = deque(maxlen=settings.runs)
    training, dearest = IssueEffectCache(), max(plan.budget for plan in plans)
    lessons: list[Learned] = [nothing_learned(plan.learners) for plan in plans]
    for revision in newest:
        run = _measure_again(store.run(revision), lessons[0])
        struck = inject_into(run, lessons, store.secret) if revision.partition in chosen else ()
        yield _replay_batch(revision, run, lessons, struck)
        if (teacher := teachers.get(revision.partition)) is not None:
            same = teacher.number == revision.number
            accepted.append(run if same else _measure_again(store.run(teacher), lessons[0]))
            known = ProposalPool.of(tuple(accepted), store.secret, settings.learners, training, max_cost=dearest)
            lessons = [known.spend_budget(plan.budget, plan.learners) for plan in plans]


def _choose_spots(
    newest: Sequence[Revision], teachers: Mapping[str, Revision], runs: int, spots: int
) -> frozenset[str]:
    """Good batches, evenly over those that are not too early."""
    if runs < MIN_RUNS:
        return frozenset()
    before, found = 0, []
    for each in newest:
        if KnownQuality.of(each.decision) is KnownQuality.GOOD and before >= MIN_RUNS:
            found.append(each.partition)
        before += each.partition in teachers
    places = np.linspace(0, len(found) - 1, min(spots, len(found))).round().astype(int)
    return frozenset(found[place] for place in places.tolist())


def _measure_again(run: Run, lesson: Learned) -> Run:
    """A run with the distances that it would have been recorded with, had all runs come in the order of partitions."""
    own = {key: outcome for key, outcome in run.outcomes.items() if key.name not in distances() and key != NOVELTY}
    account = msgspec.structs.replace(run.account or Account(), after=lesson.reference_attempts)
    return msgspec.structs.replace(run, outcomes=lesson.extend_outcomes(run.schema, own, run.states), account=account)


def _replay_batch(
    revision: Revision, run: Run, lessons: Sequence[Learned], struck: Sequence[InjectedIssue]
) -> ReplayedBatch:
    verdicts = [_judge_learned(run, each) for each in lessons]
    learned = _failures(verdicts[0].judgements)
    declared = _failures(each for each in run.verdict.judgements if each.expectation.source not in LEARNED)
    past, wrong = lessons[0].past, [*declared, *learned]
    return ReplayedBatch(
        partition=revision.partition,
        number=revision.number,
        decision=revision.decision,
        early=past is None or len(past) < MIN_RUNS,
        alarms=tuple(bool(_failures(each.judgements)) for each in verdicts),
        costs=tuple(each.program.cost for each in lessons),
        declared=bool(declared),
        by=tuple(dict.fromkeys(each.expectation.source.value for each in wrong)),
        causes=_describe_causes(run, lessons[0], wrong) if wrong else (),
        injected_issues=tuple(struck),
    )


def _judge_learned(run: Run, lesson: Learned) -> Verdict:
    """The learned verdict. What the run was not measured for cannot be told today, and so holds nothing."""
    missing: dict[MetricKey, Outcome] = {
        each.metric: Undefined("it was not measured in this run")
        for each in lesson.program.clauses
        if each.metric not in run.outcomes
    }
    return lesson.program.verdict({**missing, **run.outcomes}, run.schema)


def _describe_causes(run: Run, lesson: Learned, wrong: Sequence[Judgement]) -> tuple[str, ...]:
    """What is wrong, in the words of the verdict that the gate would have given."""
    found = changes_behind(lesson, run.outcomes, [each.expectation.metric for each in wrong])
    account = Account(found=dict(found.sentences), short=found.fewer_rows, blamed=found.blamed)
    return tuple(each.title for each in find_causes(wrong, account))


def _failures(judgements: Iterable[Judgement]) -> list[Judgement]:
    """What a gate holds a batch for."""
    return [
        each
        for each in judgements
        if each.status is Status.ERROR or (each.status is Status.FAIL and each.expectation.level is Level.ERROR)
    ]
