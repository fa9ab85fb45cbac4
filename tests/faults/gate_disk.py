"""F3 through the gate: the disk is full at each write in turn; nothing is shown unasked, and a rerun ends the work."""

from __future__ import annotations

import errno
import os
import subprocess
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from headgate.store.fault_points import watch
from headgate.store.open import open_store
from headgate.values.account import Action
from headgate.values.errors import PublishError, StoreUnavailable
from headgate.values.expectation import Status
from headgate.values.run import Decision
from tests.faults.disk import contents
from tests.faults.gate_checks import World
from tests.faults.gate_work import FEW, Batch, Lake, judged
from tests.faults.table import Row

WRITES = (
    "files.write_tmp",
    "files.fsync",
    "files.link",
    "folders.make",
    "folders.write",
    "folders.fsync",
    "folders.claim",
    "folders.put_away",
    "folders.point",
    "folders.show",
    "folders.hold",
)
_DISK = 4 << 20
_PAGES = 16


class _Case(NamedTuple):
    """A batch that passes or fails, perhaps after another of the same partition."""

    flaw: str = ""
    second: bool = False
    manifest: bool = False

    def batches(self, partition: str) -> list[Batch]:
        seed = 2 * int(partition[1:])  # no two partitions have the same rows
        return [*([Batch(partition, seed)] if self.second else []), Batch(partition, seed + 1, self.flaw)]


_CASES = (_Case(), _Case(second=True), _Case(second=True, manifest=True), _Case("nulls"))


def refused_writes(folder: Path) -> Row:
    """The operating system refuses one write after the other, of the history and of the folders."""
    row, begun = Row("F3 gate, no room, by write", "files"), time.monotonic()
    for at, case in enumerate(_CASES):
        lake = Lake(f"file://{folder}/gate-{at}", "orders", folder / f"lake-{at}", case.manifest)
        for day in range(FEW + 1):  # so many that each further run is stored in the same layout
            lake.judge(Batch(f"p{day}", day))
        for number, (name, times) in enumerate(_writes_of(lake, case.batches("p100")), 101):
            _refuse(lake, case.batches(f"p{number}"), name, times, row)
    row.seconds = time.monotonic() - begun
    row.notes = f"{row.trials} refused writes"
    return row


def _writes_of(lake: Lake, batches: list[Batch]) -> list[tuple[str, int]]:
    """Every write of judging the last of these batches when there is room."""
    seen: Counter[str] = Counter()
    for batch in batches:
        seen.clear()
        with watch(lambda name: seen.update([name])):
            lake.judge(batch)
    return [(name, times) for name in WRITES for times in range(1, seen[name] + 1)]


def _refuse(lake: Lake, batches: list[Batch], name: str, times: int, row: Row) -> None:
    *earlier, batch = batches
    for each in earlier:
        assert lake.judge(each).passed
    lake.stage(batch)
    seen, before = 0, _history(lake)

    def watcher(step: str) -> None:
        nonlocal seen
        seen += step == name
        if step == name and seen == times:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with watch(watcher):
        refused = tried(lake, batch)
    assert seen >= times, f"{name} was not refused"
    row.points[f"{name} without room"] += 1
    assert refused, f"{name} was refused, and nobody was told"
    row.lost += len(before - _history(lake))
    after_fault(lake, batches, row)
    assert not list(Path(lake.url.removeprefix("file://"), "tmp").iterdir()), "a temporary file was left"


def tried(lake: Lake, batch: Batch) -> bool:
    """Judge it, without room; whether it was refused. If not, it says what the history says."""
    try:
        with closing(open_store(lake.url)) as store:
            verdict = judged(lake.gate(store), batch)
    except (StoreUnavailable, PublishError):
        return True
    assert verdict.passed != bool(batch.flaw)
    assert (verdict.action is Action.PUBLISH) == verdict.passed
    return False


def after_fault(lake: Lake, batches: list[Batch], row: Row) -> None:
    """Nothing is seen that was not let in; then there is room, and the same batch is judged to the end, once."""
    world = World(lake, {each.text: each.fingerprint or "" for each in [Batch("p0", 0), *batches]})
    batch, row.trials = batches[-1], row.trials + 1
    _look(world, row)
    told = lake.judge(batch)
    assert told.passed != bool(batch.flaw)
    _look(world, row)
    row.lost += (lake.seen().get(batch.partition) == batch.text) != told.passed
    with closing(open_store(lake.url)) as store:
        made = store.revisions(lake.dataset, batch.partition)
    # what was staged anew before it could be moved is a new revision, and the one before is withdrawn
    row.doubled += sum(each.decision is not Decision.WITHDRAWN for each in made) - len(batches)
    row.lost += made[-1].decision is None


def _look(world: World, row: Row) -> None:
    """As `World.look`, of one partition: the history grows with every trial."""
    partition = next(reversed(world.prints)).partition("|")[0]
    seen = world.lake.seen().get(partition)
    with closing(open_store(world.lake.url)) as store:
        row.leaked += seen is not None and not world.is_allowed(store, seen)
        made = store.revisions(world.lake.dataset, partition)
        row.leaked += any(each.status is not Status.PASS and each.decision == "published" for each in made)


def _history(lake: Lake) -> set[tuple[str, str]]:
    return set(contents(Path(lake.url.removeprefix("file://"))).items())


def small_disk(folder: Path) -> Row | None:
    """History and folders on a file system of 4 MiB, full but for a few pages, a page more each time. None where none
    can be mounted."""
    row, begun = Row("F3 gate, no room, full disk", "files"), time.monotonic()
    folder.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={_DISK}", "tmpfs", folder], capture_output=True).returncode:
        return None
    try:
        lake = Lake(f"file://{folder}/history", "orders", folder / "lake")
        lake.judge(Batch("p0", 0))
        refused = [_filled(lake, Batch(f"p{1 + pages}", 1 + pages), pages, row) for pages in range(_PAGES)]
        assert any(refused), "the disk was never full"
        assert not all(refused), "the disk never had room"
    finally:
        subprocess.run(["umount", folder], check=True)
    row.seconds = time.monotonic() - begun
    row.notes = f"tmpfs of 4 MiB; {sum(refused)} of {_PAGES} refused"
    return row


def _filled(lake: Lake, batch: Batch, pages: int, row: Row) -> bool:
    filler = lake.root.with_name("filler")
    lake.stage(batch)
    _take_room(filler, pages)
    before = _history(lake)
    refused = tried(lake, batch)
    row.lost += len(before - _history(lake))
    row.points["ENOSPC of the file system"] += refused
    filler.unlink()
    after_fault(lake, [batch], row)
    return refused


def _take_room(filler: Path, pages: int) -> None:
    """Fill the disk, then give some pages back."""
    with open(filler, "wb", buffering=0) as file:
        try:
            while True:
                file.write(bytes(4096))
        except OSError:
            file.truncate(max(0, file.tell() - 4096 * pages))


def no_pages_left(folder: Path) -> Row:
    """SQLite may not take one more page than it has: nothing is committed, so nothing is published."""
    row, begun = Row("F3 gate, no room, page limit", "sqlite"), time.monotonic()
    folder.mkdir(exist_ok=True)
    lake = Lake(f"sqlite:///{folder}/full.db", "orders", folder / "lake")
    lake.judge(Batch("p0", 0))
    for at in range(1, 7):
        batch = Batch(f"p{at}", at, "nulls" if at % 3 == 0 else "")
        lake.stage(batch)
        with _no_more_pages():
            refused = tried(lake, batch)
        row.points["SQLITE_FULL"] += refused
        after_fault(lake, [batch], row)
    assert row.points["SQLITE_FULL"], "the database was never full"
    row.seconds = time.monotonic() - begun
    row.notes = f"{row.points['SQLITE_FULL']} of {row.trials} refused"
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
