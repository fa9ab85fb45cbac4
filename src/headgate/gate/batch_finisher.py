"""Finishes judged batches: publishes or holds them, notifies, and records the decision, also if that was interrupted.

Tested by `tests/gate/test_gate.py` and `tests/attack/test_interrupted_gate.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from headgate.evaluate.row_rules import RowFinder
from headgate.gate.batch_verdict import BatchVerdict
from headgate.gate.history import DatasetHistory
from headgate.gate.notification import Notification
from headgate.gate.publish.batch_mover import BatchMover
from headgate.store.fault_points import fault_point
from headgate.values.account import Action
from headgate.values.errors import PublishError
from headgate.values.outcome import Failed
from headgate.values.run import BY_GATE, GATE, Decision, Revision, Run


class BatchFinisher:
    """Does with the batches of one dataset what their committed runs say, and records that."""

    def __init__(
        self, history: DatasetHistory, mover: BatchMover, notify: Callable[[Notification], Any] | None
    ) -> None:
        self.notify = notify
        self._history = history
        self._mover = mover

    def finish_earlier(self, partition: str) -> dict[int, BatchVerdict]:
        """Finish what an interrupted gate has left. Gives the verdicts by sequence.

        What cannot be moved now waits, unless it is of this partition. So does a batch whose input is gone: whoever
        judges that partition again, or calls `recover`, withdraws it.
        """
        finished = {}
        for revision in self._history.store.find_undecided(self._history.dataset):
            try:
                if not self._mover.is_gone(revision):
                    adopted = revision.partition != partition
                    finished[revision.sequence] = self.finish(revision, adopted=adopted)
            except PublishError:
                if revision.partition == partition:
                    raise
        return finished

    def finish(
        self,
        revision: Revision,
        row_finder: RowFinder | None = None,
        *,
        read_error: Exception | None = None,
        copy: str = "",
        is_new: bool = False,
        adopted: bool = False,
    ) -> BatchVerdict:
        """Publish or hold a batch as its committed run says, notify, then record the decision.

        The run is read back first, so that only what is in the store counts. The decision comes last: until it is
        recorded, the batch waits, and whoever comes next does all of this again. So a notification may be sent twice,
        but is not lost.

        Args:
            revision: The committed run of the batch.
            row_finder: Finds the failing rows, if the batch was just scanned.
            read_error: Why the batch could not be read, if it could not.
            copy: What is staged, if it has the same rows.
            is_new: Whether this gate has just committed the run.
            adopted: Whether another gate may be working on the batch. Then it is told of after its decision: else all
                gates that work on a dataset at once would tell of it.
        """
        fault_point("gate.committed")
        run = self._history.read_again(revision)
        earlier = self._history.current_decision(revision)
        verdict = self.make_verdict(run, revision, earlier, row_finder)
        verdict.read_error = read_error
        location = self._mover.move(revision, verdict.action, verdict.decision, copy)
        decision = Decision.WITHDRAWN if location is None else _choose_decision(verdict)
        verdict.location = location or ""
        fault_point("gate.delivered")
        decided = self._history.current_decision(revision)  # somebody may have decided while it was moved
        # another gate may have finished the batch, and told of it
        was_told = (is_new or earlier is None) and decided is not None and decided in BY_GATE
        verdict.decision = decision if decided is None else decided
        if not was_told and not adopted:
            self._send_notification(verdict)
        fault_point("gate.notified")
        # a person who was told may have decided, too; what they say stands
        verdict.decision = self._history.decide_first(revision, decision, verdict.headline, GATE).decision
        if not was_told and adopted:
            self._send_notification(verdict)
        return verdict

    def make_verdict(
        self, run: Run, revision: Revision, decision: Decision | None, rows: RowFinder | None = None
    ) -> BatchVerdict:
        """The verdict on a recorded run, beside the runs before it."""
        recent, owner = self._history.recent_runs(revision), self._history.settings.owner
        secret = self._history.store.secret
        return BatchVerdict(run, revision, decision=decision, owner=owner, recent=recent, rows=rows, secret=secret)

    def _send_notification(self, verdict: BatchVerdict) -> None:
        """A notification that cannot be delivered changes no decision: the verdict keeps what went wrong."""
        if self.notify is None:
            return
        try:
            verdict.notified = self.notify(verdict.notification())
        except Exception as error:
            verdict.notified = Failed(f"{type(error).__name__}: {error}")


def _choose_decision(verdict: BatchVerdict) -> Decision:
    if verdict.action is Action.HOLD:
        return Decision.HELD
    return Decision.PUBLISHED if verdict.passed else Decision.OBSERVED
