"""Objects in a local folder: written to a temporary file, synced, then linked, which fails if the name is taken."""

from __future__ import annotations

import contextlib
import errno
import os
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from secrets import token_hex
from typing import ClassVar, TypeVar
from urllib.parse import unquote, urlsplit

from headgate.store.fault_points import fault_point
from headgate.store.files.blobs import ByteSpan
from headgate.store.files.durable_files import make_durable, sync_folder, write_durably
from headgate.store.files.places import object_name
from headgate.values.errors import MisuseError, StoreUnavailable

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")

_SYNC = "files.fsync_dir"
_ABANDONED = 86_400.0  # seconds after which the writer of a temporary file is assumed dead
_UNLINKABLE = {errno.EPERM, errno.EOPNOTSUPP, errno.EXDEV, errno.EMLINK, errno.ENOSYS}


class Folder:
    """A folder on a file system with hard links."""

    kind: ClassVar = "files"

    def __init__(self, root: Path) -> None:
        self.root = root
        self.patience = 60.0
        self._temporary_folder = root / "tmp"
        with _translate_errors(root):
            make_durable(self._temporary_folder, sync_point=_SYNC)
            self._remove_abandoned()

    @classmethod
    def at(cls, url: str) -> Folder:
        parts = urlsplit(url)
        path = unquote(parts.path)
        odd = parts.netloc not in ("", "localhost") or parts.query or parts.fragment or "\0" in path
        if odd or not path.startswith("/"):
            raise MisuseError(
                f"{url} does not name a folder.", hint="Write file:/// and the whole path: file:///data/dq."
            )
        return cls(Path(path))

    def put(self, path: str, data: bytes) -> bool:
        target = self.root / path
        if target.exists():
            return False
        temporary = self._temporary_folder / f"{os.getpid()}-{token_hex(8)}"
        try:
            with _translate_errors(target):
                make_durable(target.parent, sync_point=_SYNC)
                write_durably(temporary, data, mode="xb", points=("files.write_tmp", "files.fsync"))
                return _link_into_place(temporary, target)
        finally:
            with contextlib.suppress(OSError):
                fault_point("files.unlink_tmp")
                temporary.unlink(missing_ok=True)

    def read(self, path: str, start: int = 0, size: int | None = None) -> bytes | None:
        with _translate_errors(self.root / path):
            try:
                with open(self.root / path, "rb", buffering=0) as file:
                    return _read_range(file.fileno(), start, size)
            except FileNotFoundError:
                return None

    def read_parts(self, path: str, parts: Sequence[tuple[int, int]]) -> list[bytes]:
        with _translate_errors(self.root / path), open(self.root / path, "rb", buffering=0) as file:
            return [_read_range(file.fileno(), start, size) for start, size in parts]

    def names(self, folder: str, after: int) -> list[str]:
        last = object_name(after)
        with _translate_errors(self.root / folder):
            try:
                return [name for name in os.listdir(self.root / folder) if name > last]
            except FileNotFoundError:
                return []

    def folders(self) -> list[str]:
        with _translate_errors(self.root), os.scandir(self.root) as entries:
            return [each.name for each in entries if each.is_dir()]

    def settle(self, path: str) -> None:
        with _translate_errors(self.root / path):
            sync_folder((self.root / path).parent, _SYNC)

    def each(
        self, call: Callable[[_Item], _Result], items: Iterable[_Item], reads: Iterable[ByteSpan] = ()
    ) -> Iterator[_Result]:
        return map(call, items)

    def close(self) -> None:
        pass

    def _remove_abandoned(self) -> None:
        for file in self._temporary_folder.iterdir():
            with contextlib.suppress(FileNotFoundError):
                if time.time() - file.stat().st_mtime > _ABANDONED:
                    file.unlink()


def _link_into_place(temporary: Path, target: Path) -> bool:
    fault_point("files.link")
    try:
        os.link(temporary, target)
    except FileExistsError:
        return False
    fault_point("files.linked")
    sync_folder(target.parent, _SYNC)
    return True


def _read_range(handle: int, start: int, size: int | None) -> bytes:
    left = os.fstat(handle).st_size - start if size is None else size
    chunks = []
    while left > 0 and (chunk := os.pread(handle, left, start)):
        chunks.append(chunk)
        start, left = start + len(chunk), left - len(chunk)
    return chunks[0] if len(chunks) == 1 else b"".join(chunks)


@contextlib.contextmanager
def _translate_errors(path: Path) -> Iterator[None]:
    """Raise `StoreUnavailable` in place of the operating system's errors."""
    try:
        yield
    except OSError as error:
        hint = ""
        if error.errno in _UNLINKABLE:
            hint = "The folder needs a file system with hard links."
        elif error.errno in (errno.ENOSPC, errno.EDQUOT):
            hint = "Free some space and run again: the history is as it was."
        elif error.errno == errno.ENOENT:
            hint = "If the folder was deleted, restore it, or open the store anew to begin an empty history."
        raise StoreUnavailable(f"{path}: {error.strerror or type(error).__name__}.", hint) from None
