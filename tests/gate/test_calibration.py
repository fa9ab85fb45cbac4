"""Evidence from a store: what is gathered, what is left out, and that it holds nothing of the data."""

from __future__ import annotations

import pytest

import headgate as hg
from headgate.engine.progress import Progress
from headgate.gate.calibration import calibrate
from headgate.gate.gate import Gate
from headgate.learn.evidence import LONGEST, MIN_BATCHES, RUNS_OF_LENGTH, Evidence
from headgate.learn.pooled_rates import make_batch_key
from headgate.learn.scope import LearningScope
from headgate.store.memory import MemoryStore
from headgate.values.rarity_memory import Part
from tests.gate.orders import SECRET, dearer, named, orders

DAYS = RUNS_OF_LENGTH[LONGEST] + MIN_BATCHES
BROKEN = 40
"""A day that the gate holds and a person rejects."""


@pytest.fixture(scope="module")
def store() -> MemoryStore:
    made = MemoryStore(secret=SECRET)
    gate = Gate("orders", store=made, learn=["history"], false_alarms=0.0)
    for day in range(DAYS + 1):
        gate.judge(dearer(orders(day)) if day == BROKEN else orders(day), named(day))
    gate.reject(named(BROKEN))
    short = Gate("short", store=made, learn=["history"])
    short.judge(orders(0), named(0))
    return made


def test_good_batches_are_counted_and_rejected_ones_are_not(store: MemoryStore) -> None:
    result = calibrate(store)
    (table,) = result.tables
    assert (table.dataset, table.batches) == ("orders", MIN_BATCHES)
    (counts,) = result.evidence.tables.values()
    for part in Part:
        assert sum(counts[make_batch_key(part, LONGEST)].values()) == MIN_BATCHES


def test_a_table_with_few_runs_is_left_out_and_named(store: MemoryStore) -> None:
    result = calibrate(store)
    assert list(result.skipped) == ["short"]
    assert f"from {DAYS} on" in str(result)
    alone = calibrate(store, ["short"])
    assert not alone.evidence.tables
    assert "the evidence of the package is used alone" in str(alone)


def test_the_evidence_tells_nothing_of_the_data(store: MemoryStore) -> None:
    text = calibrate(store).evidence.encode().decode()
    for word in ("orders", "price", "country", "DE", named(3)):
        assert word not in text


def test_gathering_again_replaces_a_table_and_keeps_those_of_other_stores(store: MemoryStore) -> None:
    first = calibrate(store).evidence
    other = Evidence(levels=first.levels, tables={"of another store": next(iter(first.tables.values()))})
    again = calibrate(store, known=first.merge(other))
    assert again.evidence == first.merge(other)


def test_columns_that_a_gate_ignores_do_not_count(store: MemoryStore) -> None:
    ignored = LearningScope.of(None, None, ["price", "quantity", "country", "code"])
    assert calibrate(store, scopes={"orders": ignored}).evidence != calibrate(store).evidence


def test_a_gate_with_evidence_is_another_suite_and_judges_by_it(store: MemoryStore) -> None:
    evidence = calibrate(store).evidence
    plain, with_evidence = Gate("orders", store=store), Gate("orders", store=store, evidence=evidence)
    assert plain.settings.suite(()) != with_evidence.settings.suite(())
    assert len(with_evidence.history.pooled_rates.tables) == len(plain.history.pooled_rates.tables) + 1
    assert with_evidence.backtest(budgets=[0.01], spots=0).runs


def test_progress_is_told_for_each_table(store: MemoryStore) -> None:
    told: list[Progress] = []
    hg.calibrate(store, progress=told.append)
    assert [(each.done, each.total, each.stage) for each in told] == [(1, 2, "orders"), (2, 2, "short")]


def test_the_result_is_told_as_data(store: MemoryStore) -> None:
    found = calibrate(store).to_dict()
    assert found["evidence_tables"] == 1
    assert [each["budget"] for each in found["tables"][0]["budgets"]] == [0.01, 0.05]
