"""The two databases under measurement: where they are, how large they are, what a person asks them."""

from __future__ import annotations

import os
import sqlite3
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

from sqlalchemy import create_engine, text

from tests.store.postgres import Server, required


class Database(Protocol):
    url: str
    version: str

    def size(self) -> dict[str, int]:
        """Bytes: of all that the store made, and of the rest."""


class Sqlite:
    """A file in a new folder."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "history.db"
        self.url = f"sqlite:///{self.path}"
        self.version = f"SQLite {sqlite3.sqlite_version}"

    def size(self) -> dict[str, int]:
        asked(self.url, "PRAGMA wal_checkpoint(TRUNCATE)")
        return {"store": self.path.stat().st_size, "rest": 0}


class Postgresql:
    """A new database of a server with the settings it comes with: fsync and full_page_writes are on."""

    def __init__(self, server: Server) -> None:
        self.url = server.database()
        self.version = f"PostgreSQL {asked(self.url, 'SHOW server_version')}"

    def size(self) -> dict[str, int]:
        relations = "SELECT sum(pg_total_relation_size(oid)) FROM pg_class WHERE relkind = 'r' AND relnamespace = "
        store = int(str(asked(self.url, f"{relations}'public'::regnamespace")))
        whole = int(str(asked(self.url, "SELECT pg_database_size(current_database())")))
        return {"store": store, "rest": whole - store}


@contextmanager
def databases() -> Iterator[dict[str, Callable[[], Database]]]:
    """Makers of new, empty databases by name."""
    server = Server(required())
    with tempfile.TemporaryDirectory(prefix="headgate-history-") as folder:

        def sqlite() -> Sqlite:
            return Sqlite(Path(tempfile.mkdtemp(dir=folder)))

        try:
            yield {"SQLite": sqlite, "PostgreSQL": lambda: Postgresql(server)}
        finally:
            server.remove()


def asked(url: str, query: str) -> object:
    """The first value of the answer."""
    return told(url, query)[0][0]


def told(url: str, *statements: str) -> list[tuple[object, ...]]:
    """Run statements past the store; the answer to the last."""
    engine = create_engine(url)
    with engine.begin() as connection:
        answers = [connection.execute(text(each)) for each in statements]
        found = [tuple(row) for row in answers[-1]] if answers[-1].returns_rows else []
    engine.dispose()
    return found


def asking(url: str, query: str) -> Callable[[], int]:
    """A question put over one open connection; it gives the number of rows."""
    engine = create_engine(url)
    connection = engine.connect()
    return lambda: len(connection.execute(text(query)).all())


def fsync_milliseconds(times: int = 50) -> float:
    """How long this disk takes to make 8 KiB durable: no commit can be faster."""
    taken = []
    with tempfile.NamedTemporaryFile(prefix="headgate-fsync-") as file:
        for _ in range(times):
            begin = time.perf_counter()
            file.write(os.urandom(8192))
            file.flush()
            os.fsync(file.fileno())
            taken.append(time.perf_counter() - begin)
    return statistics.median(taken) * 1e3
