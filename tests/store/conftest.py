"""Every backend that is there, as fixtures: `reopen` opens the same store anew, `store` is one that was just opened."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from headgate.store.port import HistoryStore
from tests.store.backends import BACKENDS


@pytest.fixture(params=sorted(BACKENDS))
def reopen(request: pytest.FixtureRequest) -> Iterator[Callable[..., HistoryStore]]:
    """Opens a store that is this test's own; every call opens it again, as another process would."""
    with BACKENDS[request.param](request) as opener:
        opened: list[HistoryStore] = []

        def call(**options: object) -> HistoryStore:
            opened.append(opener(**options))
            return opened[-1]

        yield call
        for store in opened:
            store.close()


@pytest.fixture
def store(reopen: Callable[..., HistoryStore]) -> HistoryStore:
    return reopen()
