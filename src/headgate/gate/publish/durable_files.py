"""Moves in the file system of which each step has a name, so that a kill at any of them can be tried."""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

from headgate.gate.publish.publisher import Delivery
from headgate.store.fault_points import step
from headgate.values.errors import PublishError


def take(delivery: Delivery, source: Path, target: Path, name: str, hint: str) -> None:
    if not os.path.lexists(source):
        raise PublishError(f"there is no batch of {delivery} at {source}.", hint)
    if source.is_symlink():
        raise PublishError(f"{source} is a link; what it leads to could change later.", hint="Stage the data itself.")
    move(source, target, name)


def move(source: Path, target: Path, name: str) -> None:
    make(target.parent)
    step(f"folders.{name}")
    os.rename(source, target)
    step(f"folders.{name}.done")
    sync(target.parent)
    sync(source.parent)


def write(file: Path, text: bytes) -> Path:
    step("folders.write")
    with open(file, "wb") as written:
        written.write(text)
        written.flush()
        step("folders.fsync")
        os.fsync(written.fileno())
    return file


def delete(batch: Path) -> None:
    if os.path.lexists(batch):
        step("folders.delete")
        shutil.rmtree(batch) if batch.is_dir() and not batch.is_symlink() else batch.unlink()
        step("folders.delete.done")
        sync(batch.parent)


def leave(folder: Path) -> None:
    """Take away the folder of a partition of which nothing is held any more."""
    with contextlib.suppress(OSError):
        folder.rmdir()


def make(folder: Path) -> None:
    """A folder and those above it, each durable in the one above."""
    if not folder.is_dir():
        make(folder.parent)
        step("folders.make")
        with contextlib.suppress(FileExistsError):
            folder.mkdir()
        sync(folder.parent)


def sync(folder: Path) -> None:
    if sys.platform != "win32":
        step("folders.sync")
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


@contextlib.contextmanager
def told(place: Path) -> Iterator[None]:
    """The operating system's errors as ours."""
    try:
        yield
    except OSError as trouble:
        hint = ""
        if trouble.errno in (errno.ENOSPC, errno.EDQUOT):
            hint = "Free some space and call again."
        elif trouble.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
            hint = "Whoever runs the gate must be allowed to write to staging, published and held; then call again."
        elif trouble.errno == errno.EXDEV:
            hint = "Put staging, published and held on one file system."
        where = trouble.filename or place
        raise PublishError(f"{where}: {trouble.strerror or type(trouble).__name__}.", hint) from None
