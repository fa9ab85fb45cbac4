"""Moves the batches of one dataset as they were judged and as people decided, through its publisher.

Tested by `tests/attack/test_interrupted_gate.py` and `tests/gate/test_gate.py`.
"""

from __future__ import annotations

import msgspec

from headgate.gate.publish.publisher import Delivery, Publisher, publish_split
from headgate.values.account import Action
from headgate.values.errors import InputChanged, PublishError
from headgate.values.run import Decision, Revision, Run


class BatchMover:
    """The publisher of a dataset. Without one, nothing is staged and nothing is moved."""

    def __init__(self, dataset: str, publisher: Publisher | None) -> None:
        self.dataset = dataset
        self.publisher = publisher

    def find_staged(self, partition: str, source: str) -> tuple[str, int]:
        """What is staged for a partition, and the highest number of a revision that the publisher has; 0 if none.

        Without a publisher the caller's `source` is what the batch is read from.
        """
        if self.publisher is None:
            return source, 0
        return self.publisher.identify_staged(partition), self.publisher.find_last_number(self.dataset, partition)

    def require_staged(self, run: Run) -> None:
        """Refuse to record a batch if there is nothing to publish or hold."""
        if self.publisher is not None and not run.source:
            raise PublishError(
                f"nothing is staged for {self.dataset} {run.partition}, so it was not recorded.",
                hint="The job stages the batch before it is judged.",
            )

    def require_unchanged(self, partition: str, source: str) -> None:
        """Refuse to call a batch unreadable if it is not staged, or was moved or replaced while it was read."""
        if self.publisher is None:
            return
        if not source or self.publisher.identify_staged(partition) != source:
            raise InputChanged(
                f"{self.dataset} {partition} could not be read: it is not staged, or was moved while it was read.",
                hint="Another gate may have judged it. Stage it if it is not published, and judge it again.",
            )

    def require_movable(self, revision: Revision, decision: Decision) -> None:
        """Refuse a ruling that could not be carried out, before it is recorded."""
        if self.publisher is None or not revision.source:
            return
        delivery = Delivery.of(revision)
        if decision is Decision.DISCARDED and self.publisher.state(delivery) == "published":
            raise PublishError(f"{delivery} is published.", hint="Only a held batch can be discarded.")
        if decision not in (Decision.ACCEPTED, Decision.RELEASED):
            return
        if self.is_gone(revision):
            raise PublishError(f"the batch of {delivery} is no longer there.", hint="Stage it and judge it again.")
        if self.is_replaced(revision):
            raise PublishError(
                f"{delivery} is older than the revision that is published.",
                hint="Stage the batch again: it becomes a new revision.",
            )
        self.publisher.check_input(delivery)

    def is_replaced(self, revision: Revision) -> bool:
        """Whether readers have a newer revision."""
        if self.publisher is None:
            return False
        published = self.publisher.find_published(self.dataset, revision.partition)
        return published is not None and published.number > revision.number

    def is_gone(self, revision: Revision) -> bool:
        """Whether the input that was judged is neither staged nor held nor published."""
        if self.publisher is None or not revision.source:
            return False
        return self.publisher.state(Delivery.of(revision)) == "absent"

    def has_input(self, revision: Revision) -> bool:
        """Whether the publisher still has the very input that was judged."""
        if self.publisher is None or not revision.source or self.is_gone(revision):
            return False
        try:
            self.publisher.check_input(Delivery.of(revision))
        except PublishError:
            return False
        return True

    def move(self, revision: Revision, action: Action, decision: Decision | None, copy: str = "") -> str | None:
        """Publish or hold a batch. Says where it is; empty if there was nothing to hold.

        None if nothing was decided and the input that was judged is gone, or is another one by now.

        Args:
            revision: The committed run of the batch.
            action: What to do with it.
            decision: What is decided about it so far.
            copy: What is staged, if it has the same rows. It is set aside, unless it is the batch itself.
        """
        if self.publisher is None or not revision.source:  # nothing was staged when it was judged
            return ""
        delivery = Delivery.of(revision)
        try:
            location = self._move(self.publisher, delivery, action, is_decided=decision is not None)
        except InputChanged:
            if decision is not None:
                raise
            return None
        if copy not in ("", revision.source):
            self.publisher.set_copy_aside(msgspec.structs.replace(delivery, source=copy))
        return location

    def _move(self, publisher: Publisher, delivery: Delivery, action: Action, *, is_decided: bool) -> str | None:
        state = publisher.state(delivery)
        if not is_decided and state == "absent":
            return None
        if action is Action.PUBLISH:
            return publisher.release(delivery) if state == "held" else publisher.publish(delivery)
        # what is published stays so, though it is wrong: readers may rely on it
        return "" if state in ("absent", "published") else publisher.hold(delivery)

    def carry_out_ruling(self, revision: Revision, decision: Decision, source: str = "") -> None:
        """Do with a batch what a person decided. One that readers see stays where it is.

        `source` is what was staged as the two parts of a batch that is split.
        """
        if self.publisher is None or not revision.source:  # nothing was staged when it was judged
            return
        delivery = Delivery.of(revision)
        if decision is Decision.SPLIT:
            good, _, bad = source.partition(" ")
            publish_split(self.publisher, delivery, (good, bad))
            return
        state = self.publisher.state(delivery)
        if state not in ("staged", "held"):
            return
        if decision in (Decision.ACCEPTED, Decision.RELEASED):
            self.publisher.release(delivery) if state == "held" else self.publisher.publish(delivery)
            return
        self.publisher.hold(delivery)
        if decision is Decision.DISCARDED:
            self.publisher.discard(delivery)

    def find_parts(self, revision: Revision) -> str:
        """What is staged as the good and the bad rows of a batch that is to be split."""
        assert self.publisher is not None
        good, bad = (self.publisher.identify_staged(revision.partition, part) for part in ("good", "bad"))
        has_bad = self.publisher.state(Delivery.of(revision).only_part("bad")) != "absent"
        if not good or not bad or not has_bad:
            raise PublishError(
                f"the {'bad' if good else 'good'} rows of {self.dataset} {revision.partition} are not staged.",
                hint="Write both parts of verdict.split(df) to where the publisher expects them.",
            )
        return f"{good} {bad}"

    def has_split_rows(self, revision: Revision) -> bool:
        """Whether a part of a split batch still has to be published or held."""
        if self.publisher is None:
            return False
        good = self.publisher.state(Delivery.of(revision).only_part("good"))
        return good in ("staged", "held")

    def recover(self) -> None:
        """Finish moves that stopped halfway."""
        if self.publisher is not None:
            self.publisher.recover(self.dataset)
