"""One verdict per batch: what is done with it and why, for the pipeline, for the person at 3am, and as data."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

from headgate.diagnose.repair import repair_batch
from headgate.diagnose.repairable import describe_obstacles, describe_repair, list_repairable
from headgate.display.page import Page
from headgate.display.table import Table
from headgate.evaluate.judged_batch import JudgedBatch
from headgate.evaluate.row_rules import RowFinder, count_recorded_rows
from headgate.evaluate.verification import judgement_to_dict
from headgate.explain import verdict_page
from headgate.explain.cause import Cause
from headgate.explain.causes import find_causes
from headgate.explain.drift_wording import describe_drift
from headgate.explain.next_steps import Language
from headgate.explain.subject import RecentRuns
from headgate.explain.wording import format_segment
from headgate.gate.notification import Notification, NotificationCause
from headgate.gate.publish.publisher import Delivery
from headgate.metrics.states.frequencies import Frequencies
from headgate.values.account import Account, Action
from headgate.values.diagnosis import Diagnosis
from headgate.values.errors import BadMetricKey, MisuseError
from headgate.values.expectation import Judgement, Level, Status
from headgate.values.run import Decision, Revision, Run
from headgate.values.schema import Schema
from headgate.values.verdict import Verdict


class BatchVerdict(JudgedBatch):
    """What became of a batch. `action` is what the pipeline must do with it; `explain()` says why.

    Args:
        run: The run as the store gives it back.
        revision: What the store says of the run.
        decision: What was decided about the batch, by the gate or by a person.
        owner: Who is responsible for the dataset.
        recent: How the dataset did before this batch.
        rows: Finds the failing rows; None for a verdict that was read from the history.
        secret: The key of a store that hides values.
    """

    def __init__(
        self,
        run: Run,
        revision: Revision,
        *,
        decision: Decision | None = None,
        owner: str = "",
        recent: RecentRuns | None = None,
        rows: RowFinder | None = None,
        secret: bytes | None = None,
    ) -> None:
        self.run = run
        self.revision = revision
        self.account = run.account or Account()
        self.decision = decision
        self.owner = owner
        self.recent = recent or RecentRuns()
        self.location = ""  # where the publisher put the batch
        self.notified: Any = None  # what became of the notification
        self.read_error: Exception | None = None  # what was raised where the batch could not be read
        self._row_finder = rows
        self._secret = secret

    @property
    def dataset(self) -> str:
        return self.run.dataset

    @property
    def partition(self) -> str:
        return self.run.partition

    @property
    def delivery(self) -> Delivery:
        """What a publisher knows this batch by."""
        return Delivery.of(self.revision)

    @property
    def verdict(self) -> Verdict:
        return self.run.verdict

    @property
    def action(self) -> Action:
        """Publish or hold. What a person has decided about this very input stands."""
        match self.decision:
            case Decision.ACCEPTED | Decision.RELEASED:
                return Action.PUBLISH
            case Decision.REJECTED | Decision.DISCARDED | Decision.SPLIT:  # as a whole, a split batch stays held
                return Action.HOLD
            case Decision.WITHDRAWN:  # it is not there to be published
                return Action.HOLD
        return self.account.action

    @cached_property
    def causes(self) -> tuple[Cause, ...]:
        """What went wrong, grouped and ranked; all that one broken column breaks is one cause."""
        return find_causes(self.judgements, self.account)

    @cached_property
    def warnings(self) -> tuple[Cause, ...]:
        """What failed at level warn: it is reported, and holds nothing."""
        return find_causes(self.failures, self.account, level=Level.WARN)

    @property
    def learning(self) -> str:
        """How far learning is, in words; empty if there are ranges, or nothing is learned."""
        return verdict_page.describe_learning(self.account)

    @property
    def changes(self) -> tuple[str, ...]:
        """What is different from the newest accepted run, whether or not it matters."""
        return self.account.changes

    @property
    def hides_values(self) -> bool:
        """Whether values of the data, segments' names among them, are recorded as what stands for them."""
        states = self.run.states.values()
        return any(isinstance(each, Frequencies) and bool(each.hashed) for each in states)

    # --- rows

    @property
    def has_rows(self) -> bool:
        """Whether the batch was judged here, so that its rows can be found without judging it again."""
        return self._row_finder is not None

    @property
    def can_split(self) -> bool:
        """Whether every failure comes from single rows, so that the other rows could be published."""
        failed = any(each.expectation.level is Level.ERROR for each in self.failures)
        return failed and self.status is Status.FAIL and self._row_finder is not None and self._row_finder.explains_all

    @property
    def _finder(self) -> RowFinder:
        if self._row_finder is None:
            raise MisuseError(
                f"this verdict on {self.partition} was read from the history, which has no rows.",
                hint="Judge the batch again without fingerprint=, then the verdict has rows.",
            )
        return self._row_finder

    # --- repair

    @property
    def diagnoses(self) -> tuple[Diagnosis, ...]:
        """The faults that explain a cause."""
        return tuple(each.diagnosis for each in self.causes if each.diagnosis is not None)

    @property
    def repairs(self) -> tuple[str, ...]:
        """What `repair` does, in words; empty if no fault is named that can be undone."""
        return describe_repairs(self.diagnoses, self.run.schema, self.hides_values)

    def repair(self, data: Any) -> Any:
        """The batch with the faults undone that explain why it failed, as far as that is possible.

        A Spark DataFrame gives a lazy DataFrame, a pandas or polars frame one of its kind, other data a pyarrow Table.
        Nothing is moved or recorded: stage the result, and judge it.

        Args:
            data: The batch that was judged.
        """
        if not self.repairs:
            why = "; ".join(describe_obstacles(self.diagnoses, self.run.schema))
            raise MisuseError(
                f"{self.dataset} {self.partition} cannot be repaired here: {why or 'no known fault explains it'}.",
                hint="verdict.explain() says what failed. Repair the batch at its source, and judge it again.",
            )
        return repair_batch(data, self.diagnoses, self.run.schema, secret=self._secret)

    # --- for people

    @property
    def headline(self) -> str:
        """One sentence: dataset, batch, verdict, what was done."""
        return verdict_page.write_headline(self)

    def page(self, commands: Language = "python") -> Page:
        """The verdict as a person needs it; `commands="shell"` gives the next steps as shell commands."""
        return verdict_page.write_page(self, commands)

    def explain(self, commands: Language = "python") -> str:
        """The page as plain text: what was done, the causes, how rare, what changed, what to do."""
        return self.page(commands).text()

    def count_failing_rows(self, judgement: Judgement) -> str:
        """How many rows fail a judgement, in words; empty where that is not known."""
        counted = "" if self._row_finder is None else self._row_finder.count_failing_rows(judgement)
        try:
            return counted or count_recorded_rows(judgement, self.run.states)
        except BadMetricKey:  # a newer version wrote it, of a metric that takes more there
            return ""

    @property
    def drifts(self) -> tuple[str, ...]:
        """What has slowly moved far, in words."""
        return tuple(map(describe_drift, self.account.drifts))

    @property
    def commands(self) -> tuple[str, ...]:
        """What a person can do now, in Python, to copy."""
        return tuple(f"{each.whole}   # {each.note}" for each in verdict_page.python_steps(self))

    @property
    def shell_commands(self) -> tuple[str, ...]:
        """What a person can do now, in a shell, to copy."""
        return tuple(each.whole for each in verdict_page.shell_steps(self))

    def notification(self, at: float | None = None) -> Notification:
        """What an alert says of it."""
        kind = "error" if self.status is Status.ERROR else "held" if self.action is Action.HOLD else "failing"
        return Notification(
            dataset=self.dataset,
            partition=self.partition,
            revision=self.revision.number,
            kind=("drift" if self.drifts else "recovered") if self.passed else kind,  # type: ignore[arg-type]
            status=self.status,
            action=Decision.HELD if self.action is Action.HOLD else Decision.PUBLISHED,
            headline=self.headline,
            at=self.run.at if at is None else at,
            causes=tuple(
                NotificationCause(each.title, "; ".join(verdict_page.describe_details(self, each)), each.rarity)
                for each in self.causes
            ),
            owner=self.owner,
            commands=self.commands,
            changed=(*self.drifts, *self.changes),
            previous_status=self.recent.previous,
        )

    def table(self) -> Table:
        """All judgements: errors first, then failures, then the rest."""
        return verdict_page.tabulate_judgements(self.judgements)

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return {
            "dataset": self.dataset,
            "partition": self.partition,
            "revision": self.revision.number,
            "status": self.status.value,
            "action": self.action.value,
            "decision": None if self.decision is None else self.decision.value,
            "mode": self.account.mode.value,
            "headline": self.headline,
            "causes": [each.to_dict() for each in self.causes],
            "warnings": [each.to_dict() for each in self.warnings],
            "changes": list(self.changes),
            "drifts": list(self.drifts),
            "repaired": list(self.account.repaired),
            "budget": {
                "false_alarms": self.account.budget,
                "spent": self.account.spent,
                "working": self.account.working_budget or self.account.budget,
            },
            "learners": dict(self.account.learners),
            "learning": self.learning,
            "judgements": [
                {**judgement_to_dict(each), "false_alarm": each.expectation.false_alarm} for each in self.judgements
            ],
        }


def describe_repairs(diagnoses: Sequence[Diagnosis], schema: Schema, hidden: bool) -> tuple[str, ...]:
    """What undoing the faults that can be undone does, each with its segment."""
    found = []
    for each in list_repairable(diagnoses, schema):
        rows = f" where {format_segment(each.segment, hidden)}" if each.segment else ""
        found.append(f"{describe_repair(each)}{rows}")
    return tuple(found)
