"""F1, F4 and F6 through the gate over every store, the short forms. `python -m tests.faults` has a thousand kills."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

from headgate.store.open import open_store
from headgate.values.run import Decision
from tests.faults.backends import Backend, unique
from tests.faults.gate_kills import killed
from tests.faults.gate_races import raced_for_many_batches, raced_for_one_batch
from tests.faults.gate_replay import replay_row
from tests.faults.gate_work import Batch, Lake, judged


def test_nothing_is_published_lost_or_doubled_by_kills(backend: Backend, tmp_path: Path) -> None:
    row = killed(backend, tmp_path, kills=10, seed=7)
    assert (row.leaked, row.lost, row.doubled) == (0, 0, 0)
    assert row.kills >= 10
    assert len(row.points) > 5


def test_all_who_judge_one_batch_get_one_verdict(backend: Backend, tmp_path: Path) -> None:
    row = raced_for_one_batch(backend, tmp_path, processes=8, rounds=2)
    assert (row.leaked, row.lost, row.doubled) == (0, 0, 0)


def test_batches_of_distinct_partitions_are_all_kept(backend: Backend, tmp_path: Path) -> None:
    row = raced_for_many_batches(backend, tmp_path, processes=8, batches=1)
    assert (row.leaked, row.lost, row.doubled) == (0, 0, 0)


def test_new_input_of_a_partition_is_a_new_revision_and_the_history_shows_one(backend: Backend, tmp_path: Path) -> None:
    lake = Lake(backend.url(), unique("orders"), tmp_path, environment=backend.environment)
    batches = [Batch("p", 1), Batch("p", 2, named=False), Batch("p", 3, "nulls"), Batch("p", 2, named=False)]
    numbers = []
    with closing(open_store(lake.url)) as store:
        for batch in batches:
            lake.stage(batch)
            numbers.append(judged(lake.gate(store), batch).revision.number)
        shown = store.last(lake.dataset, 9)
        decisions = [each.decision for each in store.revisions(lake.dataset)]
    assert numbers == [1, 2, 3, 4]
    assert [(each.partition, each.number) for each in shown] == [("p", 4)]
    assert decisions == [Decision.PUBLISHED, Decision.PUBLISHED, Decision.HELD, Decision.PUBLISHED]
    assert lake.seen() == {"p": batches[1].text}


def test_a_replay_says_of_columns_what_was_said_then(backend: Backend) -> None:
    row = replay_row(backend, days=6, seed=1)
    assert row.lost == 0
