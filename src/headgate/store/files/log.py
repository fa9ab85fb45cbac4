"""The log of one dataset: one immutable object for each commit, numbered without holes, and what was read of it."""

from __future__ import annotations

import contextlib
import itertools
import random
import time
from collections.abc import Callable, Iterator
from threading import RLock

import msgspec

from headgate.store.fault_points import fault_point
from headgate.store.files import entry as entries
from headgate.store.files import places
from headgate.store.files.blobs import Blobs
from headgate.store.files.entry import Body, Entry, KeyLayout, LogEntry
from headgate.store.ledger import Ledger
from headgate.values.codec import Head, seal
from headgate.values.errors import CorruptBytes, StoredDataError, StoreUnavailable, UnknownRun
from headgate.values.run import Revision, Ruling

CHECKPOINT = "checkpoint"
FIRST_READ = 4_096  # bytes: the first envelope of nearly every entry is shorter
CHECKPOINT_AFTER = 64  # entries since the last one, and more in a longer log


class _Checkpoint(msgspec.Struct, frozen=True):
    """The first envelopes of all entries up to one of them. Derived: where it is missing, the log is read instead."""

    sequence: int
    entries: list[tuple[Entry, int]]


class Log:
    """Reads what others append, appends what does not collide. Who may touch the ledger holds the lock."""

    def __init__(self, blobs: Blobs, dataset: str) -> None:
        self.lock = RLock()
        self.ledger = Ledger(dataset)
        self.folder = places.dataset_folder(dataset)
        self._blobs = blobs
        self._dataset = dataset
        self._log_entries: list[LogEntry] = []
        self._layouts: dict[str, KeyLayout] = {}
        self._read = False
        self._checkpointed = 0
        self._lag = 1

    def refresh(self) -> None:
        """Take in all commits that were not known yet."""
        if not self._read and not self.ledger.head:
            self._load_checkpoint()
        for placed in self._following():
            self._take(placed)
        self._read = True

    def append(
        self, propose: Callable[[], Revision | Ruling], body: Body | None = None, *, fresh: bool = False
    ) -> Revision | Ruling:
        """Commit what `propose` says given the ledger; again as long as somebody else was faster.

        The put of the object under the next free number is the commit. A number that is taken is read and the next one
        tried, so each loss is another's success; only when nobody gets anywhere does the time run that is waited.
        """
        if fresh or not self._read:
            self.refresh()
        rivals = _Rivals(self._blobs.patience)
        while True:
            commit = propose()
            if commit.sequence <= self.ledger.head:
                self._blobs.settle(places.entry_path(self.folder, commit.sequence))
                return commit
            if self._put(commit, body, rivals):
                return commit

    def find_entry(self, revision: Revision) -> LogEntry:
        """The entry of a revision."""
        with self.lock:
            if revision.sequence > self.ledger.head:
                self.refresh()
            if 1 <= revision.sequence <= self.ledger.head:
                found = self._log_entries[revision.sequence - 1]
                if found.entry.revision is not None and found.entry.revision.attempt == revision.attempt:
                    return found
        raise UnknownRun(revision.dataset, revision.partition, revision.number)

    def keep(self, layout: KeyLayout) -> None:
        """Make sure that a layout is there before an entry names it."""
        if layout.digest not in self._layouts:
            fault_point(f"{self._blobs.kind}.layout")
            path = places.layout_path(self.folder, layout.digest)
            if not self._blobs.put(path, layout.to_bytes()):
                self._blobs.settle(path)
            self._layouts[layout.digest] = layout

    def layout(self, digest: str) -> KeyLayout:
        found = self._layouts.get(digest)
        if found is None:
            path = places.layout_path(self.folder, digest)
            with entries.add_path_to_errors(path):
                found = KeyLayout.from_bytes(self._blobs.read(path) or b"", digest)
            self._layouts[digest] = found
        return found

    def _put(self, commit: Revision | Ruling, body: Body | None, rivals: _Rivals) -> bool:
        """Whether the commit is in the log now: by this put, or by one whose answer was lost."""
        head, path = self.ledger.head, places.entry_path(self.folder, commit.sequence)
        data, placed = entries.pack_entry(commit, body)
        begun = time.monotonic()
        if self._blobs.put(path, data):
            self._take(placed)
            self._checkpoint_if_due()
            return True
        rivals.give_way(time.monotonic() - begun)
        self.refresh()
        if self.ledger.head > head:
            rivals.note_progress()
        elif rivals.stuck:
            raise StoreUnavailable(f"{path} can be neither written nor read.", hint="Try again later.")
        return self.ledger.head > head and self._log_entries[commit.sequence - 1].entry.commit == commit

    def _take(self, placed: LogEntry) -> None:
        self.ledger.add(placed.entry.commit)
        self._log_entries.append(placed)

    def _following(self) -> Iterator[LogEntry]:
        """Entries after those that are known: at first all that are listed, later one and then ever more at once."""
        if not self._read:
            yield from self._read_listed()
        start, known = self.ledger.head + 1, self.ledger.head
        for count in itertools.chain([1, self._lag], (2**power for power in range(2, 9)), itertools.repeat(256)):
            for found in self._blobs.each(self._entry, range(start, start + count)):
                if found is None:
                    self._lag = max(1, (self._lag + self.ledger.head - known) // 2)
                    return
                yield found
            start += count

    def _read_listed(self) -> Iterator[LogEntry]:
        head = self.ledger.head
        listed = places.parse_sequences(self._blobs.names(places.log_folder(self.folder), head))
        for sequence, found in enumerate(self._blobs.each(self._entry, range(head + 1, max(listed, default=head) + 1))):
            if found is None:
                path = places.entry_path(self.folder, head + 1 + sequence)
                raise CorruptBytes(f"{path} is missing, though later commits are there.")
            yield found

    def _entry(self, sequence: int) -> LogEntry | None:
        path = places.entry_path(self.folder, sequence)
        data = self._blobs.read(path, 0, FIRST_READ)
        if data is None:
            return None
        with entries.add_path_to_errors(path):
            length = entries.front_length(data)
            if length > len(data):
                data = self._blobs.read(path, 0, length) or b""
            return entries.unpack_entry(data, self._dataset, sequence)

    def _load_checkpoint(self) -> None:
        for sequence in reversed(places.parse_sequences(self._blobs.names(places.checkpoints_folder(self.folder), 0))):
            with contextlib.suppress(StoredDataError):
                for placed in self._checkpoint(sequence):
                    self._take(placed)
                self._checkpointed = sequence
                return

    def _checkpoint(self, sequence: int) -> list[LogEntry]:
        data = self._blobs.read(places.checkpoint_path(self.folder, sequence)) or b""
        body = entries.body_of(data, CHECKPOINT, entries.place_key(self._dataset, sequence))
        held = [LogEntry(*each) for each in entries.decode_body(body, _Checkpoint).entries]
        if [each.entry.commit.sequence for each in held] != list(range(1, sequence + 1)):
            raise CorruptBytes("the checkpoint has holes.")
        return held

    def _checkpoint_if_due(self) -> None:
        """A checkpoint now and then, so that a long log opens fast. Nothing depends on it, so trouble is no trouble."""
        head = self.ledger.head
        if head - self._checkpointed <= max(CHECKPOINT_AFTER, min(head // 10, 1_000)):
            return
        self._checkpointed = head
        body = msgspec.msgpack.encode(_Checkpoint(head, [(each.entry, each.front) for each in self._log_entries]))
        with contextlib.suppress(StoreUnavailable):
            fault_point(f"{self._blobs.kind}.checkpoint")
            self._blobs.put(
                places.checkpoint_path(self.folder, head),
                seal(body, Head(CHECKPOINT, entries.place_key(self._dataset, head))),
            )


class _Rivals:
    """Other writers of the same log. Who loses waits by chance, in terms of what a put takes, so that they fall apart:
    without that, eight of them get half as much done."""

    def __init__(self, patience: float) -> None:
        self._patience = patience
        self._since = time.monotonic()
        self._losses = 0

    def give_way(self, took: float) -> None:
        self._losses += 1
        time.sleep(random.uniform(0, max(took, 0.001) * min(2**self._losses, 32)))

    def note_progress(self) -> None:
        """Somebody got somewhere."""
        self._since = time.monotonic()

    @property
    def stuck(self) -> bool:
        return time.monotonic() - self._since > self._patience
