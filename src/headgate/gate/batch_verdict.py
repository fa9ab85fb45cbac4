"""One verdict per batch: what is done with it and why, for the pipeline, for the person at 3am, and as data."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any

import msgspec

from headgate.gate.causes import SHOWN, Cause, Sort, causes_of, told
from headgate.gate.notice import Notice, NoticeCause
from headgate.gate.verification import Verification, record_of
from headgate.learn.history.program import rarity
from headgate.values.account import Account, Action, Mode
from headgate.values.errors import MisuseError
from headgate.values.expectation import Judgement, Level, Source, Status
from headgate.values.run import Decision, Revision, Run
from headgate.values.shown import shown
from headgate.values.table import Table
from headgate.values.verdict import Verdict

ALSO = 3  # broken expectations of a cause that are told beside the first
_DONE = {Action.PUBLISH: "published", Action.HOLD: "held"}


class Lately(msgspec.Struct, frozen=True):
    """How the dataset fared before this batch: of the last runs how many were held, and how the newest was judged."""

    runs: int = 0
    held: int = 0
    previous: Status | None = None


class BatchVerdict:
    """What became of a batch. `action` is what the pipeline must do with it; `explain()` says why."""

    def __init__(
        self,
        run: Run,
        revision: Revision,
        *,
        decision: Decision | None = None,
        owner: str = "",
        lately: Lately | None = None,
        verification: Verification | None = None,
    ) -> None:
        self.run = run
        self.revision = revision
        self.account = run.account or Account()
        self.decision = decision
        self.owner = owner
        self.lately = lately or Lately()
        self.where = ""  # what the publisher said of the batch's place
        self.told: Any = None  # what became of the notice
        self.trouble: Exception | None = None  # what was raised where the batch could not be read
        self._verification = verification

    @property
    def dataset(self) -> str:
        return self.run.dataset

    @property
    def partition(self) -> str:
        return self.run.partition

    @property
    def verdict(self) -> Verdict:
        return self.run.verdict

    @property
    def status(self) -> Status:
        """How it was judged: pass, fail, or error if something could not be evaluated, which is never a pass."""
        return self.verdict.status

    @property
    def passed(self) -> bool:
        return self.verdict.passed

    @property
    def action(self) -> Action:
        """Publish or hold. What a person has decided about this very input stands."""
        match self.decision:
            case Decision.ACCEPTED | Decision.RELEASED:
                return Action.PUBLISH
            case Decision.REJECTED | Decision.DISCARDED | Decision.SPLIT:  # as a whole, a split batch stays held
                return Action.HOLD
        return self.account.action

    @property
    def judgements(self) -> tuple[Judgement, ...]:
        return self.verdict.judgements

    @property
    def failures(self) -> tuple[Judgement, ...]:
        """What was not met, at any level."""
        return self.verdict.failures

    @cached_property
    def causes(self) -> tuple[Cause, ...]:
        """What went wrong, grouped and ranked; all that one broken column breaks is one cause."""
        return causes_of(self.judgements, self.account)

    @cached_property
    def warnings(self) -> tuple[Cause, ...]:
        """What failed at level warn: it is told, and holds nothing."""
        return causes_of(self.failures, self.account, level=Level.WARN)

    @property
    def changes(self) -> tuple[str, ...]:
        """What is different from the newest accepted run, whether or not it matters."""
        return self.account.changes

    # --- rows

    def rows(self, data: Any) -> Any:
        """The rows that break a failed expectation, with the list of reasons. `data` is the batch that was judged."""
        return self._rows.rows(data)

    def split(self, data: Any) -> tuple[Any, Any]:
        """The rows that break nothing, and those that do, with their reasons."""
        return self._rows.split(data)

    @property
    def splits(self) -> bool:
        """Whether single rows are to blame for all that failed, so that the others could be published."""
        failed = [each for each in self.failures if each.expectation.level is Level.ERROR]
        return bool(failed) and self.status is Status.FAIL and self._verification is not None and self._blamable()

    def _blamable(self) -> bool:
        assert self._verification is not None
        return all(blamed for _, blamed in self._verification.blame())

    @property
    def _rows(self) -> Verification:
        if self._verification is None:
            raise MisuseError(
                f"this verdict on {self.partition} was read from the history, which has no rows.",
                hint="Judge the batch again without fingerprint=, then the verdict has rows.",
            )
        return self._verification

    # --- for people

    @property
    def headline(self) -> str:
        """One sentence: dataset, batch, verdict, what was done."""
        name, done = f"{self.dataset} {self.partition}", _DONE[self.action]
        count = len(self.causes)
        if self.decision not in (None, Decision.PUBLISHED, Decision.HELD):
            return f"{name} was {self.decision.value} by a person."
        if self.status is Status.ERROR:
            return f"{name} could not be judged in full and was {done}."
        if count:
            wrong = "one thing is wrong" if count == 1 else f"{count} things are wrong"
            return f"{name} failed and was {done}: {wrong}."
        if self.status is Status.SKIP:
            return f"nothing could be judged of {name}, so it was {done}."
        return f"{name} passed and was {done}."

    def explain(self) -> str:
        """The verdict as a person needs it at 3am: what was done, the causes, how rare, what changed, what to do."""
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        yield self.headline
        for number, each in enumerate(self.causes[:SHOWN], 1):
            yield f"  {number}. {each.title}"
            yield from (f"     {line}" for line in self._details(each))
        if len(self.causes) > SHOWN:
            yield f"  ... and {len(self.causes) - SHOWN} more: verdict.causes"
        for each in self.warnings[:SHOWN]:
            yield f"  warning: {each.title}"
        if self.changes and self.causes:
            yield f"  What changed: {'; '.join(self.changes)}"
        yield f"  {self._spending()}"
        yield f"  Learned: {self._learned()}"
        if self.owner:
            yield f"  Owner: {self.owner}"
        if self.causes:
            yield from (f"  {'Then:' if at == 0 else '     '} {line}" for at, line in enumerate(self.commands))

    def _details(self, cause: Cause) -> Iterator[str]:
        lead = cause.lead
        found = [each for each in cause.found if each not in cause.title]
        if found:
            yield "; ".join(found)
        said = "; ".join(filter(None, [self._origin(lead), _how_rare(cause), self._blamed(lead)]))
        if said:
            yield said
        others = [told(each) for each in cause.judgements if told(each) not in cause.title]
        if others and cause.sort is not Sort.SHAPE:
            more = f" and {len(others) - ALSO} more" if len(others) > ALSO else ""
            yield f"broken: {'; '.join(others[:ALSO])}{more}"

    def _origin(self, judgement: Judgement) -> str:
        note = self.account.notes.get(str(judgement.expectation.metric), "")
        if not note or judgement.expectation.source is Source.DECLARED:
            return ""
        if note.startswith("in "):
            return f"it was so {note}"
        return f"learned from {note}" if note[0].isdigit() else f"it was {note}" if " in " in note else f"by its {note}"

    def _blamed(self, judgement: Judgement) -> str:
        return "" if self._verification is None else self._verification.blamed_rows(judgement)

    def _spending(self) -> str:
        account = self.account
        held = f"; {self.lately.held} of the last {self.lately.runs} runs were held" if self.lately.runs else ""
        mode = " It observes, and holds nothing." if account.mode is Mode.OBSERVE else ""
        spent = f"{account.spent:.2%} of them are spent" if account.spent else "nothing of that is spent yet"
        return f"Budget: {account.budget:.2%} of good batches may be held, {spent}{held}.{mode}"

    def _learned(self) -> str:
        told = "; ".join(f"{name}: {what}" for name, what in self.account.learners.items())
        return told or "nothing: only what was declared is judged"

    @property
    def commands(self) -> tuple[str, ...]:
        """What a person can do now, to copy."""
        if self.action is Action.PUBLISH and self.account.mode is Mode.GUARD:
            return ()
        name = repr(self.partition)
        return (
            f'gate.accept({name}, note="why it is right")   # expected: teaches, and is published',
            f'gate.release({name}, note="...")   # publish it as it is, learn nothing from it',
            f'gate.reject({name}, note="...")   # wrong: repair it and judge {name} again',
        )

    def notice(self, at: float | None = None) -> Notice:
        """What an alert says of it."""
        trouble = not self.passed
        kind = "error" if self.status is Status.ERROR else "held" if self.action is Action.HOLD else "failing"
        return Notice(
            dataset=self.dataset,
            partition=self.partition,
            revision=self.revision.number,
            kind=kind if trouble else "recovered",  # type: ignore[arg-type]
            status=self.status,
            action=Decision.HELD if self.action is Action.HOLD else Decision.PUBLISHED,
            headline=self.headline,
            at=self.run.at if at is None else at,
            causes=tuple(NoticeCause(each.title, "; ".join(self._details(each)), each.rarity) for each in self.causes),
            owner=self.owner,
            commands=self.commands,
            changed=self.changes,
            previous_status=self.lately.previous,
        )

    def table(self) -> Table:
        """All judgements: what failed first, then what could not be told, then the rest."""
        order = (Status.ERROR, Status.FAIL, Status.SKIP, Status.PASS)
        ranked = sorted(self.judgements, key=lambda each: order.index(each.status))
        rows = tuple(
            (
                each.status.value,
                each.expectation.source.value,
                each.expectation.subject,
                "" if each.value is None else shown(each.value),
                str(each.expectation.predicate),
                rarity(each.expectation.false_alarm),
            )
            for each in ranked
        )
        return Table(("status", "from", "metric", "value", "expected", "false alarm"), rows, numeric=frozenset({3}))

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
            "budget": {"false_alarms": self.account.budget, "spent": self.account.spent},
            "learners": dict(self.account.learners),
            "judgements": [
                {**record_of(each), "false_alarm": each.expectation.false_alarm} for each in self.judgements
            ],
        }

    def __repr__(self) -> str:
        return self.explain()

    def _repr_html_(self) -> str:
        return self.table().html(self.headline)


def _how_rare(cause: Cause) -> str:
    if cause.rarity in ("", "declared", "no accepted run did this"):
        return cause.rarity
    return f"a false alarm {cause.rarity}"
