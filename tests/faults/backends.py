"""The stores that faults are tried on: each a way to get the address of a new, empty history."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

from tests.store import postgres
from tests.store.s3 import BUCKET, Server

_numbers = count(1)


@dataclass
class Backend:
    """`url` makes the address of another history; children need `environment` to open it."""

    name: str
    url: Callable[[], str]
    environment: dict[str, str] = field(default_factory=dict)
    server: Any = None


@contextmanager
def files(folder: Path) -> Iterator[Backend]:
    yield Backend("files", lambda: f"file://{folder}/history-{next(_numbers)}")


@contextmanager
def s3(folder: Path, *, drop: float = 0.0, seed: int = 0) -> Iterator[Backend]:
    with Server(drop=drop, seed=seed) as server, server.used():
        yield Backend("s3", lambda: f"s3://{BUCKET}/history-{next(_numbers)}", server.environment, server)


@contextmanager
def sqlite(folder: Path) -> Iterator[Backend]:
    yield Backend("sqlite", lambda: f"sqlite:///{folder}/history-{next(_numbers)}.db")


@contextmanager
def postgresql(folder: Path) -> Iterator[Backend]:
    programs = postgres.binaries()
    if programs is None:
        raise RuntimeError("PostgreSQL is not installed here")
    server = postgres.Server(programs)
    try:
        url = server.database()
        yield Backend("postgresql", lambda: url, server=server)
    finally:
        server.remove()


BACKENDS: dict[str, Callable[[Path], AbstractContextManager[Backend]]] = {
    "files": files,
    "s3": s3,
    "sqlite": sqlite,
    "postgresql": postgresql,
}


def unique(name: str) -> str:
    """A dataset's name that no other test of this process uses, for backends whose histories share one database."""
    return f"{name} {os.getpid()}-{next(_numbers)}"
