"""What only a store of files can get wrong: paths, temporaries, checkpoints, secrets, ranges, lost answers."""

from __future__ import annotations

import os
import time
from pathlib import Path

import msgspec
import pytest

from headgate.store.fault_points import watch
from headgate.store.files import FileStore, entry, log, places
from headgate.store.files.folder import Folder
from headgate.store.files.objects import Objects
from headgate.store.open import open_store
from headgate.values.errors import CorruptBytes, MisuseError, StoreUnavailable, UnknownRun
from headgate.values.key import MetricKey
from headgate.values.run import Decision
from tests.faults.work import Item
from tests.store.backends import s3_server
from tests.store.runs import a_small_run
from tests.store.s3 import BUCKET

HOSTILE = [
    "../..",
    "/",
    "/etc/passwd",
    "%",
    "%2e%2e%2f",
    "a\0b",
    "orders",
    "Orders",
    "x" * 1000,
    ".",
    "tmp",
    "ü\n",
    "C:\\x",
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "history"


@pytest.fixture
def store(folder: Path) -> FileStore:
    return FileStore.open(f"file://{folder}")


@pytest.fixture
def bucket(monkeypatch: pytest.MonkeyPatch) -> str:
    for name, value in s3_server().environment.items():
        monkeypatch.setenv(name, value)
    return f"s3://{BUCKET}/{time.monotonic_ns():x}"


@pytest.mark.parametrize("name", HOSTILE)
def test_whatever_its_name_a_dataset_stays_under_the_root(name: str, store: FileStore, folder: Path) -> None:
    store.commit(a_small_run(name, dataset=name))
    every = [path.relative_to(folder.parent) for path in folder.parent.rglob("*")]
    assert {path.parts[0] for path in every} == {"history"}
    assert all(
        set(part) <= set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.")
        for path in every
        for part in path.parts
    )
    assert max(len(part) for path in every for part in path.parts) <= 77
    assert store.datasets() == (name,)


def test_names_that_differ_only_in_case_have_folders_that_differ_in_more() -> None:
    folders = {places.dataset_folder(name).lower() for name in HOSTILE}
    assert len(folders) == len(HOSTILE)


def test_temporaries_of_dead_writers_are_swept_after_a_day(store: FileStore, folder: Path) -> None:
    old, new = folder / "tmp" / "1-dead", folder / "tmp" / "2-alive"
    for path in (old, new):
        path.write_bytes(b"half")
    os.utime(old, (time.time() - 90_000, time.time() - 90_000))
    FileStore.open(f"file://{folder}")
    assert not old.exists()
    assert new.exists()


def test_a_folder_that_cannot_be_written_says_so(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(StoreUnavailable, match="file"):
        open_store(f"file://{tmp_path}/file/history")


@pytest.mark.parametrize(
    "url", ["file://elsewhere/dq", "file:relative", "file:///a#b", "s3:///folder", "s3://key:secret@bucket/x"]
)
def test_an_address_that_names_no_place_is_refused_without_repeating_a_secret(url: str) -> None:
    with pytest.raises(MisuseError) as refused:
        open_store(url)
    assert "secret@" not in str(refused.value)


def test_checkpoints_are_written_and_then_spare_reading_the_log(
    folder: Path, store: FileStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(log, "CHECKPOINT_AFTER", 5)
    for at in range(14):
        store.commit(a_small_run(f"p{at}", seed=at))
    here = folder / places.dataset_folder("orders")
    assert [path.name[17:20] for path in sorted((here / "checkpoints").iterdir())] == ["006", "012"]
    for path in sorted((here / "log").iterdir())[:12]:
        path.write_bytes(b"not needed to list the history")
    assert [each.sequence for each in FileStore.open(f"file://{folder}").revisions("orders")] == list(range(1, 15))


@pytest.mark.parametrize("spoil", [lambda path: path.unlink(), lambda path: path.write_bytes(path.read_bytes()[:-1])])
def test_a_missing_or_corrupt_checkpoint_is_no_loss(
    spoil: object, folder: Path, store: FileStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(log, "CHECKPOINT_AFTER", 5)
    for at in range(14):
        store.commit(a_small_run(f"p{at}", seed=at))
    for path in (folder / places.dataset_folder("orders") / "checkpoints").iterdir():
        spoil(path)  # type: ignore[operator]
    assert FileStore.open(f"file://{folder}").revisions("orders") == store.revisions("orders")


def test_a_commit_that_was_taken_out_of_the_log_is_noticed(folder: Path, store: FileStore) -> None:
    for at in range(3):
        store.commit(a_small_run(f"p{at}", seed=at))
    (folder / places.entry_path(places.dataset_folder("orders"), 2)).unlink()
    with pytest.raises(CorruptBytes, match=r"0002\.hg is missing"):
        FileStore.open(f"file://{folder}").revisions("orders")


def test_an_entry_of_another_log_is_refused(folder: Path, store: FileStore) -> None:
    store.commit(a_small_run("p1", dataset="one"))
    store.commit(a_small_run("p1", dataset="two"))
    one, two = (folder / places.entry_path(places.dataset_folder(name), 1) for name in ("one", "two"))
    one.write_bytes(two.read_bytes())
    with pytest.raises(CorruptBytes, match=r"one-.*/log/0000"):
        FileStore.open(f"file://{folder}").revisions("one")


def test_a_revision_of_another_history_is_unknown(store: FileStore, tmp_path: Path) -> None:
    other = FileStore.open(f"file://{tmp_path}/other")
    store.commit(a_small_run("p1"))
    with pytest.raises(UnknownRun):
        store.run(other.commit(a_small_run("p1", seed=2)))


def test_a_given_secret_is_not_stored_and_must_be_given_again(folder: Path) -> None:
    first = open_store(f"file://{folder}", secret="canary-secret")
    assert first.secret == b"canary-secret"
    assert b"canary" not in b"".join(path.read_bytes() for path in folder.rglob("*.hg"))
    for given in (None, "another"):
        with pytest.raises(MisuseError, match="secret") as refused:
            open_store(f"file://{folder}", secret=given)
        assert "canary" not in str(refused.value)
    assert open_store(f"file://{folder}", secret="canary-secret").secret == first.secret
    assert open_store(f"file://{folder}", values="plain").secret is None


def test_a_store_that_keeps_its_secret_gives_everybody_the_same(folder: Path, store: FileStore) -> None:
    assert store.secret is not None
    assert FileStore.open(f"file://{folder}").secret == store.secret
    assert FileStore.open(f"file://{folder}", hide=False).secret is None


class _Counting(Folder):
    """Counts the bytes that are read."""

    read_bytes = 0

    def read(self, path: str, start: int = 0, size: int | None = None) -> bytes | None:
        data = super().read(path, start, size)
        self.read_bytes += len(data or b"")
        return data

    def read_parts(self, path: str, parts: object) -> list[bytes]:
        found = super().read_parts(path, parts)  # type: ignore[arg-type]
        self.read_bytes += sum(map(len, found))
        return found


def test_listing_reads_no_states_and_one_state_is_read_without_the_others(folder: Path, store: FileStore) -> None:
    run = Item("orders", "p1", 1).run()
    (state,) = [each for key, each in run.states.items() if key.name == "value_distribution"]
    noise = {MetricKey("value_distribution", (f"c{at}",)): _noisy(state, at) for at in range(40)}
    run = msgspec.structs.replace(run, states={**run.states, **noise})
    revision = store.commit(run)
    size = (folder / places.entry_path(places.dataset_folder("orders"), 1)).stat().st_size
    assert size > 1 << 18
    counting = _Counting(folder)
    reader = FileStore(counting)
    assert reader.revisions("orders") == (revision,)
    assert counting.read_bytes < 6_000
    (found,) = reader.states([revision], ["completeness(price)"])
    assert list(found.values()) == [run.states[MetricKey("completeness", ("price",))]]
    assert counting.read_bytes < 20_000


def _noisy(state: object, seed: int) -> object:
    import numpy as np

    chance = np.random.default_rng(seed)
    labels = [chance.bytes(12).hex() for _ in range(500)]
    return type(state).of(np.ones(500, np.int64), lambda at: [labels[each] for each in at], 512)  # type: ignore[attr-defined]


def test_numbers_take_eight_bytes_a_value(folder: Path, store: FileStore) -> None:
    import random

    from headgate.values.outcome import Measured

    chance = random.Random(1)
    for at in range(3):
        outcomes = {MetricKey("mean", (f"column {each}",)): Measured(chance.random()) for each in range(6_000)}
        store.commit(msgspec.structs.replace(a_small_run(f"p{at}", seed=at), outcomes=outcomes))
    here = folder / places.dataset_folder("orders")
    assert len(list((here / "layouts").iterdir())) == 2, "one for the numbers of all runs, one for no states"
    assert max(path.stat().st_size for path in (here / "log").iterdir()) < 6_000 * 8.2


def test_a_ruling_whose_answer_is_lost_is_recorded_once_even_if_overruled_at_once(bucket: str) -> None:
    mine, other = open_store(bucket), open_store(bucket)
    mine.commit(a_small_run("p1"))
    lost = []

    def watcher(name: str) -> None:
        if name == "objects.put_done" and not lost:
            lost.append(name)
            other.decide("orders", "p1", Decision.ACCEPTED)
            raise ConnectionResetError("the answer is lost")

    with watch(watcher):
        ruling = mine.decide("orders", "p1", Decision.HELD)
    assert (ruling.decision, ruling.sequence) == (Decision.HELD, 2)
    assert [each.decision for each in other.rulings("orders")] == [Decision.HELD, Decision.ACCEPTED]
    for each in (mine, other):
        each.close()


def test_a_conflict_without_an_object_is_tried_again(bucket: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """S3 answers 409 when two puts cross; neither may be there yet."""
    from headgate.store.files import objects

    store, put, refused = open_store(bucket), objects.obstore.put, []

    def crossing(*arguments: object, **options: object) -> object:
        if "/log/" in str(arguments[1]) and not refused:
            refused.append(arguments[1])
            raise objects.AlreadyExistsError("409 Conflict")
        return put(*arguments, **options)

    monkeypatch.setattr(objects.obstore, "put", crossing)
    assert store.commit(a_small_run("p1")).sequence == 1
    assert refused
    store.close()


def test_a_server_that_does_not_answer_is_waited_for_and_then_given_up(
    bucket: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = open_store(bucket)
    blobs = store._blobs  # type: ignore[attr-defined]
    assert isinstance(blobs, Objects)
    store.commit(a_small_run("p1"))
    blobs.patience = 0.3
    monkeypatch.setattr("headgate.store.files.objects.obstore.put", _refusing)
    monkeypatch.setattr("headgate.store.files.objects.obstore.get", _refusing)
    with pytest.raises(StoreUnavailable, match=r"status 503") as given_up:
        store.commit(a_small_run("p2"))
    assert "signature" not in str(given_up.value)
    store.close()


def _refusing(*_: object, **__: object) -> None:
    raise OSError("Server returned 503 Service Unavailable for http://127.0.0.1/x?signature=abc")


def test_wrong_addresses_on_an_object_store_are_told_without_secrets(
    bucket: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(StoreUnavailable, match="no such bucket") as missing:
        open_store("s3://nowhere/dq")
    monkeypatch.setattr(Objects, "patience_by_default", 0.2)
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    with pytest.raises(StoreUnavailable, match="does not answer") as silent:
        open_store(bucket)
    for trouble in (missing, silent):
        assert "canary" not in str(trouble.value)


def test_entries_that_are_no_commit_are_refused() -> None:
    with pytest.raises(CorruptBytes, match="neither"):
        _ = entry.Entry().commit
