"""The incidents that alerts remember, in a small JSON file that processes share, or in this process only."""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path

import msgspec

from headgate.integrations.alerts.incident import Incident
from headgate.values.local_path import to_local_path

LARGEST_FILE = 64 * 1024 * 1024  # bytes; a larger file is not read
FORGET_AFTER = 7 * 86_400.0  # seconds after which a healthy dataset is forgotten


class _MemoryFile(msgspec.Struct, frozen=True):
    version: int
    datasets: dict[str, Incident]


class Memory:
    """Incidents by dataset. A file that cannot be read counts as empty.

    The file is read and replaced at every change, so that processes share it. If two write at the same moment, the
    later wins; the worst result is a message too many, or one that comes late.
    """

    def __init__(self, path: str | os.PathLike[str] | None) -> None:
        self._path = None if path is None else to_local_path(path, "the memory of alerts")
        self._unsaved: dict[str, Incident] = {}

    def incidents(self) -> dict[str, Incident]:
        return {**self._read_file(), **self._unsaved}

    def incident_of(self, dataset: str) -> Incident:
        return self.incidents().get(dataset, Incident())

    def keep(self, dataset: str, incident: Incident, now: float) -> str:
        """Store an incident. If the file cannot be written, keep it in this process and return why."""
        self._unsaved[dataset] = msgspec.structs.replace(incident, touched=now)
        live = {
            name: each for name, each in self.incidents().items() if each.batches or now - each.touched < FORGET_AFTER
        }
        if self._path is None:
            self._unsaved = live
            return ""
        try:
            _replace_file(self._path, live)
        except (OSError, ValueError) as error:
            return f"the memory of alerts could not be written ({type(error).__name__})"
        self._unsaved.clear()
        return ""

    def _read_file(self) -> Mapping[str, Incident]:
        if self._path is None:
            return {}
        try:
            if self._path.stat().st_size > LARGEST_FILE:
                return {}
            return msgspec.convert(json.loads(self._path.read_bytes()), _MemoryFile).datasets
        except (OSError, ValueError, RecursionError):
            return {}


def _replace_file(path: Path, incidents: Mapping[str, Incident]) -> None:
    """Replace the file atomically; only its owner can read it.

    It is written as ASCII, because the name of a dataset may contain a lone surrogate.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with open(handle, "w", encoding="ascii") as file:
            json.dump(msgspec.to_builtins(_MemoryFile(1, dict(incidents))), file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise
