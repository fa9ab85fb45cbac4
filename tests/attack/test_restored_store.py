"""A new store beside an old published folder, or one restored from a backup, counted revisions from 1 again. Every
batch was refused as "older than revision 5, which is published"."""

from __future__ import annotations

from pathlib import Path

import pytest

from headgate.store.memory import MemoryStore
from headgate.values.run import Decision
from tests.attack.lake import Lake, broken, orders


@pytest.mark.parametrize("manifest", [False, True])
def test_a_new_store_goes_on_counting_from_what_readers_have(tmp_path: Path, manifest: bool) -> None:
    old = Lake(tmp_path, MemoryStore(), manifest=manifest)
    for seed in range(1, 4):
        old.judge(orders(seed))
    new = Lake(tmp_path, MemoryStore(), manifest=manifest)
    verdict = new.judge(orders(7))
    assert (verdict.revision.number, verdict.decision) == (4, Decision.PUBLISHED)
    assert new.shown() == orders(7)
    assert new.judge(orders(8)).revision.number == 5


def test_a_restored_store_publishes_an_input_that_it_remembers_as_published(tmp_path: Path) -> None:
    store = MemoryStore()
    lake = Lake(tmp_path, store)
    lake.judge(orders(1))
    restored = MemoryStore(secret=store.secret)
    restored.commit(store.run(store.revisions("orders")[0]))
    restored.decide("orders", "p", Decision.PUBLISHED)
    lake.judge(orders(2))
    after = Lake(tmp_path, restored)
    verdict = after.judge(orders(1))
    assert (verdict.revision.number, verdict.decision) == (3, Decision.PUBLISHED)
    assert after.shown() == orders(1)


def test_a_held_batch_after_a_restore_does_not_replace_what_readers_have(tmp_path: Path) -> None:
    Lake(tmp_path, MemoryStore()).judge(orders(1))
    new = Lake(tmp_path, MemoryStore())
    assert new.judge(broken(orders(2))).revision.number == 2
    assert new.shown() == orders(1)
