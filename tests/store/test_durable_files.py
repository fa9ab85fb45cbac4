"""Durable files: each step has its fault point, in order, and what exists is left as it is."""

from __future__ import annotations

from pathlib import Path

import pytest

from headgate.store.fault_points import watch
from headgate.store.files.durable_files import make_durable, sync_folder, write_durably


def test_a_write_passes_its_points_and_then_the_file_is_there(tmp_path: Path) -> None:
    points: list[str] = []
    with watch(points.append):
        write_durably(tmp_path / "a", b"text", points=("write", "sync"))
    assert points == ["write", "sync"]
    assert (tmp_path / "a").read_bytes() == b"text"


def test_an_exclusive_write_leaves_what_is_there(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"old")
    with pytest.raises(FileExistsError):
        write_durably(tmp_path / "a", b"new", mode="xb", points=("write", "sync"))
    assert (tmp_path / "a").read_bytes() == b"old"


def test_each_missing_folder_is_made_and_synced_in_the_one_above(tmp_path: Path) -> None:
    points: list[str] = []
    with watch(points.append):
        make_durable(tmp_path / "a" / "b", sync_point="sync", make_point="make")
        make_durable(tmp_path / "a", sync_point="sync", make_point="make")
        sync_folder(tmp_path, "again")
    assert points == ["make", "sync", "make", "sync", "again"]
    assert (tmp_path / "a" / "b").is_dir()
