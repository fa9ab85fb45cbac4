"""Moves batches between folders, durably; each step has a fault point, so that tests can kill it there.

Tested by `tests/gate/publish/test_publisher.py` and `tests/gate/publish/test_folders.py`.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import shutil
import stat
from collections.abc import Iterator
from pathlib import Path

from headgate.gate.publish.publisher import Delivery
from headgate.store.fault_points import fault_point
from headgate.store.files.durable_files import make_durable, sync_folder, write_durably
from headgate.values.errors import InputChanged, PublishError

_SOURCE = "files:"  # prefix of what identifies an input in folders


def take_batch(delivery: Delivery, source: Path, target: Path, name: str, hint: str) -> None:
    """Move a batch, if it is the one that was judged. It is compared again after the move: it may change until then."""
    if not os.path.lexists(source):
        raise PublishError(f"there is no batch of {delivery} at {source}.", hint)
    require_same_files(delivery, source)
    move_folder(source, target, name)
    try:
        require_same_files(delivery, target)
    except PublishError:
        give_back(target, source)
        raise


def require_same_files(delivery: Delivery, place: Path) -> None:
    """Raise `InputChanged` unless the batch in a place is the one that was judged."""
    if identify_files(place) != delivery.source and delivery.source:
        raise InputChanged(
            f"{place} holds other files than those that were judged as {delivery}.",
            hint="Stage what is there now, and judge it: it is a new revision.",
        )


def give_back(place: Path, origin: Path) -> None:
    """Put a batch that was taken by mistake back where it came from, or beside it if another one is there by now."""
    move_folder(place, find_free(origin), "give_back")


def find_free(path: Path) -> Path:
    """The path, or if there is something the next one with a number that is free."""
    numbered = (path.with_name(f"{path.name}~{number}") for number in range(2, 10_000))
    return next(each for each in (path, *numbered) if not os.path.lexists(each))


def identify_files(place: Path) -> str:
    """A hash of the names, sizes, times and inodes of all files of a batch, none of which a rename changes.

    Raises `PublishError` if a part of it is a link: what it leads to could change later.
    """
    digest = hashlib.sha256()
    for path in _walk(place):
        found = os.lstat(path)
        if not stat.S_ISREG(found.st_mode) and not stat.S_ISDIR(found.st_mode):
            what = "link; what it leads to could change later" if stat.S_ISLNK(found.st_mode) else "device or a pipe"
            raise PublishError(f"{path} is a {what}.", hint="Stage the data itself.")
        if stat.S_ISREG(found.st_mode):
            name = os.fsencode(path.relative_to(place))
            digest.update(b"%d %b %d %d %d\0" % (len(name), name, found.st_size, found.st_mtime_ns, found.st_ino))
    return f"{_SOURCE}{digest.hexdigest()[:40]}"


def _walk(place: Path) -> Iterator[Path]:
    """A file, or all that is in a folder, sorted by name."""
    yield place
    if place.is_dir() and not place.is_symlink():
        for name in sorted(os.listdir(place)):
            yield from _walk(place / name)


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


def delete_file(file: Path) -> None:
    fault_point("folders.delete")
    file.unlink(missing_ok=True)
    fault_point("folders.delete.done")
    sync_names(file.parent)


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
