"""The history store over files, with one log for each dataset."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from threading import Lock
from typing import NamedTuple, cast

import numpy as np
import numpy.typing as npt

from headgate.store.files import entry as entries
from headgate.store.files import places
from headgate.store.files.blobs import Blobs, ByteSpan
from headgate.store.files.entry import Body, ByteRange, EntryParts, KeyLayout
from headgate.store.files.folder import Folder
from headgate.store.files.identity import Identity, ensure_identity, read_identity, secret_of
from headgate.store.files.log import FIRST_READ, Log, LostHistory
from headgate.store.port import Series
from headgate.store.record import Record, key_texts, make_record, open_states, restore_run
from headgate.values.errors import CorruptBytes
from headgate.values.key import MetricKey
from headgate.values.mute import Mute
from headgate.values.run import Decision, Revision, Ruling, Run
from headgate.values.state import State

_READ_WHOLE_BELOW = 1 << 18  # bytes of states below which all of a run are read at once, even if only some are wanted


class FileStore:
    """Datasets in a folder or on an object store, each with its own log. Threads may share it."""

    def __init__(self, blobs: Blobs, *, hide: bool = True, secret: bytes | None = None) -> None:
        self._blobs = blobs
        self._hide = hide
        self._secret_given = secret
        self._identity: Identity | None = ensure_identity(blobs, secret)
        self.secret = self._find_secret(self._identity)
        self._logs: dict[str, Log] = {}
        self._lock = Lock()

    @classmethod
    def open(cls, url: str, *, hide: bool = True, secret: bytes | None = None) -> FileStore:
        if url.startswith("file:"):
            return cls(Folder.at(url), hide=hide, secret=secret)
        from headgate.store.files.objects import Objects

        blobs = Objects.at(url)
        try:
            return cls(blobs, hide=hide, secret=secret)
        except BaseException:
            blobs.close()
            raise

    def commit(self, run: Run) -> Revision:
        with self._use_log(run.dataset) as log:
            body = Body.of(make_record(run, self.secret), run.key)
            return cast(Revision, log.append(lambda: log.ledger.next_revision(run), body))

    def decide(
        self,
        dataset: str,
        partition: str,
        decision: Decision,
        *,
        number: int | None = None,
        who: str = "",
        note: str = "",
        source: str = "",
        only_first: bool = False,
    ) -> Ruling:
        with self._use_log(dataset) as log:
            ruling = log.append(
                lambda: log.ledger.next_ruling(partition, decision, number, who, note, source, only_first)
            )
            return cast(Ruling, ruling)

    def datasets(self) -> tuple[str, ...]:
        folders = [name for name in self._blobs.folders() if places.is_dataset_folder(name)]
        reads = [(places.entry_path(folder, 1), 0, FIRST_READ) for folder in folders]
        return tuple(sorted(name for name in self._blobs.each(self._read_name, folders, reads) if name is not None))

    def head(self, dataset: str) -> int:
        with self._use_log(dataset) as log:
            log.refresh()
            return log.ledger.head

    def revisions(
        self, dataset: str, partition: str | None = None, *, as_of: int | None = None
    ) -> tuple[Revision, ...]:
        with self._use_log(dataset) as log:
            log.refresh()
            return log.ledger.revisions(partition, as_of)

    def find_undecided(self, dataset: str) -> tuple[Revision, ...]:
        with self._use_log(dataset) as log:
            log.refresh()
            return log.ledger.find_undecided()

    def rulings(self, dataset: str, partition: str | None = None, *, as_of: int | None = None) -> tuple[Ruling, ...]:
        with self._use_log(dataset) as log:
            log.refresh()
            return log.ledger.rulings(partition, as_of)

    def mute(self, dataset: str, column: str, until: float | None, *, who: str = "", note: str = "") -> Mute:
        with self._use_log(dataset) as log:
            return cast(Mute, log.append(lambda: log.ledger.next_mute(column, until, who, note)))

    def mutes(self, dataset: str, *, as_of: int | None = None) -> tuple[Mute, ...]:
        with self._use_log(dataset) as log:
            log.refresh()
            return log.ledger.mutes(as_of)

    def last(
        self,
        dataset: str,
        runs: int,
        *,
        as_of: int | None = None,
        before: str | None = None,
        only: Collection[Decision] | None = None,
    ) -> tuple[Revision, ...]:
        with self._use_log(dataset) as log:
            log.refresh()
            return log.ledger.last(runs, as_of, before, only)

    def first(
        self,
        dataset: str,
        runs: int,
        *,
        after: str,
        as_of: int | None = None,
        only: Collection[Decision] | None = None,
    ) -> tuple[Revision, ...]:
        with self._use_log(dataset) as log:
            log.refresh()
            return log.ledger.first(runs, after, as_of, only)

    def series(self, revisions: Sequence[Revision], metrics: Iterable[MetricKey | str] | None = None) -> Series:
        locations = self._locate_entries(revisions)
        rows = list(self._blobs.each(self._read_numbers, locations, (each.numbers for each in locations)))
        layouts = {layout.digest: layout for layout, _ in rows}
        wanted = key_texts(metrics)
        keys = sorted(set().union(*(each.keys for each in layouts.values()))) if wanted is None else wanted
        values = np.full((len(rows), len(keys)), np.nan)
        chosen = {digest: _match_keys(layout, keys) for digest, layout in layouts.items()}
        for row, (layout, numbers) in zip(values, rows, strict=True):
            columns, positions = chosen[layout.digest]
            row[columns] = numbers[positions]
        return Series(tuple(revisions), tuple(map(MetricKey.parse, keys)), values)

    def states(
        self, revisions: Sequence[Revision], keys: Iterable[MetricKey | str] | None = None
    ) -> list[dict[MetricKey, State]]:
        wanted = key_texts(keys)
        locations = self._locate_entries(revisions)
        reads = (each.find_states(is_whole=_reads_whole(each, wanted)) for each in locations)
        return list(self._blobs.each(lambda location: self._read_states(location, wanted), locations, reads))

    def run(self, revision: Revision, *, states: bool = True) -> Run:
        (location,) = self._locate_entries([revision])
        with self._drop_lost_history():
            data = self._blobs.read(location.path)
            if data is None:
                raise _describe_deletion(location.path)
        with entries.add_path_to_errors(location.path):
            return restore_run(revision, _read_record(data, location), states)

    def close(self) -> None:
        self._blobs.close()

    @contextmanager
    def _use_log(self, dataset: str) -> Iterator[Log]:
        """The log of a dataset, locked."""
        with self._lock:
            self._load_identity()
            log = self._logs.setdefault(dataset, Log(self._blobs, dataset, self._require_identity))
        with self._drop_lost_history(), log.lock:
            yield log

    @contextmanager
    def _drop_lost_history(self) -> Iterator[None]:
        """If the history was deleted or replaced, forget all of it, so that the next call reads what is there then."""
        try:
            yield
        except LostHistory:
            with self._lock:
                self._identity, self._logs = None, {}
            raise

    def _load_identity(self) -> None:
        """Read the identity of the history that is there now, if the one before was lost. It is not made anew."""
        if self._identity is None:
            identity = read_identity(self._blobs)
            if identity is None:
                raise _describe_deletion(places.STORE)
            self.secret, self._identity = self._find_secret(identity), identity

    def _require_identity(self) -> None:
        """Raise unless the history is the one that was opened. Copies of it have the same identity."""
        identity = read_identity(self._blobs)
        if identity is None:
            raise _describe_deletion(places.STORE)
        if identity != self._identity:
            raise LostHistory(
                f"{places.STORE} was replaced by that of another history while the store was open.",
                hint="If that is right, run again: the store goes on with the history that is there now.",
            )

    def _find_secret(self, identity: Identity) -> bytes | None:
        return secret_of(identity, self._secret_given) if self._hide else None

    def _read_name(self, folder: str) -> str | None:
        path = places.entry_path(folder, 1)
        data = self._blobs.read(path, 0, FIRST_READ)
        if data is None:
            return None
        with entries.add_path_to_errors(path):
            length = entries.front_length(data)
            return entries.dataset_name_of(data if length <= len(data) else self._blobs.read(path, 0, length) or b"")

    def _locate_entries(self, revisions: Sequence[Revision]) -> list[_EntryLocation]:
        """The locations of runs. They are found before threads share the reading: a log that must be refreshed uses the
        same threads, and would wait for itself.
        """
        locations = []
        for revision in revisions:
            with self._use_log(revision.dataset) as log:
                locations.append(_EntryLocation.of(log, revision))
        return locations

    def _read_numbers(self, location: _EntryLocation) -> tuple[KeyLayout, npt.NDArray[np.float64]]:
        layout = location.log.layout(location.parts.number_keys)
        data = self._blobs.read(*location.numbers) or b""
        with entries.add_path_to_errors(location.path):
            return layout, entries.read_numbers(data, location.key, len(layout.keys))

    def _read_states(self, location: _EntryLocation, wanted: list[str] | None) -> dict[MetricKey, State]:
        parts, layout = location.parts, location.log.layout(location.parts.state_keys)
        chosen_keys = set(layout.keys if wanted is None else wanted).intersection(layout.keys)
        together = _reads_whole(location, wanted)
        data = self._blobs.read(*location.find_states(is_whole=together)) or b""
        with entries.add_path_to_errors(location.path):
            ranges = entries.locate_states(data[: parts.index.length], parts, location.key, layout)
            chosen_ranges = {key: span for key, span in ranges.items() if key in chosen_keys}
            if together:
                sealed = [data[at - parts.index.offset :][:size] for at, size in chosen_ranges.values()]
            else:
                sealed = self._blobs.read_parts(
                    location.path, [(location.front + at, size) for at, size in chosen_ranges.values()]
                )
            return open_states(dict(zip(chosen_ranges, sealed, strict=True)))


class _EntryLocation(NamedTuple):
    """The entry of a run: its log, run key and path, the length of its first envelope, and its parts."""

    log: Log
    key: str
    path: str
    front: int
    parts: EntryParts

    @classmethod
    def of(cls, log: Log, revision: Revision) -> _EntryLocation:
        log_entry = log.find_entry(revision)
        assert log_entry.entry.parts is not None, "a run has parts"
        path = places.entry_path(log.folder, revision.sequence)
        return cls(log, revision.key, path, log_entry.front, log_entry.entry.parts)

    @property
    def numbers(self) -> ByteSpan:
        """Where the numbers of the run are."""
        return self.path, self.front + self.parts.numbers.offset, self.parts.numbers.length

    def find_states(self, *, is_whole: bool) -> ByteSpan:
        """Where the index of the states is, with all states or without them."""
        size = self.parts.index.length + (self.parts.states.length if is_whole else 0)
        return self.path, self.front + self.parts.index.offset, size


def _reads_whole(location: _EntryLocation, wanted: list[str] | None) -> bool:
    return wanted is None or location.parts.states.length <= _READ_WHOLE_BELOW


def _describe_deletion(path: str) -> LostHistory:
    return LostHistory(
        f"{path} was deleted while the store was open.",
        hint="Restore the history, or open the store anew to begin an empty one.",
    )


def _read_record(data: bytes, location: _EntryLocation) -> Record:
    """The record in the bytes of an entry."""
    parts, body = location.parts, data[location.front :]
    if len(body) != parts.states.offset + parts.states.length:
        raise CorruptBytes(f"the entry has {len(data):,} bytes; it should end with its states.")

    def slice_of(part: ByteRange) -> bytes:
        return body[part.offset : part.offset + part.length]

    numbers, states = location.log.layout(parts.number_keys), location.log.layout(parts.state_keys)
    vector = entries.read_numbers(slice_of(parts.numbers), location.key, len(numbers.keys))
    ranges = entries.locate_states(slice_of(parts.index), parts, location.key, states)
    return Record(
        dict(zip(numbers.keys, vector.tolist(), strict=True)),
        slice_of(parts.details),
        {name: slice_of(ByteRange(*span)) for name, span in ranges.items()},
    )


def _match_keys(layout: KeyLayout, keys: list[str]) -> tuple[list[int], list[int]]:
    """The indices of the wanted keys that a layout has, and their positions in the layout."""
    positions = {key: position for position, key in enumerate(layout.keys)}
    columns = [column for column, key in enumerate(keys) if key in positions]
    return columns, [positions[keys[column]] for column in columns]
