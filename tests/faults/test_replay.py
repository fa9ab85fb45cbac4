"""F6 and F7 over every store."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager

from headgate.store.open import open_store
from headgate.store.port import HistoryStore
from tests.faults.backends import Backend, unique
from tests.faults.replay import arrived_anyhow, replayed


@contextmanager
def opened(backend: Backend) -> Iterator[list[HistoryStore]]:
    stores: list[HistoryStore] = []
    yield stores
    for store in stores:
        store.close()


def test_as_of_any_commit_everything_reads_as_it_did_then(backend: Backend) -> None:
    url = backend.url()
    with opened(backend) as stores:

        def reopen() -> HistoryStore:
            stores.append(open_store(url))
            return stores[-1]

        assert replayed(reopen, unique("orders"), commits=30, seed=5) == 0


def test_partitions_stand_in_their_order_however_they_arrive(backend: Backend) -> None:
    with closing(open_store(backend.url())) as store:
        assert arrived_anyhow(store, unique("orders"), seed=5) == 0
