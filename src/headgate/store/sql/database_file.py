"""The file of a SQLite database, and how an open store notices that the file was deleted or replaced.

SQLite goes on with the file that it has open, also if no name leads to it any more: commits would be lost, and yet be
read back.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any
from urllib.parse import quote, unquote, urlsplit

from sqlalchemy import URL, Connection, Engine, event

from headgate.store.sql.connection import redact_url
from headgate.values.errors import StoreUnavailable

FileId = tuple[int, int]
"""Device and inode: no other file has them while this one is open."""

_FILE, _LOG = "headgate_file", "headgate_log"  # what a connection remembers of the files that it opened


class LostFile(StoreUnavailable):
    """The file of a database was deleted or replaced while a store had it open."""


class DatabaseFile:
    """The file of a SQLite database. Every connection of an engine is held against it.

    `must_exist` is set once the store is open: from then on a missing file is an error, and is not created.
    """

    def __init__(self, url: URL, engine: Engine) -> None:
        self.must_exist = False
        self._url = redact_url(url)
        name = engine.dialect.create_connect_args(url)[0][0]
        self._is_uri = name.startswith("file:")
        self._path = unquote(urlsplit(name).path) if self._is_uri else name
        self._known: FileId | None = None
        self._log: FileId | None = None
        event.listen(engine, "do_connect", self._connect)
        event.listen(engine, "connect", self._remember_log)

    def require_unchanged(self, connection: Connection) -> None:
        """Raise `LostFile` unless the path leads to the file that the connection and the store have open."""
        opened = connection.info[_FILE]
        there = _identify(self._path)
        if there != opened or self._known not in (None, opened):
            self._known = None
            raise self._describe_loss(there)
        self._known, self._log = opened, connection.info[_LOG]

    def _connect(self, dialect: Any, record: Any, arguments: Sequence[Any], parameters: dict[str, Any]) -> Any:
        """Open the file, and make sure that it is the one that was there just before."""
        before = _identify(self._path)
        if self.must_exist:
            self._refuse_old_log()
            if before is None:
                raise self._describe_loss(before)
            if not self._is_uri:
                arguments, parameters = [f"file:{quote(self._path)}?mode=rw"], {**parameters, "uri": True}
        connection = dialect.connect(*arguments, **parameters)
        record.info[_FILE] = after = _identify(self._path)
        if after is None or before not in (None, after):
            connection.close()
            raise self._describe_loss(after)
        return connection

    def _remember_log(self, connection: Any, record: Any) -> None:
        connection.execute("SELECT count(*) FROM sqlite_master")  # the first read opens the write-ahead log
        record.info[_LOG] = _identify(self._log_path)

    @property
    def _log_path(self) -> str:
        return f"{self._path}-wal"

    def _refuse_old_log(self) -> None:
        """SQLite would apply the log of the file that was there before to the one that is there now."""
        log = self._log_path
        is_old = self._known is None and self._log is not None and _identify(log) == self._log
        if is_old and os.path.getsize(log):
            raise LostFile(
                f"{self._url}: the file was replaced while the store was open, and {log} holds commits of the old one.",
                hint=f"Stop everything that uses the store, move {log} and {self._path}-shm away, and try again.",
            )

    def _describe_loss(self, there: FileId | None) -> LostFile:
        if there is None:
            return LostFile(
                f"{self._url}: the file was deleted while the store was open.",
                hint="Restore it, or open the store anew to begin an empty history.",
            )
        return LostFile(
            f"{self._url}: the file was replaced by another while the store was open.",
            hint="If that is right, try again: the store goes on with the file that is there now.",
        )


def _identify(path: str) -> FileId | None:
    try:
        found = os.stat(path)
    except FileNotFoundError:
        return None
    return found.st_dev, found.st_ino
