"""Files of a stream's state: local and on an object store."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from pathlib import Path

import pytest

from headgate.integrations.streaming.state_folder import StateFolder
from headgate.store.fault_points import watch
from headgate.values.errors import MisuseError, StoreUnavailable
from tests.project.objects import name_folder
from tests.store.backends import s3_server
from tests.store.s3 import BUCKET


@pytest.fixture(params=["local", "file", "s3"])
def folder(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[StateFolder]:
    if request.param != "s3":
        yield StateFolder(str(tmp_path / "a b") if request.param == "local" else f"file://{tmp_path}/state")
        return
    with s3_server().used():
        yield StateFolder(f"s3a://{BUCKET}/{name_folder()}")


def test_files_are_written_read_listed_and_deleted(folder: StateFolder) -> None:
    assert folder.list("batches") == []
    assert folder.read("batches", "1") is None
    folder.write("batches", "2", b"two")
    folder.write("batches", "1", b"one")
    folder.write("batches", "1", b"once more")
    folder.write("windows", "7", b"")
    assert folder.list("batches") == ["1", "2"]
    assert folder.read("batches", "1") == b"once more"
    assert folder.read("windows", "7") == b""
    folder.delete("batches", "1")
    folder.delete("batches", "1")
    assert folder.list("batches") == ["2"]


def test_a_folder_goes_to_another_process(folder: StateFolder) -> None:
    folder.write("batches", "1", b"one")
    assert pickle.loads(pickle.dumps(folder)).read("batches", "1") == b"one"


@pytest.mark.parametrize("step", ["stream.write_state", "stream.state_written"])
def test_a_kill_leaves_the_file_that_was_there(step: str, tmp_path: Path) -> None:
    folder = StateFolder(str(tmp_path))
    folder.write("batches", "1", b"one")

    def fail(name: str) -> None:
        if name == step:
            raise KeyboardInterrupt

    with watch(fail), pytest.raises(KeyboardInterrupt):
        folder.write("batches", "1", b"other")
    assert folder.list("batches") == ["1"]
    assert folder.read("batches", "1") == b"one"


def test_what_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "state").write_text("a file", encoding="utf-8")
    with pytest.raises(StoreUnavailable, match="state"):
        StateFolder(str(tmp_path / "state")).write("batches", "1", b"one")


def test_no_folder_is_refused() -> None:
    with pytest.raises(MisuseError, match="names no folder"):
        StateFolder("")
