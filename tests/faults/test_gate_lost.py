"""F5 through the gate, the short form: lost answers and servers that go away."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from headgate.store.open import open_store
from headgate.store.sql.store import SqlStore
from headgate.values.errors import StoreUnavailable
from tests.faults.backends import Backend, files, postgresql, unique
from tests.faults.gate_down import died_at_every_call
from tests.faults.gate_lost import dropped_by_s3, restarted_postgresql
from tests.faults.gate_work import Batch, Lake, judged
from tests.store import postgres


def test_lost_answers_change_no_verdict(tmp_path: Path) -> None:
    row = dropped_by_s3(tmp_path, processes=1, days=9, seed=3, share=0.2)
    assert (row.leaked, row.lost, row.doubled) == (0, 0, 0)


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Backend]:
    postgres.required()
    with postgresql(tmp_path_factory.mktemp("database")) as backend:
        yield backend


def test_a_restart_of_the_database_changes_no_verdict(database: Backend, tmp_path: Path) -> None:
    row = restarted_postgresql(database, tmp_path, processes=1, days=9, seed=3, share=0.2, restarts=1)
    assert (row.leaked, row.lost, row.doubled) == (0, 0, 0)


def test_a_store_that_dies_at_any_call_publishes_nothing_uncommitted(tmp_path: Path) -> None:
    with files(tmp_path) as backend:
        row = died_at_every_call(backend, tmp_path)
    assert (row.leaked, row.lost, row.doubled) == (0, 0, 0)
    assert row.points["no answer to commit"] == row.points["no answer to decide"] == 4


def test_a_store_that_is_down_is_told_and_nothing_is_published(
    database: Backend, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(SqlStore, "patience", 0.2)
    batch, lake = Batch("p", 1), Lake(database.url(), unique("orders"), tmp_path)
    lake.stage(batch)
    with closing(open_store(lake.url)) as store:
        database.server.stop()
        with pytest.raises(StoreUnavailable):
            judged(lake.gate(store), batch)
        assert lake.seen() == {}
        database.server.start()
        monkeypatch.undo()
        assert store.revisions(lake.dataset) == ()
        assert judged(lake.gate(store), batch).passed
    assert lake.seen() == {"p": batch.text}
