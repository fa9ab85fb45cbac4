"""F9: what was stored by any released version is read, and what a newer one stored is refused in clear words."""

from __future__ import annotations

import hashlib
import json
import struct
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from headgate.store.open import open_store
from headgate.values.codec import FORMAT, Head, decode, seal, unseal
from headgate.values.errors import NewerFormat
from tests.faults.table import Row
from tests.golden.history import read, unfolded
from tests.golden.write import STATES, STORE


def golden(folder: Path) -> Row:
    """All golden files, then each kind of newer number."""
    row, begun = Row("F9 golden read, newer refused", "all"), time.monotonic()
    for path in sorted(STATES.glob("*.json")):
        kept = json.loads(path.read_text(encoding="utf-8"))
        decode(bytes.fromhex(kept["bytes"]), kept["key"])
        row.trials += 1
    row.lost += not same_history(folder / "read")
    newer: list[Callable[[Path], None]] = [newer_envelope, newer_store, newer_schema]
    for refused in newer:
        refused(folder)
    row.trials += 1 + len(newer)
    row.notes = f"{row.trials - len(newer)} golden read, {len(newer)} newer refused"
    row.seconds = time.monotonic() - begun
    return row


def same_history(folder: Path) -> bool:
    """The golden history reads as it did when it was written."""
    kept = json.loads(STORE.read_text(encoding="utf-8"))
    unfolded(kept["objects"], folder)
    store = open_store(f"file://{folder}")
    found = read(store)
    store.close()
    for dataset in kept["found"].values():  # tests/golden/test_golden.py says what becomes of these
        dataset["states"] = [
            {key: state for key, state in states.items() if not key.startswith("quantiles(")}
            for states in dataset["states"]
        ]
    return holds(found, kept["found"])


def holds(found: Any, kept: Any) -> bool:
    """Whether all that was read then is read now; a field that came since, with its default, is no difference."""
    if isinstance(found, dict) and isinstance(kept, dict):
        return all(name in found and holds(found[name], value) for name, value in kept.items())
    if isinstance(found, list) and isinstance(kept, list):
        return len(found) == len(kept) and all(map(holds, found, kept))
    return bool(found == kept)


def newer_envelope(folder: Path) -> None:
    data = bytearray(seal(b"x", Head("moments", "k"))[:-32])
    struct.pack_into(">H", data, 4, FORMAT + 1)
    with pytest.raises(NewerFormat, match=rf"format {FORMAT + 1}; this version reads up to {FORMAT}.*Upgrade"):
        unseal(bytes(data) + hashlib.sha256(data).digest())


def newer_store(folder: Path) -> None:
    """A folder whose store.hg has a later number, and fields that nobody knows yet."""
    future = folder / "future"
    future.mkdir()
    body = msgspec.msgpack.encode({"format": 99, "shards": 7})
    (future / "store.hg").write_bytes(seal(body, Head("store", "")))
    with pytest.raises(NewerFormat, match=r"store\.hg: this store has format 99.*Upgrade headgate"):
        open_store(f"file://{future}")


def newer_schema(folder: Path) -> None:
    """A database that a later version has migrated."""
    import sqlite3
    from contextlib import closing

    file = folder / "future.db"
    open_store(f"sqlite:///{file}").close()
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.execute("UPDATE headgate_version SET version_num = '9999'")
    with pytest.raises(NewerFormat, match=r"9999.*Upgrade headgate"):
        open_store(f"sqlite:///{file}")
