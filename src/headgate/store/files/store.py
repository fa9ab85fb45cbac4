"""The history store over files: what the port asks for, answered from logs."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from threading import Lock
from typing import NamedTuple, cast

import numpy as np
import numpy.typing as npt

from headgate.store.files import entry as entries
from headgate.store.files import places
from headgate.store.files.blobs import Blobs
from headgate.store.files.entry import Body, ByteRange, EntryParts, KeyLayout
from headgate.store.files.folder import Folder
from headgate.store.files.identity import ensure_identity, secret_of
from headgate.store.files.log import FIRST_READ, Log
from headgate.store.port import Series
from headgate.store.record import Record, key_texts, make_record, open_states, restore_run
from headgate.values.errors import CorruptBytes
from headgate.values.key import MetricKey
from headgate.values.run import Decision, Revision, Ruling, Run
from headgate.values.state import State

_READ_WHOLE_BELOW = 1 << 18  # bytes: below this, all states of a run are read rather than some of them one by one


class FileStore:
    """Datasets side by side in a folder or on an object store, each with its own log. May be used by many threads."""

    def __init__(self, blobs: Blobs, *, hide: bool = True, secret: bytes | None = None) -> None:
        self._blobs = blobs
        identity = ensure_identity(blobs, secret)
        self.secret = secret_of(identity, secret) if hide else None
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
        body = Body.of(make_record(run, self.secret), run.key)
        log = self._log_of(run.dataset)
        with log.lock:
            for layout in body.layouts:
                log.keep(layout)
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
    ) -> Ruling:
        log = self._log_of(dataset)
        with log.lock:
            ruling = log.append(
                lambda: log.ledger.next_ruling(partition, decision, number, who, note),
                fresh=True,  # what is standing may have been overruled by somebody else
            )
            return cast(Ruling, ruling)

    def datasets(self) -> tuple[str, ...]:
        folders = [name for name in self._blobs.folders() if places.is_dataset_folder(name)]
        return tuple(sorted(name for name in self._blobs.each(self._read_name, folders) if name is not None))

    def head(self, dataset: str) -> int:
        log = self._log_of(dataset)
        with log.lock:
            log.refresh()
            return log.ledger.head

    def revisions(
        self, dataset: str, partition: str | None = None, *, as_of: int | None = None
    ) -> tuple[Revision, ...]:
        log = self._log_of(dataset)
        with log.lock:
            log.refresh()
            return log.ledger.revisions(partition, as_of)

    def rulings(self, dataset: str, partition: str | None = None, *, as_of: int | None = None) -> tuple[Ruling, ...]:
        log = self._log_of(dataset)
        with log.lock:
            log.refresh()
            return log.ledger.rulings(partition, as_of)

    def last(
        self,
        dataset: str,
        runs: int,
        *,
        as_of: int | None = None,
        before: str | None = None,
        only: Collection[Decision] | None = None,
    ) -> tuple[Revision, ...]:
        log = self._log_of(dataset)
        with log.lock:
            log.refresh()
            return log.ledger.last(runs, as_of, before, only)

    def series(self, revisions: Sequence[Revision], metrics: Iterable[MetricKey | str] | None = None) -> Series:
        rows = list(self._blobs.each(self._read_numbers, self._locate_entries(revisions)))
        layouts = {layout.digest: layout for layout, _ in rows}
        wanted = key_texts(metrics)
        keys = sorted(set().union(*(each.keys for each in layouts.values()))) if wanted is None else wanted
        values = np.full((len(rows), len(keys)), np.nan)
        chosen = {digest: _match_keys(layout, keys) for digest, layout in layouts.items()}
        for row, (layout, numbers) in zip(values, rows, strict=True):
            here, there = chosen[layout.digest]
            row[here] = numbers[there]
        return Series(tuple(revisions), tuple(map(MetricKey.parse, keys)), values)

    def states(
        self, revisions: Sequence[Revision], keys: Iterable[MetricKey | str] | None = None
    ) -> list[dict[MetricKey, State]]:
        wanted = key_texts(keys)
        return list(self._blobs.each(lambda found: self._read_states(found, wanted), self._locate_entries(revisions)))

    def run(self, revision: Revision, *, states: bool = True) -> Run:
        (found,) = self._locate_entries([revision])
        data = self._blobs.read(found.path) or b""
        with entries.add_path_to_errors(found.path):
            return restore_run(revision, _read_record(data, found), states)

    def close(self) -> None:
        self._blobs.close()

    def _log_of(self, dataset: str) -> Log:
        with self._lock:
            return self._logs.setdefault(dataset, Log(self._blobs, dataset))

    def _read_name(self, folder: str) -> str | None:
        path = places.entry_path(folder, 1)
        data = self._blobs.read(path, 0, FIRST_READ)
        if data is None:
            return None
        with entries.add_path_to_errors(path):
            length = entries.front_length(data)
            return entries.dataset_name_of(data if length <= len(data) else self._blobs.read(path, 0, length) or b"")

    def _locate_entries(self, revisions: Sequence[Revision]) -> list[_EntryLocation]:
        """Where runs lie. Asked before threads share the work: a log that must be read first needs threads itself."""
        logs = {each.dataset: self._log_of(each.dataset) for each in revisions}
        return [_EntryLocation.of(logs[each.dataset], each) for each in revisions]

    def _read_numbers(self, found: _EntryLocation) -> tuple[KeyLayout, npt.NDArray[np.float64]]:
        layout = found.log.layout(found.parts.number_keys)
        place = found.parts.numbers
        data = self._blobs.read(found.path, found.front + place.offset, place.length) or b""
        with entries.add_path_to_errors(found.path):
            return layout, entries.read_numbers(data, found.key, len(layout.keys))

    def _read_states(self, found: _EntryLocation, wanted: list[str] | None) -> dict[MetricKey, State]:
        parts, layout = found.parts, found.log.layout(found.parts.state_keys)
        chosen = set(layout.keys if wanted is None else wanted).intersection(layout.keys)
        together = wanted is None or parts.states.length <= _READ_WHOLE_BELOW
        size = parts.index.length + parts.states.length if together else parts.index.length
        data = self._blobs.read(found.path, found.front + parts.index.offset, size) or b""
        with entries.add_path_to_errors(found.path):
            every = entries.state_places(data[: parts.index.length], parts, found.key, layout)
            spans = {key: span for key, span in every.items() if key in chosen}
            if together:
                sealed = [data[at - parts.index.offset :][:size] for at, size in spans.values()]
            else:
                sealed = self._blobs.read_parts(found.path, [(found.front + at, size) for at, size in spans.values()])
            return open_states(dict(zip(spans, sealed, strict=True)))


class _EntryLocation(NamedTuple):
    """A run's entry: whose it is, where it lies, and where in it the parts begin."""

    log: Log
    key: str
    path: str
    front: int
    parts: EntryParts

    @classmethod
    def of(cls, log: Log, revision: Revision) -> _EntryLocation:
        placed = log.find_entry(revision)
        assert placed.entry.parts is not None, "a run has parts"
        path = places.entry_path(log.folder, revision.sequence)
        return cls(log, revision.key, path, placed.front, placed.entry.parts)


def _read_record(data: bytes, found: _EntryLocation) -> Record:
    """The record in all the bytes of an entry."""
    parts, body = found.parts, data[found.front :]
    if len(body) != parts.states.offset + parts.states.length:
        raise CorruptBytes(f"the entry has {len(data):,} bytes; it should end with its states.")

    def slice_of(place: ByteRange) -> bytes:
        return body[place.offset : place.offset + place.length]

    numbers, states = found.log.layout(parts.number_keys), found.log.layout(parts.state_keys)
    vector = entries.read_numbers(slice_of(parts.numbers), found.key, len(numbers.keys))
    spans = entries.state_places(slice_of(parts.index), parts, found.key, states)
    return Record(
        dict(zip(numbers.keys, vector.tolist(), strict=True)),
        slice_of(parts.details),
        {name: slice_of(ByteRange(*span)) for name, span in spans.items()},
    )


def _match_keys(layout: KeyLayout, keys: list[str]) -> tuple[list[int], list[int]]:
    """Which of the wanted keys a layout has, and where."""
    at = {key: there for there, key in enumerate(layout.keys)}
    here = [place for place, key in enumerate(keys) if key in at]
    return here, [at[keys[place]] for place in here]
