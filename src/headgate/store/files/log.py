"""The log of one dataset: one immutable object for each commit, numbered without gaps, and a copy in memory."""

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
from headgate.store.files.blobs import Blobs, ByteSpan
from headgate.store.files.entry import Body, Entry, KeyLayout, LogEntry
from headgate.store.ledger import Commit, Ledger
from headgate.values.codec import Head, pack, seal
from headgate.values.errors import CorruptBytes, StoredDataError, StoreUnavailable, UnknownRun
from headgate.values.run import Revision

CHECKPOINT = "checkpoint"
FIRST_READ = 4_096  # bytes: the first envelope of nearly every entry is shorter
CHECKPOINT_AFTER = 64  # entries since the last checkpoint; more in a longer log
READ_AGAIN = 2  # known entries that every refresh reads again: the last one may be ours, in a log that is not


class LostHistory(StoreUnavailable):
    """A history was deleted or replaced while a store had it open."""


class _Checkpoint(msgspec.Struct, frozen=True):
    """The first envelopes of all entries up to `sequence`. It is derived: if it is missing, the log is read instead."""

    sequence: int
    entries: list[tuple[Entry, int]]


class Log:
    """Reads the entries of all writers, and appends new ones. Callers must hold `lock` while they use the ledger."""

    def __init__(self, blobs: Blobs, dataset: str, require_store: Callable[[], None]) -> None:
        self.lock = RLock()
        self.ledger = Ledger(dataset)
        self.folder = places.dataset_folder(dataset)
        self._blobs = blobs
        self._dataset = dataset
        self._require_store = require_store
        self._log_entries: list[LogEntry] = []
        self._layouts: dict[str, KeyLayout] = {}
        self._read = False
        self._checkpointed = 0
        self._lag = 1

    def refresh(self) -> None:
        """Read all commits that are not yet in the ledger, and the last known ones again: they must still be there."""
        if not self.ledger.head:
            self._require_store()
        if not self._read and not self.ledger.head:
            self._load_checkpoint()
        for log_entry in self._read_following():
            self._add(log_entry)
        self._read = True

    def append(self, propose: Callable[[], Commit], body: Body | None = None) -> Commit:
        """Commit what `propose` makes of the current ledger, and retry while other writers are faster.

        Putting the object under the next free number is the commit. If the number is taken, its entry is read and the
        next number is tried, so each failed put means that another writer succeeded. The timeout counts only the time
        in which no writer succeeds. The ledger is refreshed first: an entry must never follow one that is gone.
        """
        self.refresh()
        for layout in body.layouts if body is not None else ():
            self._keep(layout)
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
                log_entry = self._log_entries[revision.sequence - 1]
                if log_entry.entry.revision is not None and log_entry.entry.revision.attempt == revision.attempt:
                    return log_entry
        raise UnknownRun(revision.dataset, revision.partition, revision.number)

    def layout(self, digest: str) -> KeyLayout:
        layout = self._layouts.get(digest)
        if layout is None:
            path = places.layout_path(self.folder, digest)
            with entries.add_path_to_errors(path):
                layout = KeyLayout.from_bytes(self._blobs.read(path) or b"", digest)
            self._layouts[digest] = layout
        return layout

    def _keep(self, layout: KeyLayout) -> None:
        """Write a layout, unless it exists, before an entry refers to it."""
        if layout.digest not in self._layouts:
            fault_point(f"{self._blobs.kind}.layout")
            path = places.layout_path(self.folder, layout.digest)
            if not self._blobs.put(path, layout.to_bytes()):
                self._blobs.settle(path)
            self._layouts[layout.digest] = layout

    def _put(self, commit: Commit, body: Body | None, rivals: _Rivals) -> bool:
        """Whether the commit is in the log now, by this put or by an earlier one whose response was lost."""
        head, path = self.ledger.head, places.entry_path(self.folder, commit.sequence)
        data, log_entry = entries.pack_entry(commit, body)
        started = time.monotonic()
        if self._blobs.put(path, data):
            self._add(log_entry)
            self._checkpoint_if_due()
            return True
        rivals.give_way(time.monotonic() - started)
        self.refresh()
        if self.ledger.head > head:
            rivals.note_progress()
        elif rivals.stuck:
            raise StoreUnavailable(f"{path} can be neither written nor read.", hint="Try again later.")
        return self.ledger.head > head and self._log_entries[commit.sequence - 1].entry.commit == commit

    def _add(self, log_entry: LogEntry) -> None:
        self.ledger.add(log_entry.entry.commit)
        self._log_entries.append(log_entry)

    def _read_following(self) -> Iterator[LogEntry]:
        """Entries after the known ones. The first time the folder is listed; later, growing ranges of numbers are read.

        Most refreshes find nothing or one entry, so the first range is one number, after those that are read again.
        """
        if not self._read:
            yield from self._read_listed()
        known = self.ledger.head
        start = max(1, known + 1 - READ_AGAIN) if self._read else known + 1
        first = known + 2 - start
        for count in itertools.chain([first, self._lag], (2**power for power in range(2, 9)), itertools.repeat(256)):
            sequences = range(start, start + count)
            read = self._blobs.each(self._read_entry, sequences, map(self._first_read, sequences))
            for sequence, log_entry in zip(sequences, read, strict=True):
                if sequence <= known:
                    self._require_same(sequence, log_entry)
                elif log_entry is None:
                    self._lag = max(1, (self._lag + self.ledger.head - known) // 2)
                    return
                else:
                    yield log_entry
            start += count

    def _require_same(self, sequence: int, log_entry: LogEntry | None) -> None:
        """Raise unless the log has the entry that is known, so that nothing is appended to another log."""
        if log_entry == self._log_entries[sequence - 1]:
            return
        path = places.entry_path(self.folder, sequence)
        if log_entry is None:
            raise LostHistory(
                f"{path} was deleted while the store was open.",
                hint="Restore the history, or run again: the store goes on with what is there now.",
            )
        raise LostHistory(
            f"{path} was replaced by another commit while the store was open.",
            hint="If that is right, run again: the store goes on with the history that is there now.",
        )

    def _read_listed(self) -> Iterator[LogEntry]:
        head = self.ledger.head
        listed = places.parse_sequences(self._blobs.names(places.log_folder(self.folder), head))
        sequences = range(head + 1, max(listed, default=head) + 1)
        read = self._blobs.each(self._read_entry, sequences, map(self._first_read, sequences))
        for offset, log_entry in enumerate(read):
            if log_entry is None:
                path = places.entry_path(self.folder, head + 1 + offset)
                raise CorruptBytes(f"{path} is missing, though later commits are there.")
            yield log_entry

    def _first_read(self, sequence: int) -> ByteSpan:
        return places.entry_path(self.folder, sequence), 0, FIRST_READ

    def _read_entry(self, sequence: int) -> LogEntry | None:
        path, start, size = self._first_read(sequence)
        data = self._blobs.read(path, start, size)
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
                for log_entry in self._read_checkpoint(sequence):
                    self._add(log_entry)
                self._checkpointed = sequence
                return

    def _read_checkpoint(self, sequence: int) -> list[LogEntry]:
        data = self._blobs.read(places.checkpoint_path(self.folder, sequence)) or b""
        body = entries.body_of(data, CHECKPOINT, entries.entry_key(self._dataset, sequence))
        log_entries = [LogEntry(*each) for each in entries.decode_body(body, _Checkpoint).entries]
        if [each.entry.commit.sequence for each in log_entries] != list(range(1, sequence + 1)):
            raise CorruptBytes("the checkpoint has holes.")
        return log_entries

    def _checkpoint_if_due(self) -> None:
        """Write a checkpoint if one is due, so that a long log opens fast. It is optional, so errors are ignored."""
        head = self.ledger.head
        if head - self._checkpointed <= max(CHECKPOINT_AFTER, min(head // 10, 1_000)):
            return
        self._checkpointed = head
        body = pack(_Checkpoint(head, [(each.entry, each.front) for each in self._log_entries]))
        with contextlib.suppress(StoreUnavailable):
            fault_point(f"{self._blobs.kind}.checkpoint")
            self._blobs.put(
                places.checkpoint_path(self.folder, head),
                seal(body, Head(CHECKPOINT, entries.entry_key(self._dataset, head))),
            )


class _Rivals:
    """Competition with other writers of the same log.

    After a lost put, a writer waits a random multiple of the time of a put, so that writers spread out. Without the
    pause, eight writers commit half as fast.
    """

    def __init__(self, patience: float) -> None:
        self._patience = patience
        self._since = time.monotonic()
        self._losses = 0

    def give_way(self, took: float) -> None:
        self._losses += 1
        time.sleep(random.uniform(0, max(took, 0.001) * min(2**self._losses, 32)))

    def note_progress(self) -> None:
        """Note that some writer committed."""
        self._since = time.monotonic()

    @property
    def stuck(self) -> bool:
        return time.monotonic() - self._since > self._patience
