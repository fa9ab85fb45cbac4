"""The folder in which a stream keeps what it has measured: small files that are written whole or not at all."""

from __future__ import annotations

import re
import secrets
from functools import cached_property
from typing import TYPE_CHECKING

from headgate.engine.file_systems import open_file_system
from headgate.store.fault_points import fault_point
from headgate.values.errors import MisuseError, StoreUnavailable

if TYPE_CHECKING:
    from pyarrow.fs import FileSystem

_SCHEME = re.compile(r"([a-z][a-z0-9+.-]*):(?://)?", re.IGNORECASE)
_TEMPORARY = ".tmp-"
_MOUNT = "Name a local or mounted folder, s3://bucket/folder or another address that Arrow knows."


class StateFolder:
    """Files by name, in folders of one level. A file that is written again takes the place of the one before.

    Args:
        place: A local path, or the address of a folder on an object store.
    """

    def __init__(self, place: str) -> None:
        scheme = _SCHEME.match(place)
        if not place or "\0" in place:
            raise MisuseError("state= names no folder.", hint='Write state="/lake/checkpoints/clicks/headgate".')
        self.place = place
        self._scheme = "file" if scheme is None else scheme[1].lower()
        path = place if scheme is None else place[len(scheme[0]) :]
        self._root = ("/" + path.lstrip("/") if scheme and self._scheme == "file" else path).rstrip("/")

    def __getstate__(self) -> dict[str, str]:
        """Without the open file system: a worker of Spark opens its own."""
        return {name: value for name, value in self.__dict__.items() if name != "_files"}

    @cached_property
    def _files(self) -> FileSystem:
        return open_file_system(self._scheme, self._root.partition("/")[0], _MOUNT)

    def write(self, folder: str, name: str, data: bytes) -> None:
        """Write a file whole: a kill leaves the one that was there before, or none."""
        target = self._find_path(folder, name)
        whole = target
        try:
            if self._scheme == "file":  # an object store shows an object when it is complete
                self._files.create_dir(self._find_path(folder))
                whole = self._find_path(folder, f"{_TEMPORARY}{secrets.token_hex(8)}")
            fault_point("stream.write_state")
            with self._files.open_output_stream(whole) as file:
                file.write(data)
            fault_point("stream.state_written")
            if whole != target:
                self._files.move(whole, target)
        except OSError as error:
            raise _make_error(target, error) from None

    def read(self, folder: str, name: str) -> bytes | None:
        """The content of a file; None if it is not there."""
        path = self._find_path(folder, name)
        try:
            with self._files.open_input_stream(path) as file:
                return bytes(file.readall())
        except FileNotFoundError:
            return None
        except OSError as error:
            raise _make_error(path, error) from None

    def list(self, folder: str) -> list[str]:
        """The names of the files of a folder, sorted."""
        from pyarrow import fs

        path = self._find_path(folder)
        try:
            found = self._files.get_file_info(fs.FileSelector(path, allow_not_found=True))
        except OSError as error:
            raise _make_error(path, error) from None
        names = (each.base_name for each in found if each.type == fs.FileType.File)
        return sorted(name for name in names if not name.startswith(_TEMPORARY))

    def delete(self, folder: str, name: str) -> None:
        """Delete a file; nothing if it is not there."""
        path = self._find_path(folder, name)
        try:
            fault_point("stream.delete_state")
            self._files.delete_file(path)
        except FileNotFoundError:
            return
        except OSError as error:
            raise _make_error(path, error) from None

    def _find_path(self, *parts: str) -> str:
        return "/".join((self._root, *parts))


def _make_error(path: str, error: OSError) -> StoreUnavailable:
    reason = error.strerror or str(error).partition("\n")[0][:200] or type(error).__name__
    return StoreUnavailable(f"{path}: {reason.rstrip('.')}.", hint="The micro-batch is taken again at the next start.")
