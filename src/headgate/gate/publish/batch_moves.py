"""Moves batches between folders, durably; each step has a fault point, so that tests can kill it there.

Tested by `tests/gate/publish/test_publisher.py` and `tests/gate/publish/test_folders.py`.
"""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from headgate.gate.publish.publisher import Delivery
from headgate.store.fault_points import fault_point
from headgate.store.files.durable_files import make_durable, sync_folder, write_durably
from headgate.values.errors import PublishError


def take_staged(delivery: Delivery, source: Path, target: Path, name: str, hint: str) -> None:
    if not os.path.lexists(source):
        raise PublishError(f"there is no batch of {delivery} at {source}.", hint)
    if source.is_symlink():
        raise PublishError(f"{source} is a link; what it leads to could change later.", hint="Stage the data itself.")
    move_folder(source, target, name)


def move_folder(source: Path, target: Path, name: str) -> None:
    make_folder(target.parent)
    fault_point(f"folders.{name}")
    os.rename(source, target)
    fault_point(f"folders.{name}.done")
    sync_names(target.parent)
    sync_names(source.parent)


def write_file(file: Path, text: bytes) -> Path:
    """Write a small file, durably."""
    write_durably(file, text, points=("folders.write", "folders.fsync"))
    return file


def delete_batch(batch: Path) -> None:
    if os.path.lexists(batch):
        fault_point("folders.delete")
        shutil.rmtree(batch) if batch.is_dir() and not batch.is_symlink() else batch.unlink()
        fault_point("folders.delete.done")
        sync_names(batch.parent)


def remove_if_empty(folder: Path) -> None:
    """Take away the folder of a partition of which nothing is held any more."""
    with contextlib.suppress(OSError):
        folder.rmdir()


def sync_names(folder: Path) -> None:
    """Make the names in a folder durable."""
    sync_folder(folder, "folders.sync")


def make_folder(folder: Path) -> None:
    """Create a folder and its parents, each durable in the one above."""
    make_durable(folder, sync_point="folders.sync", make_point="folders.make")


@contextlib.contextmanager
def as_publish_error(place: Path) -> Iterator[None]:
    """The operating system's errors as ours."""
    try:
        yield
    except OSError as error:
        hint = ""
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            hint = "Free some space and call again."
        elif error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
            hint = "Whoever runs the gate must be allowed to write to staging, published and held; then call again."
        elif error.errno == errno.EXDEV:
            hint = "Put staging, published and held on one file system."
        where = error.filename or place
        raise PublishError(f"{where}: {error.strerror or type(error).__name__}.", hint) from None
