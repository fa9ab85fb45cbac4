"""F5, the short form: lost answers and servers that go away."""

from __future__ import annotations

from collections import Counter
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from threading import Timer

import pytest

from headgate.store.fault_points import watch
from headgate.store.files.objects import Objects
from headgate.store.open import open_store
from tests.faults.backends import postgresql, s3
from tests.faults.lost import dropped_by_s3, restarted_postgresql
from tests.faults.work import Item
from tests.store import postgres


def test_a_put_whose_answer_is_lost_is_committed_once(tmp_path: Path) -> None:
    row = dropped_by_s3(tmp_path, processes=2, commits=60, seed=3)
    assert (row.lost, row.doubled) == (0, 0)


def test_a_restart_of_the_database_loses_and_doubles_nothing(tmp_path: Path) -> None:
    postgres.required()
    with postgresql(tmp_path) as backend:
        row = restarted_postgresql(backend, processes=2, commits=100, seed=3, restarts=1)
    assert (row.lost, row.doubled) == (0, 0)


def test_puts_that_time_out_and_are_done_late_are_committed_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Objects, "timeout", timedelta(seconds=0.3))
    seen: Counter[str] = Counter()
    with s3(tmp_path) as backend, closing(open_store(backend.url())) as store:
        first = store.commit(Item("orders", "p0", 0).run())
        waking = Timer(1.5, backend.server.resume)

        def watcher(name: str) -> None:
            seen.update([name])
            if name == "objects.put" and seen[name] == 1:
                backend.server.pause()
                waking.start()

        with watch(watcher):
            second = store.commit(Item("orders", "p1", 1).run())
        waking.join()
        assert (first.sequence, second.sequence) == (1, 2)
        assert seen["objects.unknown"] >= 1
        assert [each.sequence for each in store.revisions("orders")] == [1, 2]
