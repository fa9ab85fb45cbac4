"""Evidence from a store: what is gathered, what is left out, and that it holds nothing of the data."""

from __future__ import annotations

import pytest

import headgate as hg
from headgate.engine.progress import Progress
from headgate.gate.calibration import calibrate
from headgate.gate.gate import Gate
from headgate.learn.evidence import LONGEST, MIN_BATCHES, OWN_TABLES, RUNS_OF_LENGTH, Evidence, name_table
from headgate.learn.pooled_rates import load_pooled_rates, make_batch_key
from headgate.learn.scope import LearningScope
from headgate.store.memory import MemoryStore
from headgate.values.errors import MisuseError
from headgate.values.rarity_memory import Part
from tests.gate.orders import SECRET, dearer, named, orders

WILD = {make_batch_key(part, LONGEST): {"80": 30, "2": 170} for part in Part}
"""A table of which many good batches are very rare."""
QUIET = {make_batch_key(part, LONGEST): {"1": 200} for part in Part}
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
    for part in (Part.ROWS, Part.COLUMNS):
        assert sum(counts[make_batch_key(part, LONGEST)].values()) == MIN_BATCHES
    assert make_batch_key(Part.NULLS, LONGEST) not in counts  # there are none


def test_a_table_with_few_runs_is_left_out_and_named(store: MemoryStore) -> None:
    result = calibrate(store)
    assert list(result.skipped) == ["short"]
    assert "in its place from 20 tables with 2,000 batches on" in str(result)
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
    (name,) = first.tables
    stale = Evidence(levels=first.levels, tables={name: {make_batch_key(Part.ROWS, LONGEST): {"1": 9_999}}})
    again = calibrate(store, known=stale.merge(other))
    assert again.evidence == first.merge(other)
    assert (
        calibrate(store, ["short"], known=Evidence(levels=first.levels, tables={short_id(): {}})).evidence.tables == {}
    )


def short_id() -> str:
    return name_table(SECRET, "short")


def test_a_dataset_that_the_store_does_not_have_is_refused(store: MemoryStore) -> None:
    with pytest.raises(MisuseError, match=r"no batch of 'ordres'.*orders"):
        calibrate(store, "ordres")
    assert calibrate(store, "orders").tables == calibrate(store, ["orders"]).tables


def test_a_table_is_not_judged_by_its_own_evidence(store: MemoryStore) -> None:
    """So what is told of one table alone is what the package tells."""
    (table,) = calibrate(store, ["orders"]).tables
    assert table.held == table.held_by_package
    quiet = {f"quiet {number}": QUIET for number in range(OWN_TABLES)}
    known = Evidence(levels=load_pooled_rates().levels, tables=quiet)
    (beside,) = calibrate(store, ["orders"], known=known).tables
    assert beside.held[1] > table.held[1]


def test_columns_that_a_gate_ignores_do_not_count(store: MemoryStore) -> None:
    ignored = LearningScope.of(None, None, ["price", "quantity", "country", "code"])
    assert calibrate(store, scopes={"orders": ignored}).evidence != calibrate(store).evidence


def test_a_gate_with_evidence_is_another_suite_and_judges_by_it(store: MemoryStore) -> None:
    own = calibrate(store).evidence
    evidence = own.merge(Evidence(levels=own.levels, tables={"wild": WILD}))
    plain, with_evidence = Gate("orders", store=store), Gate("orders", store=store, evidence=evidence)
    assert plain.settings.suite(()) != with_evidence.settings.suite(())
    package = plain.history.pooled_rates.tables
    assert with_evidence.history.pooled_rates.tables.keys() == {*package, "wild"}
    stated = [gate.backtest(budgets=[0.01], spots=0).results[0].cost for gate in (plain, with_evidence)]
    assert stated[0] != stated[1]


def test_progress_is_told_for_each_table(store: MemoryStore) -> None:
    told: list[Progress] = []
    hg.calibrate(store, progress=told.append)
    assert [(each.done, each.total, each.stage) for each in told] == [(1, 2, "orders"), (2, 2, "short")]


def test_the_result_is_told_as_data(store: MemoryStore) -> None:
    found = calibrate(store).to_dict()
    assert found["evidence_tables"] == 1
    assert [each["budget"] for each in found["tables"][0]["budgets"]] == [0.01, 0.05]
