"""Decisions of people about judged batches: recorded, then carried out, also if that was interrupted.

Tested by `tests/gate/test_feedback.py`, `tests/attack/test_rulings.py` and `tests/attack/test_interrupted_gate.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from headgate.checks.check import Check
from headgate.gate.good_rows import require_good_rows
from headgate.gate.history import DatasetHistory
from headgate.gate.publish.batch_mover import BatchMover
from headgate.store.fault_points import fault_point
from headgate.values.errors import HeadgateError, InputChanged, MisuseError, PublishError, RangeStopped
from headgate.values.login import find_login_name
from headgate.values.run import BY_GATE, GATE, Decision, Revision, Ruling


class PersonRulings:
    """Records what people decide about the batches of one dataset, and moves the batches accordingly."""

    def __init__(self, history: DatasetHistory, mover: BatchMover, checks: Sequence[Check]) -> None:
        self._history = history
        self._mover = mover
        self._checks = checks

    def rule(
        self, decision: Decision, partition: str, to: str | None, note: str, who: str, number: int | None
    ) -> tuple[Ruling, ...]:
        """Record what a person decided about a batch, or about every held batch of a range, then carry it out.

        It is recorded first: what is published is always written down. Nothing is decided unless it is possible for all
        of them. If one fails after all, those before it stand.

        Args:
            decision: What was decided.
            partition: Which batch; or the first partition of a range.
            to: The last partition of the range; None for one batch.
            note: Why.
            who: Who says so; the name that the person is logged in with if it is empty.
            number: Which revision of the partition; None if there is one.
        """
        revisions = self.find_batches(decision, partition, to, number)
        rulings: list[Ruling] = []
        for revision in revisions:
            try:
                rulings.append(self._rule(revision, decision, note, who))
            except HeadgateError as error:
                if not rulings:
                    raise
                raise _stop_range(revisions, len(rulings), decision, error) from error
        return tuple(rulings)

    def find_batches(self, decision: Decision, partition: str, to: str | None, number: int | None) -> list[Revision]:
        """The batches that a person means. Raises unless the decision is possible for all of them.

        The arguments are those of `rule`.
        """
        revisions = self._find_named(partition, to, number)
        for revision in revisions:
            self._require_possible(revision, decision)
        return revisions

    def _find_named(self, partition: str, to: str | None, number: int | None) -> list[Revision]:
        if to is None:
            return [self._history.find_for_ruling(partition, number)]
        if number is not None:
            raise MisuseError(
                "a revision is of one batch, not of a range.", hint="Name the batch alone, or leave the revision out."
            )
        return self._history.find_held_range(partition, to)

    def _require_possible(self, revision: Revision, decision: Decision) -> None:
        if decision is Decision.ACCEPTED and not self._history.read(revision).schema.columns:
            raise MisuseError(
                f"{revision.partition} was never read, so there is nothing to learn from it.",
                hint="Judge it again, or publish it as it is with gate.release.",
            )
        self._mover.require_movable(revision, decision)

    def _rule(self, revision: Revision, decision: Decision, note: str, who: str, source: str = "") -> Ruling:
        """Record a decision, then carry it out. `source` is what was staged as the parts of a batch that is split."""
        ruling = self._history.decide(revision, decision, note, who or find_login_name(), source)
        fault_point("gate.ruled")
        self._mover.carry_out_ruling(revision, decision, source)
        return ruling

    def split(self, partition: str, good: Any, note: str, who: str, number: int | None) -> Ruling:
        """Record that the good rows of a batch are published and the bad ones stay held, then carry it out."""
        if self._mover.publisher is None:
            raise MisuseError("there is no publisher that could move rows.", hint="Pass publisher=hg.Folders(...).")
        revision = self._history.find_for_ruling(partition, number)
        source = self._mover.find_parts(revision)
        require_good_rows(good, self._history.read(revision), self._checks, self._history.store)
        return self._rule(revision, Decision.SPLIT, note, who, source)

    def finish(self) -> None:
        """Carry out what was recorded and not carried out.

        What cannot be moved does not keep the others from it; the first error is raised in the end.
        """
        if self._mover.publisher is None:
            return
        errors: list[PublishError] = []
        for revision in self._history.store.revisions(self._history.dataset):
            if revision.decision is None or revision.decision in BY_GATE:
                continue
            try:
                self._finish_one(revision, revision.decision)
            except PublishError as error:
                errors.append(error)
        if errors:
            raise errors[0]

    def _finish_one(self, revision: Revision, decision: Decision) -> None:
        if decision in (Decision.ACCEPTED, Decision.RELEASED) and self._mover.is_replaced(revision):
            return
        try:
            if decision is Decision.SPLIT:
                self._finish_split(revision)
            else:
                self._mover.carry_out_ruling(revision, decision)
        except InputChanged as error:  # the files were changed since, so the batch stays held
            self._history.decide(revision, Decision.HELD, f"{decision} could not be carried out: {error}", GATE)

    def _finish_split(self, revision: Revision) -> None:
        if self._mover.has_split_rows(revision):
            rulings = self._history.store.rulings(self._history.dataset, revision.partition)
            newest = next(each for each in reversed(rulings) if each.number == revision.number)
            self._mover.carry_out_ruling(revision, Decision.SPLIT, newest.source)


def _stop_range(revisions: Sequence[Revision], done: int, decision: Decision, error: HeadgateError) -> RangeStopped:
    """The error of the ruling after the first `done`, with what became of the others."""
    names = [each.partition for each in revisions]
    held = f" Still held: {', '.join(names[done + 1 :])}." if names[done + 1 :] else ""
    reason = str(error).removesuffix(error.hint).strip()
    return RangeStopped(
        f"{names[done]} stopped it: {reason} Already {decision}: {', '.join(names[:done])}.{held}",
        hint=f"{error.hint} Then recover, which carries out what is decided, and decide about the others.".strip(),
    )
