"""The steps by which a batch of a table is published, held, released and discarded, whatever the format of the table.

Tested by `tests/gate/publish/test_publisher.py`.
"""

from __future__ import annotations

import abc
from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from headgate.gate.publish.publisher import BatchLocation, Delivery, Part
from headgate.gate.publish.table_refs import EMPTY, Ref, RefKind, Refs, hash_partition, name_ref, name_staged
from headgate.store.fault_points import fault_point
from headgate.values.errors import InputChanged, MisuseError, PublishError

_HOW_TO_STAGE = "The job calls stage(df, partition) before the batch is judged."


class PartitionMarks(NamedTuple):
    """What a table keeps about one partition: the refs of its batches, and the newest revision that was noted."""

    refs: Refs
    note: Delivery | None


class TablePublisher(abc.ABC):
    """Batches that are partitions of a table.

    A job stages a batch in the table, where readers do not see it; a ref keeps it. A ref is a name that is made once,
    for data that never change. Publishing makes a second ref, *taken*, shows the data in one commit of the table, notes
    the revision in the table, and removes the refs. Whoever is killed in between has left a ref that says how far it
    came. There is no lock: the commit of the table decides between two publishers.
    """

    table: str

    # --- what a format does

    @abc.abstractmethod
    def list_refs(self) -> list[Ref]:
        """All refs of the table, as they are now."""

    @abc.abstractmethod
    def add_ref(self, name: str, source: str) -> None:
        """Make a ref that keeps data; nothing if it is there."""

    @abc.abstractmethod
    def remove_refs(self, refs: Sequence[Ref]) -> None:
        """Take refs away, in this order or all at once; nothing for one that is gone."""

    @abc.abstractmethod
    def is_shown(self, source: str) -> bool:
        """Whether readers have, or had, this data, by what the table itself knows of its commits."""

    @abc.abstractmethod
    def show(self, delivery: Delivery, source: str) -> None:
        """Put data in the place of its partition, in one commit, if it was not done before."""

    @abc.abstractmethod
    def read_marks(self, partition: str) -> PartitionMarks:
        """What the table keeps about a partition, as it is now. The refs are read before the note."""

    @abc.abstractmethod
    def write_note(self, delivery: Delivery) -> None:
        """Note a revision as published. A newer one that is noted stays so."""

    @abc.abstractmethod
    def is_kept(self, delivery: Delivery) -> bool:
        """Whether the table still has the rows of a revision that was noted."""

    @abc.abstractmethod
    def name_partitions(self, refs: Sequence[Ref]) -> list[str]:
        """The names of the partitions that refs are of."""

    @abc.abstractmethod
    def describe(self, ref: Ref | None) -> str:
        """Where people find the data of a ref; without one, what is published."""

    # --- what a publisher does

    def identify_staged(self, partition: str, part: Part = "whole") -> str:
        staged = self.read_marks(partition).refs.find_staged(part)
        return "" if staged is None else staged.source

    def find_last_number(self, dataset: str, partition: str) -> int:
        marks = self.read_marks(partition)
        published = self._find_current(dataset, partition, marks)
        kept = [each.number for each in marks.refs.all if each.kind != "staged"]
        return max([0 if published is None else published.number, *kept])

    def find_published(self, dataset: str, partition: str) -> Delivery | None:
        return self._find_current(dataset, partition, self.read_marks(partition))

    def publish(self, delivery: Delivery) -> str:
        marks = self.read_marks(delivery.partition)
        if marks.refs.find("held", delivery) is not None and marks.refs.find("taken", delivery) is None:
            raise PublishError(f"{delivery} is held.", hint="Release it: release(delivery).")
        return self._publish_from(delivery, marks, marks.refs.find_staged(delivery.part), _HOW_TO_STAGE)

    def release(self, delivery: Delivery) -> str:
        marks = self.read_marks(delivery.partition)
        held = marks.refs.find("held", delivery)
        return self._publish_from(delivery, marks, held, "Only a held batch can be released.")

    def hold(self, delivery: Delivery) -> str:
        refs, current = self._look_at(delivery)
        if delivery.is_batch_of(current):
            raise PublishError(f"{delivery} is published already.", hint="Stage a repaired batch and judge it.")
        held, taken = refs.find("held", delivery), refs.find("taken", delivery)
        if held is None:
            _refuse_older(delivery, current)
            origin = self._require(delivery, taken or refs.find_staged(delivery.part), _HOW_TO_STAGE)
            held = self._keep("held", delivery, origin.source)
        else:
            self._require(delivery, held, "")
        self._let_go(*refs.list_staged(held.source), taken)
        return self.describe(held)

    def discard(self, delivery: Delivery) -> None:
        refs, current = self._look_at(delivery)
        if delivery.is_batch_of(current):
            raise PublishError(f"{delivery} is published.", hint="Only a held batch can be discarded.")
        hidden = [refs.find("taken", delivery), refs.find("held", delivery)]
        sources = {each.source for each in hidden if each is not None}
        self._let_go(*(each for source in sources for each in refs.list_staged(source)), *hidden)

    def set_copy_aside(self, delivery: Delivery) -> None:
        staged = self.read_marks(delivery.partition).refs.find_staged(delivery.part)
        if staged is not None and staged.source == delivery.source:
            self._let_go(staged)

    def restage(self, delivery: Delivery) -> None:
        refs = self.read_marks(delivery.partition).refs
        held = refs.find("held", delivery)
        if held is not None and refs.find_staged(delivery.part) is None:
            self._require(delivery, held, "")
            if not refs.list_staged(held.source):
                self._add(name_staged(delivery.partition, delivery.part, held.source), held.source)
            self._let_go(held)

    def check_input(self, delivery: Delivery) -> None:
        refs, current = self._look_at(delivery)
        kept = refs.find("held", delivery) or refs.find("taken", delivery)
        source = current.source if current is not None and delivery.is_batch_of(current) else ""
        _refuse_other_source(delivery, source if kept is None else kept.source)

    def state(self, delivery: Delivery) -> BatchLocation:
        return self._find_state(delivery)[0]

    def locate(self, delivery: Delivery) -> str:
        state, ref = self._find_state(delivery)
        return "" if state == "absent" else self.describe(ref)

    def recover(self, dataset: str) -> None:
        """Note what killed calls have shown, and remove the refs that they have left.

        Readers miss no batch after a kill. What was taken and not shown waits for the call to be made again.
        """
        refs = self.list_refs()
        kept = {each.source for each in refs if each.kind != "staged"}
        self._let_go(*(each for each in refs if each.kind == "staged" and each.source in kept))
        shown = [each for each in refs if each.kind == "taken" and self.is_shown(each.source)]
        for ref, partition in zip(shown, self.name_partitions(shown), strict=True):
            note = self.read_marks(partition).note
            if note is None or note.dataset == dataset:
                delivery = Delivery(dataset, partition, ref.number, ref.key, ref.part, ref.source)
                self._end_publishing(delivery, Refs.choose(refs, partition), ref)

    # --- steps

    def _look_at(self, delivery: Delivery) -> tuple[Refs, Delivery | None]:
        """The refs of the partition of a batch, and the newest revision that readers have."""
        marks = self.read_marks(delivery.partition)
        return marks.refs, self._find_current(delivery.dataset, delivery.partition, marks)

    def _publish_from(self, delivery: Delivery, marks: PartitionMarks, origin: Ref | None, hint: str) -> str:
        if delivery.part == "bad":
            raise MisuseError(
                f"{delivery}: they would take the place of the good rows.",
                hint="Stage the partition whole, repaired, and judge it again.",
            )
        refs, current = marks.refs, self._find_current(delivery.dataset, delivery.partition, marks)
        taken = refs.find("taken", delivery)
        if current is None or not delivery.is_batch_of(current):
            _refuse_older(delivery, current)
            if taken is None:
                origin = self._require(delivery, origin, hint)
                _refuse_empty(delivery, origin)
                taken = self._keep("taken", delivery, origin.source)
            else:
                self._require(delivery, taken, hint)
            fault_point("table.show")
            self._require_taken(delivery)
            self.show(delivery, taken.source)
            fault_point("table.shown")
        elif taken is None and not self.is_kept(current):
            raise PublishError(
                f"{delivery} was published, and somebody removed it from {self.table} since.",
                hint="Restore it from the history of the table.",
            )
        if taken is not None:
            self._end_publishing(delivery, refs, taken)
        return self.describe(None)

    def _end_publishing(self, delivery: Delivery, refs: Refs, taken: Ref) -> None:
        """Note a revision that readers have, and remove its refs."""
        fault_point("table.note")
        self.write_note(msgspec.structs.replace(delivery, source=taken.source))
        fault_point("table.noted")
        self._let_go(*refs.list_staged(taken.source), refs.find("held", delivery), taken)

    def _require_taken(self, delivery: Delivery) -> None:
        """Refuse to show what was held or discarded meanwhile, or is older than what was published meanwhile.

        What another call has published meanwhile, and whose refs it has removed, is not shown twice.
        """
        marks = self.read_marks(delivery.partition)
        taken = marks.refs.find("taken", delivery)
        # `show` itself finds out whether what is taken is shown already
        number = 0 if taken is None else delivery.number
        current = self._find_current(delivery.dataset, delivery.partition, marks, above=number)
        _refuse_older(delivery, current)
        if taken is None and not delivery.is_batch_of(current):
            raise PublishError(
                f"{delivery} was held or discarded by another call.", hint="Look where it is, then call again."
            )

    def _find_current(self, dataset: str, partition: str, marks: PartitionMarks, above: int = 0) -> Delivery | None:
        """The newest revision that readers have: the noted one, or one that a killed call has shown and not noted.

        Of those that were not noted, only revisions above a number are looked for.
        """
        current = marks.note
        if current is not None and (current.dataset, current.partition) != (dataset, partition):
            raise MisuseError(
                f"{self.table} has the batches of {current.dataset}, not of {dataset}.",
                hint="Give every dataset a table of its own.",
            )
        for ref in marks.refs.all:
            is_newer = current is None or ref.number > current.number
            if ref.kind == "taken" and is_newer and ref.number > above and self.is_shown(ref.source):
                current = Delivery(dataset, partition, ref.number, ref.key, ref.part, ref.source)
        return current

    def _find_state(self, delivery: Delivery) -> tuple[BatchLocation, Ref | None]:
        refs, current = self._look_at(delivery)
        if delivery.is_batch_of(current):
            return "published", None
        if (held := refs.find("held", delivery)) is not None:
            return "held", held
        if current is not None and current.number > delivery.number:
            return "absent", None
        if (taken := refs.find("taken", delivery)) is not None:
            return "held", taken
        staged = refs.find_staged(delivery.part)
        if staged is not None and delivery.source in ("", staged.source):
            return "staged", staged
        return "absent", None

    def _require(self, delivery: Delivery, ref: Ref | None, hint: str) -> Ref:
        if ref is None:
            raise PublishError(f"there is no batch of {delivery} in {self.table}.", hint)
        _refuse_other_source(delivery, ref.source)
        return ref

    def _keep(self, kind: RefKind, delivery: Delivery, source: str) -> Ref:
        """Make the ref of a revision."""
        name = name_ref(kind, delivery, source)
        self._add(name, source)
        return Ref(kind, hash_partition(delivery.partition), delivery.number, delivery.key, delivery.part, name, source)

    def _add(self, name: str, source: str) -> None:
        fault_point("table.add_ref")
        self.add_ref(name, source)
        fault_point("table.ref_added")

    def _let_go(self, *refs: Ref | None) -> None:
        found = [each for each in refs if each is not None]
        if found:
            fault_point("table.remove_ref")
            self.remove_refs(found)
            fault_point("table.ref_removed")


def _refuse_older(delivery: Delivery, current: Delivery | None) -> None:
    if current is not None and current.number > delivery.number:
        raise PublishError(
            f"{delivery} is older than revision {current.number}, which is published.",
            hint="Stage the batch again: it becomes a new revision.",
        )


def _refuse_empty(delivery: Delivery, ref: Ref) -> None:
    if ref.source.endswith(EMPTY):
        raise PublishError(
            f"{delivery} has no rows, so there is nothing to put in the place of the partition.",
            hint="Discard it. To empty the partition, delete its rows from the table.",
        )


def _refuse_other_source(delivery: Delivery, source: str) -> None:
    if delivery.source and source and source != delivery.source:
        raise InputChanged(
            f"{source} is another input than the one that was judged as {delivery}.",
            hint="Stage what is there now, and judge it: it is a new revision.",
        )
