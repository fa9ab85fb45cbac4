"""F3: the disk is full at each write in turn; the history is as it was, and goes on when there is room again."""

from __future__ import annotations

import errno
import hashlib
import os
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from headgate.metrics.states.counts import MatchCount
from headgate.store.fault_points import watch
from headgate.store.open import open_store
from headgate.store.port import HistoryStore
from headgate.values.errors import StoreUnavailable
from headgate.values.key import MetricKey
from headgate.values.outcome import Measured
from headgate.values.run import Run
from tests.faults.backends import unique
from tests.faults.table import Row
from tests.faults.work import Item

_WRITES = ("files.write_tmp", "files.fsync", "files.link")
_DISK = 1 << 20


def refused_writes_of_files(folder: Path) -> Row:
    """The operating system refuses one write after the other, as if there were no room."""
    row, begun = Row("F3 no room, by write", "files"), time.monotonic()
    for name in _WRITES:
        for times in (1, 2, 3):  # two layouts, then the entry
            _refuse(folder / f"{name}-{times}", name, times, row)
    row.seconds = time.monotonic() - begun
    return row


def _refuse(folder: Path, name: str, times: int, row: Row) -> None:
    store = open_store(f"file://{folder}")
    store.commit(Item("orders", "p0", 0).run())
    before, seen = contents(folder), 0

    def watcher(step: str) -> None:
        nonlocal seen
        seen += step == name
        if step == name and seen == times:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    fresh = open_store(f"file://{folder}")  # knows no layout yet
    wanted = _wider(Item("orders", "p1", 1).run(), times)
    with watch(watcher), pytest.raises(StoreUnavailable, match="No space left"):
        fresh.commit(wanted)
    _compare(before, contents(folder), row)
    assert not list((folder / "tmp").iterdir()), "a temporary file was left"
    _goes_on(fresh, wanted, row)
    row.trials += 1
    row.points[name] += 1
    for each in (store, fresh):
        each.close()


def small_disk(folder: Path) -> Row | None:
    """A file system of 1 MiB, full but for a few pages, a page more each time. None where none can be mounted."""
    row, begun = Row("F3 no room, full disk", "files"), time.monotonic()
    folder.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={_DISK}", "tmpfs", folder], capture_output=True).returncode:
        return None
    try:
        for pages in range(40):
            if not _fill(folder / "history", folder / "filler", pages, row):
                break
        assert row.trials > 2, "the disk was never full"
    finally:
        subprocess.run(["umount", folder], check=True)
    row.seconds = time.monotonic() - begun
    row.notes = "tmpfs of 1 MiB"
    return row


def _fill(history: Path, filler: Path, pages: int, row: Row) -> bool:
    store = open_store(f"file://{history}")
    name = unique("orders")
    store.commit(Item(name, "p0", 0).run())
    wanted = _wider(Item(name, "p1", 1).run(), pages)
    _take_room(filler, pages)
    before, full = contents(history), False
    try:
        store.commit(wanted)
    except StoreUnavailable:
        full = True
        _compare(before, contents(history), row)
        row.trials += 1
        row.points["ENOSPC of the file system"] += 1
    filler.unlink()
    _goes_on(store, wanted, row)
    store.close()
    return full


def _take_room(filler: Path, pages: int) -> None:
    """Fill the disk, then give some pages back."""
    with open(filler, "wb", buffering=0) as file:
        try:
            while True:
                file.write(bytes(4096))
        except OSError:
            file.truncate(max(0, file.tell() - 4096 * pages))


def no_pages_left(folder: Path) -> Row:
    """SQLite may not take one more page than it has."""
    row, begun, url = Row("F3 no room, page limit", "sqlite"), time.monotonic(), f"sqlite:///{folder}/full.db"
    for at in range(5):
        with _opened(url) as store:
            store.commit(Item("orders", f"p{at}", 0).run())
            before = _told(store)
        wanted = _wider(Item("orders", f"full {at}", 1).run(), 2_000)
        with _no_more_pages(), _opened(url) as full, pytest.raises(StoreUnavailable):
            full.commit(wanted)
        with _opened(url) as store:
            row.lost += _told(store) != before
            _goes_on(store, wanted, row)
        row.trials += 1
        row.points["SQLITE_FULL"] += 1
    row.seconds = time.monotonic() - begun
    return row


@contextmanager
def _no_more_pages() -> Iterator[None]:
    from sqlalchemy import Engine, event

    def limit(connection: Any, _: object) -> None:
        connection.execute("PRAGMA max_page_count=1")  # SQLite takes it for: as many as there are

    event.listen(Engine, "connect", limit)
    try:
        yield
    finally:
        event.remove(Engine, "connect", limit)


@contextmanager
def _opened(url: str) -> Iterator[HistoryStore]:
    store = open_store(url)
    try:
        yield store
    finally:
        store.close()


def _told(store: HistoryStore) -> list[tuple[object, ...]]:
    return [(each, sorted(map(str, store.run(each).outcomes))) for each in store.revisions("orders")]


def _wider(run: Run, by: int) -> Run:
    """With more and other metrics and states, so that new layouts must be written."""
    run.states[MetricKey("completeness", (f"wide {by}",))] = MatchCount(1, 2)
    for at in range(20 + by):
        run.outcomes[MetricKey("mean", (f"wide {by} {at}",))] = Measured(at / 7)
    return run


def contents(folder: Path) -> dict[str, str]:
    """Every file of a history with its hash, without what is being written aside."""
    every = [path for path in folder.rglob("*.hg") if path.is_file() and path.parent.name != "tmp"]
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() for path in every}


def _compare(before: dict[str, str], after: dict[str, str], row: Row) -> None:
    """Nothing that was there changed, and no commit came to be."""
    row.lost += sum(after.get(path) != digest for path, digest in before.items())
    row.doubled += sum("/log/" in path for path in after.keys() - before.keys())


def _goes_on(store: HistoryStore, wanted: Run, row: Row) -> None:
    """With room again, the same attempt succeeds, and reads back."""
    revision = store.commit(wanted)
    row.lost += len(store.run(revision).outcomes) != len(wanted.outcomes)
