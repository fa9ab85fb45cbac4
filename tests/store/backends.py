"""The backends under test: for each, how to make a store of a test's own and open it as often as wanted."""

from __future__ import annotations

import atexit
import os
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import cache
from typing import Any

import pytest

from headgate.store.memory import MemoryStore
from headgate.store.open import open_store
from headgate.store.port import HistoryStore
from tests.store import postgres
from tests.store.azurite import CONTAINER, Azurite
from tests.store.s3 import BUCKET, Server

Opener = Callable[..., HistoryStore]


@contextmanager
def memory(request: pytest.FixtureRequest) -> Iterator[Opener]:
    kept: dict[str, MemoryStore] = {}

    def opener(**options: Any) -> HistoryStore:
        return kept.setdefault(repr(sorted(options)), MemoryStore(hide=options.get("values") != "plain"))

    yield opener


BACKENDS: dict[str, Callable[[pytest.FixtureRequest], AbstractContextManager[Opener]]] = {"memory": memory}


@contextmanager
def files(request: pytest.FixtureRequest) -> Iterator[Opener]:
    folder = request.getfixturevalue("tmp_path") / "history"
    yield lambda **options: open_store(f"file://{folder}", **options)


@contextmanager
def s3(request: pytest.FixtureRequest) -> Iterator[Opener]:
    with s3_server().used():
        folder = f"{time.monotonic_ns():x}"
        yield lambda **options: open_store(f"s3://{BUCKET}/{folder}", **options)


@cache
def s3_server() -> Server:
    """One for all tests, each of which has a folder of its own in its bucket."""
    server = Server().__enter__()
    atexit.register(server.stop)
    return server


BACKENDS |= {"files": files, "s3": s3}


@contextmanager
def sqlite(request: pytest.FixtureRequest) -> Iterator[Opener]:
    file = request.getfixturevalue("tmp_path") / "history.db"
    yield lambda **options: open_store(f"sqlite:///{file}", **options)


@contextmanager
def postgresql(request: pytest.FixtureRequest) -> Iterator[Opener]:
    url = postgres.server().database()
    yield lambda **options: open_store(url, **options)
    postgres.server().drop(url)


BACKENDS |= {"sqlite": sqlite, "postgresql": postgresql}


@contextmanager
def azure(request: pytest.FixtureRequest) -> Iterator[Opener]:
    with azurite().used():
        folder = f"{time.monotonic_ns():x}"
        yield lambda **options: open_store(f"az://{CONTAINER}/{folder}", **options)


@cache
def azurite() -> Azurite:
    """One for all tests."""
    server = Azurite(os.environ["HEADGATE_AZURITE"]).__enter__()
    atexit.register(server.stop)
    return server


if os.environ.get("HEADGATE_AZURITE"):  # the path of azurite-blob, which npm installs
    BACKENDS |= {"azure": azure}
