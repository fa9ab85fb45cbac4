"""After thirty good runs, a batch with prices a hundred times too high was published as if nothing was known, if its
name sorted before all others: `31.10.2026`, `1`, ` 2026-10-31`, `2016-10-31`."""

from __future__ import annotations

import pyarrow as pa
import pytest

import headgate as hg
from headgate.store.memory import MemoryStore
from headgate.values.account import Action
from tests.attack.lake import orders


@pytest.fixture(scope="module")
def store() -> MemoryStore:
    store = MemoryStore(secret=b"a secret of thirty-two bytes....")
    gate = hg.Gate("orders", store=store, learn=("history",))
    for day in range(1, 31):
        assert gate.judge(orders(day), f"2026-10-{day:02}").action is Action.PUBLISH
    return store


def dearer(table: pa.Table) -> pa.Table:
    return table.set_column(1, "price", pa.array(table["price"].to_numpy() * 100))


@pytest.mark.parametrize("name", ["31.10.2026", "1", " 2026-10-31", "2016-10-31", "2026-10-31", "october 31"])
def test_a_broken_batch_is_held_whatever_it_is_named(store: MemoryStore, name: str) -> None:
    verdict = hg.Gate("orders", store=store, learn=("history",)).judge(dearer(orders(31)), name)
    assert verdict.action is Action.HOLD
    assert verdict.account.runs > 20


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("31.10.2026", "'31.10.2026' is not named like '2026-10-30'"),
        (" 2026-10-31", "' 2026-10-31' is not named like '2026-10-30'"),
        ("2016-10-31", "no run lies before it, so the first ones after it are taken"),
    ],
)
def test_the_verdict_says_why_other_runs_were_taken(store: MemoryStore, name: str, words: str) -> None:
    gate = hg.Gate("orders", store=store, learn=("history",))
    verdict = gate.judge(dearer(orders(32)), name)
    assert words in verdict.account.learners["order"]
    assert words in verdict.explain()


def test_a_batch_in_its_place_is_judged_by_the_runs_before_it_and_nothing_is_said(store: MemoryStore) -> None:
    gate = hg.Gate("orders", store=store, learn=("history",))
    verdict = gate.judge(dearer(orders(33)), "2026-10-15")
    assert verdict.account.runs == 14
    assert "order" not in verdict.account.learners
