"""The history is deleted or replaced while a gate has it open.

Before, SQLite wrote commits into the file that no name led to any more and read them back from there; a store of files
appended after the last number that it remembered. Both times the batch was published, and no history knew of it.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from headgate.store.fault_points import watch
from headgate.store.open import open_store
from headgate.store.port import HistoryStore
from headgate.store.sql import SqlStore
from headgate.values.errors import HeadgateError, StoreUnavailable
from tests.faults.gate_work import Batch, Lake, judged
from tests.store.runs import a_small_run

EARLY, KNOWN, NEW = Batch("2026-11-13", 1), Batch("2026-11-14", 2), Batch("2026-11-15", 3)
MOMENTS = {
    "sqlite": ("", "gate.judged", "sql.before_begin", "sql.before_commit", "sql.after_commit", "gate.committed"),
    "files": ("", "gate.judged", "files.write_tmp", "files.linked", "gate.committed"),
}
URLS = {"sqlite": "sqlite:///{}", "files": "file://{}"}


class Place:
    """Where a history lies, with a copy of its beginning, and another history."""

    def __init__(self, kind: str, root: Path) -> None:
        self.kind = kind
        self.path = root / "history"
        self.url = URLS[kind].format(self.path)
        self.lake = Lake(self.url, "orders", root / "lake")
        self.lake.judge(EARLY)
        self.copy = self._copy_to(root / "copy")
        self.lake.judge(KNOWN)
        other_url = URLS[kind].format(root / "other")
        Lake(other_url, "orders", root / "other lake").judge(Batch("2026-11-01", 9))
        self.other = root / "other"

    def delete(self) -> None:
        shutil.rmtree(self.path) if self.path.is_dir() else self.path.unlink()

    def replace_by_another(self) -> None:
        self._replace(self.other)

    def restore_copy(self) -> None:
        self._replace(self.copy)

    def read_partitions(self) -> list[str]:
        """What a process finds that opens the history now."""
        with closing(open_store(self.url)) as store:
            return [revision.partition for revision in store.revisions("orders")]

    def _copy_to(self, target: Path) -> Path:
        return Path(shutil.copytree(self.path, target) if self.path.is_dir() else shutil.copyfile(self.path, target))

    def _replace(self, source: Path) -> None:
        if self.path.is_dir():
            self.path.rename(self.path.with_name("moved away"))
        os.replace(source, self.path)


FAULTS: dict[str, Callable[[Place], None]] = {
    "deleted": Place.delete,
    "replaced": Place.replace_by_another,
    "restored": Place.restore_copy,
}
each_fault = pytest.mark.parametrize("fault", FAULTS)
each_kind = pytest.mark.parametrize("kind", URLS)


def judge_while(place: Place, store: HistoryStore, moment: str, fault: str) -> None:
    """Judge a new batch; the fault happens when the gate comes to the moment for the first time."""
    faults = [FAULTS[fault]]

    def watcher(name: str) -> None:
        if name == moment and faults:
            faults.pop()(place)

    gate = place.lake.gate(store)
    gate.history.learn()
    place.lake.stage(NEW)
    if not moment:
        watcher(moment)
    with watch(watcher):
        judged(gate, NEW)


@each_fault
@pytest.mark.parametrize(("kind", "moment"), [(kind, moment) for kind in MOMENTS for moment in MOMENTS[kind]])
def test_nothing_is_published_that_no_history_knows(kind: str, moment: str, fault: str, tmp_path: Path) -> None:
    place = Place(kind, tmp_path)
    with closing(open_store(place.url)) as store:
        with pytest.raises(StoreUnavailable, match=r"was (deleted|replaced)"):
            judge_while(place, store, moment, fault)
        assert set(place.lake.seen()) == {EARLY.partition, KNOWN.partition}


@each_kind
@pytest.mark.parametrize(("fault", "there"), [("replaced", "2026-11-01"), ("restored", EARLY.partition)])
def test_afterwards_the_store_is_the_history_that_is_there(kind: str, fault: str, there: str, tmp_path: Path) -> None:
    place = Place(kind, tmp_path)
    with closing(open_store(place.url)) as store:
        gate = place.lake.gate(store)
        gate.history.learn()
        FAULTS[fault](place)
        with pytest.raises(StoreUnavailable):
            store.head("orders")
        assert [revision.partition for revision in store.revisions("orders")] == [there]
        place.lake.stage(NEW)
        assert judged(gate, NEW).passed
        assert NEW.partition in place.lake.seen()
        with closing(open_store(place.url)) as fresh:
            assert fresh.secret == store.secret
            assert fresh.revisions("orders") == store.revisions("orders")
            assert fresh.run(fresh.last("orders", 1)[0]).partition == NEW.partition


@each_kind
def test_a_deleted_history_is_not_made_anew_until_somebody_opens_it(kind: str, tmp_path: Path) -> None:
    place = Place(kind, tmp_path)
    with closing(open_store(place.url)) as store:
        store.head("orders")
        place.delete()
        for call in (lambda: store.head("orders"), lambda: store.commit(a_small_run("x")), lambda: store.last("o", 1)):
            with pytest.raises(StoreUnavailable, match=r"was deleted.*[Rr]estore"):
                call()
        assert not place.path.exists()
        assert place.read_partitions() == []  # this makes a new one
        assert store.revisions("orders") == ()


@each_kind
def test_runs_of_another_history_are_not_taken_for_those_of_the_same_number(kind: str, tmp_path: Path) -> None:
    """A gate keeps runs in memory; after a restore their sequences are given again."""
    place = Place(kind, tmp_path)
    with closing(open_store(place.url)) as store:
        gate = place.lake.gate(store)
        before = gate.history.read(store.revisions("orders")[0])
        place.replace_by_another()
        with pytest.raises(StoreUnavailable):
            store.head("orders")
        after = gate.history.read(store.revisions("orders")[0])
        assert (before.partition, after.partition) == (EARLY.partition, "2026-11-01")


def test_a_file_that_is_no_history_is_refused_and_gets_no_tables(tmp_path: Path) -> None:
    place = Place("sqlite", tmp_path)
    with closing(open_store(place.url)) as store:
        store.head("orders")
        place.path.unlink()
        place.path.touch()
        for _ in range(2):
            with pytest.raises(HeadgateError, match=r"was replaced|holds no history"):
                store.head("orders")
    with closing(sqlite3.connect(place.path)) as connection:
        assert connection.execute("SELECT * FROM sqlite_master").fetchall() == []


def test_the_log_of_the_file_before_is_not_read_into_the_file_after(tmp_path: Path) -> None:
    """SQLite applies the write-ahead log that it finds beside a file, also if it is that of another file."""
    place = Place("sqlite", tmp_path)
    with closing(open_store(place.url)) as store:
        store.commit(a_small_run("only in the log"))
        log = Path(f"{place.path}-wal")
        assert log.stat().st_size > 0
        place.restore_copy()
        for _ in range(2):
            with pytest.raises(StoreUnavailable, match="was replaced") as refused:
                store.head("orders")
        assert "history-wal" in str(refused.value)
        log.unlink()
        Path(f"{place.path}-shm").unlink()
        assert [revision.partition for revision in store.revisions("orders")] == [EARLY.partition]


def test_an_address_that_is_a_symbolic_link_may_be_pointed_elsewhere(tmp_path: Path) -> None:
    for name in ("one", "two"):
        with closing(SqlStore.open(f"sqlite:///{tmp_path}/{name}")) as store:
            store.commit(a_small_run(name))
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "one")
    with closing(SqlStore.open(f"sqlite:///{link}")) as store:
        link.unlink()
        link.symlink_to(tmp_path / "two")
        with pytest.raises(StoreUnavailable, match="was replaced"):
            store.commit(a_small_run("three"))
        assert [revision.partition for revision in store.revisions("orders")] == ["two"]
