"""Plain folders: what lies where, names that would lead out of the root, disks that are full, readers who look on."""

from __future__ import annotations

import errno
import json
import os
import shutil
import threading
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.gate.publish.folders import Folders
from headgate.gate.publish.publisher import Delivery, folder_name
from headgate.store.fault_points import watch
from headgate.values.errors import CorruptBytes, MisuseError, NewerFormat, PublishError
from tests.gate.publish.lakes import DAY, read_folder, stage_folder
from tests.gate.publish.test_publisher import delivery

HOSTILE = [
    *("../up", "../../etc/passwd", "/", "//", "/etc", "a/b", "a\\b", ".", "..", "...", "%", "%2F", "%2E%2E", "a%00b"),
    *("nul\0nul", "_data", "_manifests", ".hidden", "_day=1", "day=a/b:c", "~", "x~good", "x~bad", "new\nline", " "),
    *("ü", "日付=2026", "\ud800", "*?[]{}", "lock", "day=1.json", "a" * 1000, "/" * 1000, "日" * 1000, "é" * 1000),
]


@pytest.fixture(params=[False, True], ids=["plain", "manifest"])
def folders(request: pytest.FixtureRequest, tmp_path: Path) -> Folders:
    return Folders(tmp_path / "lake", manifest=request.param)


def published(folders: Folders, batch: Delivery, text: str = "rows") -> Path:
    stage_folder(folders.staging_path(batch.partition, batch.part), text)
    return Path(folders.publish(batch))


def everything(root: Path) -> set[Path]:
    return {Path(folder) / name for folder, below, files in os.walk(root) for name in (*below, *files)}


def test_a_plain_batch_lies_under_its_own_name(tmp_path: Path) -> None:
    published(Folders(tmp_path), delivery())
    assert read_folder(tmp_path / "published" / DAY) == "rows"


def test_all_else_under_published_begins_with_an_underscore_so_that_spark_does_not_see_it(tmp_path: Path) -> None:
    for manifest, seen in ((False, [DAY]), (True, [])):
        folders = Folders(tmp_path / str(manifest), manifest=manifest)
        for number in (1, 2):
            published(folders, delivery(number))
        names = os.listdir(tmp_path / str(manifest) / "published")
        assert [each for each in names if not each.startswith("_")] == seen


def test_folders_may_lie_elsewhere(tmp_path: Path) -> None:
    folders = Folders(tmp_path, published=tmp_path / "lake" / "orders", held="quarantine")
    assert published(folders, delivery()) == tmp_path / "lake" / "orders" / DAY
    stage_folder(folders.staging_path(DAY), "later")
    assert Path(folders.hold(delivery(2))).is_relative_to(tmp_path / "quarantine")


def test_the_manifest_tells_other_programs_where_the_batch_is(folders: Folders, tmp_path: Path) -> None:
    place = published(folders, delivery(4))
    manifest = json.loads((tmp_path / "lake" / "published" / "_manifests" / f"{DAY}.json").read_text())
    assert tmp_path / "lake" / "published" / manifest["path"] == place == folders.path(DAY)
    assert manifest["delivery"]["number"] == 4


def test_a_partition_that_is_not_published_has_no_path(folders: Folders) -> None:
    with pytest.raises(PublishError, match="no batch of 'day=2026-11-14' is published"):
        folders.path(DAY)
    assert folders.paths() == {}


def test_a_batch_that_was_there_before_is_put_away_and_not_lost(tmp_path: Path) -> None:
    folders = Folders(tmp_path)
    stage_folder(tmp_path / "published" / DAY, "before")
    assert read_folder(published(folders, delivery(), "rows")) == "rows"
    assert read_folder(tmp_path / "published" / "_data" / DAY / "0-unknown") == "before"


def test_nothing_is_left_of_a_partition_of_which_nothing_is_held(folders: Folders, tmp_path: Path) -> None:
    for number, end in ((1, folders.discard), (2, folders.release)):
        stage_folder(folders.staging_path(DAY), "rows")
        folders.hold(delivery(number))
        assert os.listdir(tmp_path / "lake" / "held") == [DAY] or number == 2
        end(delivery(number))
        assert DAY not in os.listdir(tmp_path / "lake" / "held")


def test_what_a_killed_discard_left_is_swept(folders: Folders, tmp_path: Path) -> None:
    stage_folder(folders.staging_path(DAY), "rows")
    folders.hold(delivery())
    with watch(refusing("folders.delete", errno.EIO)), pytest.raises(PublishError):
        folders.discard(delivery())
    folders.sweep()
    assert not [each for each in everything(tmp_path) if each.name.startswith("part-")]


def test_a_batch_that_is_half_deleted_cannot_be_released(folders: Folders, monkeypatch: pytest.MonkeyPatch) -> None:
    stage_folder(folders.staging_path(DAY), "rows")
    folders.hold(delivery())

    def half(place: Path) -> None:
        (place / "part-1.txt").unlink()
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    with monkeypatch.context() as broken:
        broken.setattr(shutil, "rmtree", half)
        with pytest.raises(PublishError, match="Input/output error"):
            folders.discard(delivery())
    assert folders.state(delivery()) == "absent"
    with pytest.raises(PublishError, match="Only a held batch"):
        folders.release(delivery())
    folders.discard(delivery())
    assert not [each for each in everything(folders.staging_path(DAY).parent.parent) if each.name.startswith("part-")]


def test_replaced_batches_stay_until_they_are_swept(folders: Folders) -> None:
    for number in (1, 2, 3):
        published(folders, delivery(number), f"number {number}")
    assert folders.sweep() == 0
    assert folders.sweep(older_than=-1) == 2
    assert folders.sweep(older_than=-1) == 0
    assert read_folder(folders.path(DAY)) == "number 3"


def test_a_batch_that_waits_is_not_swept(folders: Folders) -> None:
    published(folders, delivery(1))
    stage_folder(folders.staging_path(DAY), "new")
    with watch(refusing("folders.write", errno.ENOSPC)), pytest.raises(PublishError):
        folders.publish(delivery(2))
    assert folders.sweep(older_than=-1) == 0
    assert read_folder(Path(folders.publish(delivery(2)))) == "new"


# Names.


@pytest.mark.parametrize("partition", HOSTILE, ids=lambda name: ascii(name[:12]))
def test_a_hostile_partition_stays_under_the_root(folders: Folders, tmp_path: Path, partition: str) -> None:
    batch, bad = delivery(partition=partition), delivery(2, partition, "bad")
    (tmp_path / "outside").write_text("untouched")
    published(folders, batch, "rows")
    assert {partition: "rows"} == {name: read_folder(place) for name, place in folders.paths().items()}
    stage_folder(folders.staging_path(partition, "bad"), "bad")
    folders.hold(bad)
    assert (folders.state(batch), folders.state(bad)) == ("published", "held")
    folders.discard(bad)
    assert set(os.listdir(tmp_path)) == {"lake", "outside"}
    lake = tmp_path / "lake"
    assert {len(each.relative_to(lake / "published").parts) for each in [folders.path(partition)]} <= {1, 3}


@given(st.lists(st.text(st.characters(), min_size=1, max_size=300), min_size=2, max_size=2, unique=True))
def test_different_partitions_have_different_harmless_names(partitions: list[str]) -> None:
    one, other = map(folder_name, partitions)
    assert one != other
    for name in (one, other):
        assert 0 < len(name) <= 180
        assert name[0] not in "._"
        assert set(name) <= set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789=._-%~")


def test_hostile_names_are_told_apart() -> None:
    names = {folder_name(each) for each in HOSTILE} | {folder_name(folder_name("a" * 1000))}
    assert len(names) == len(HOSTILE) + 1


def test_two_datasets_may_not_share_a_root(folders: Folders) -> None:
    published(folders, delivery())
    other = Delivery("customers", DAY, 2, delivery(2).key)
    stage_folder(folders.staging_path(DAY), "customers")
    for call in (folders.publish, folders.hold, folders.discard, folders.state):
        with pytest.raises(MisuseError, match="a root of its own"):
            call(other)
    assert read_folder(folders.path(DAY)) == "rows"


def test_a_link_is_not_a_batch(folders: Folders, tmp_path: Path) -> None:
    stage_folder(tmp_path / "elsewhere", "rows")
    folders.staging_path(DAY).symlink_to(tmp_path / "elsewhere")
    for call in (folders.publish, folders.hold):
        with pytest.raises(PublishError, match="is a link"):
            call(delivery())
    assert folders.paths() == {}


# What is refused.


def test_two_file_systems_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Folders(tmp_path)
    real = os.stat

    def stat(path: str | Path, **options: bool) -> object:
        found = real(path, **options)
        return SimpleNamespace(st_dev=-1, st_mode=found.st_mode) if Path(path) == tmp_path / "held" else found

    monkeypatch.setattr(os, "stat", stat)
    with pytest.raises(MisuseError, match="not on one file system"):
        Folders(tmp_path)


@pytest.mark.parametrize("places", [{"staging": "published/new"}, {"held": "staging"}, {"published": "."}])
def test_a_folder_inside_another_is_refused(tmp_path: Path, places: dict[str, str]) -> None:
    with pytest.raises(MisuseError, match="side by side"):
        Folders(tmp_path, **places)  # type: ignore[arg-type]
    assert everything(tmp_path) == set()


def test_the_two_forms_do_not_mix(tmp_path: Path) -> None:
    for manifest in (False, True):
        published(Folders(tmp_path / str(manifest), manifest=manifest), delivery())
        with pytest.raises(MisuseError, match=f"Open the folders with manifest={manifest}"):
            Folders(tmp_path / str(manifest), manifest=not manifest).state(delivery())


@pytest.mark.parametrize(
    "change",
    [
        lambda _: b"",
        lambda text: text[:-9],
        lambda _: b"[1]",
        lambda _: b"\xff{",
        lambda text: text.replace(b'"key": "', b'"key": "../'),
    ],
)
def test_a_damaged_manifest_is_refused(folders: Folders, tmp_path: Path, change: Callable[[bytes], bytes]) -> None:
    place = published(folders, delivery())
    file = tmp_path / "lake" / "published" / "_manifests" / f"{DAY}.json"
    file.write_bytes(change(file.read_bytes()))
    stage_folder(folders.staging_path(DAY), "new")
    for call in (folders.state, folders.publish):
        with pytest.raises(CorruptBytes, match="is not a manifest"):
            call(delivery(2))
    assert read_folder(place) == "rows"


def test_a_manifest_that_leads_elsewhere_is_not_followed(folders: Folders, tmp_path: Path) -> None:
    published(folders, delivery())
    file = tmp_path / "lake" / "published" / "_manifests" / f"{DAY}.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | {"path": "../../secret"}))
    with pytest.raises(MisuseError):
        folders.path(DAY)


def test_a_newer_manifest_is_refused(folders: Folders, tmp_path: Path) -> None:
    published(folders, delivery())
    file = tmp_path / "lake" / "published" / "_manifests" / f"{DAY}.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | {"format": 2}))
    with pytest.raises(NewerFormat, match=r"format 2.*Upgrade headgate"):
        folders.state(delivery())


# Trouble of the operating system.


def refusing(name: str, code: int) -> Callable[[str], None]:
    def watcher(step: str) -> None:
        if step == name:
            raise OSError(code, os.strerror(code))

    return watcher


@pytest.mark.parametrize("name", ["folders.make", "folders.claim", "folders.write", "folders.fsync", "folders.point"])
def test_a_full_disk_is_told_and_the_call_goes_on_when_there_is_room(folders: Folders, name: str) -> None:
    stage_folder(folders.staging_path(DAY), "rows")
    with watch(refusing(name, errno.ENOSPC)), pytest.raises(PublishError, match=r"No space left.*Free some space"):
        folders.publish(delivery())
    assert folders.paths() == {}
    assert folders.state(delivery()) == ("staged" if name in ("folders.make", "folders.claim") else "held")
    assert read_folder(Path(folders.publish(delivery()))) == "rows"


def test_a_folder_that_may_not_be_written_is_told(folders: Folders) -> None:
    stage_folder(folders.staging_path(DAY), "rows")
    with (
        watch(refusing("folders.hold", errno.EACCES)),
        pytest.raises(PublishError, match=r"denied.*allowed to write"),
    ):
        folders.hold(delivery())
    assert folders.state(delivery()) == "staged"


def test_a_root_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "lake").write_text("a file")
    with pytest.raises(PublishError, match="lake"):
        Folders(tmp_path / "lake")


# Readers who look on.


def test_a_reader_of_a_manifest_sees_every_batch_whole_and_never_a_gap(tmp_path: Path) -> None:
    folders, revisions, seen = Folders(tmp_path, manifest=True), 150, list[int]()
    published(folders, delivery(1), "1")
    over, troubles = threading.Event(), list[BaseException]()

    def look() -> None:
        try:
            while not over.is_set():
                seen.append(int(read_folder(folders.path(DAY))))
        except BaseException as trouble:
            troubles.append(trouble)

    reader = threading.Thread(target=look)
    reader.start()
    for number in range(2, revisions + 1):
        published(folders, delivery(number), str(number))
    over.set()
    reader.join()
    assert troubles == []
    assert seen == sorted(seen)
    assert len(set(seen)) > 10, "the reader hardly looked"


def test_a_reader_of_plain_folders_sees_a_batch_whole_or_not_at_all(tmp_path: Path) -> None:
    folders, over, listed = Folders(tmp_path), threading.Event(), set[int]()

    def look() -> None:
        while not over.is_set():
            try:
                listed.add(len(os.listdir(tmp_path / "published" / DAY)))
            except FileNotFoundError:
                listed.add(0)

    reader = threading.Thread(target=look)
    reader.start()
    for number in range(1, 151):
        published(folders, delivery(number), str(number))
    over.set()
    reader.join()
    assert listed <= {0, 3}
    assert 3 in listed
