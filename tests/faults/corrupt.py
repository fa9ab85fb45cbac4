"""F8: every stored format, cut off at every byte and with bits flipped: refused before anything in it is decoded."""

from __future__ import annotations

import json
import random
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from headgate.store.files.folder import Folder
from headgate.store.files.store import FileStore
from headgate.store.record import open_states
from headgate.values.codec import unseal
from headgate.values.errors import StoredDataError
from tests.faults.table import Row
from tests.golden.history import unfolded
from tests.golden.write import STATES, STORE


class Format(NamedTuple):
    """Stored bytes and how they are read; `read` raises if they are not what was stored."""

    name: str
    data: bytes
    read: Callable[[bytes], object]


def envelopes() -> list[Format]:
    """Every golden state."""
    found = []
    for path in sorted(STATES.glob("*.json")):
        kept = json.loads(path.read_text(encoding="utf-8"))
        found.append(Format(path.stem, bytes.fromhex(kept["bytes"]), _state_under(kept["key"])))
    return found


def _state_under(key: str) -> Callable[[bytes], object]:
    return lambda data: open_states({key: data})


def objects(folder: Path) -> list[Format]:
    """Every object of the golden store, read through a store that has only this one altered."""
    kept: dict[str, str] = json.loads(STORE.read_text(encoding="utf-8"))["objects"]
    unfolded(kept, folder)
    return [Format(path, bytes.fromhex(data), _object_at(folder, path)) for path, data in kept.items()]


def _object_at(folder: Path, path: str) -> Callable[[bytes], object]:
    def read(data: bytes) -> object:
        if "/checkpoints/" in path:  # derived: the store reads the log where one is refused
            return unseal(data)
        store = FileStore(_Altered(folder, path, data))
        for revision in (each for dataset in store.datasets() for each in store.revisions(dataset)):
            if "/log/" not in path or path.endswith(f"{revision.sequence:020}.hg"):
                store.run(revision)
                store.states([revision])
        return store

    return read


class _Altered(Folder):
    """A folder in which one object reads differently."""

    def __init__(self, folder: Path, path: str, data: bytes) -> None:
        super().__init__(folder)
        self._path, self._data = path, data

    def read(self, path: str, start: int = 0, size: int | None = None) -> bytes | None:
        if path != self._path:
            return super().read(path, start, size)
        return self._data[start : None if size is None else start + size]

    def names(self, folder: str, after: int) -> list[str]:
        return [] if folder.endswith("/checkpoints") else super().names(folder, after)


def corrupted(formats: list[Format], flips: int, seed: int, backend: str) -> Row:
    """`lost` counts altered bytes that were read as if nothing had happened; a crash ends the test."""
    row, begun, chance = Row("F8 cut and flipped", backend), time.monotonic(), random.Random(seed)
    for each in formats:
        each.read(each.data)
        for end in range(len(each.data)):
            row.lost += not _refused(each, each.data[:end])
        row.trials += len(each.data)
    cuts = row.trials
    for _ in range(flips):
        each = chance.choice(formats)
        altered = bytearray(each.data)
        altered[chance.randrange(len(altered))] ^= 1 << chance.randrange(8)
        row.lost += not _refused(each, bytes(altered))
    row.trials += flips
    row.notes = f"{len(formats)} formats, {cuts:,} cuts, {flips:,} flips"
    row.seconds = time.monotonic() - begun
    return row


def _refused(format: Format, data: bytes) -> bool:
    try:
        format.read(data)
    except StoredDataError:
        return True
    return False
