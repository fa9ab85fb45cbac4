"""Values of the data do not leave the batch: canaries in them are in no byte of a store and in no word of a verdict."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pyarrow as pa
import pytest

from headgate.checks.check import Check
from headgate.gate.batch_verdict import BatchVerdict
from headgate.gate.gate import Gate
from headgate.metrics.states.sample import Sample
from headgate.store.memory import MemoryStore
from headgate.store.open import open_store
from headgate.store.port import HistoryStore
from headgate.values.codec import unseal
from tests.gate.orders import Speller, gate_after, judged, new_gate, orders, replaced

CANARY = "QUAIL"
STORES = ("memory", "files", "sqlite")


@pytest.fixture(params=STORES)
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[HistoryStore]:
    urls = {"memory": "memory:", "files": f"file://{tmp_path}/history", "sqlite": f"sqlite:///{tmp_path}/history.db"}
    opened = open_store(urls[request.param])
    yield opened
    opened.close()


def kept(store: HistoryStore, folder: Path) -> bytes:
    """All that the store keeps: its files as they are, and what its runs say once they are out of their envelopes."""
    files = [each.read_bytes() for each in sorted(folder.rglob("*")) if each.is_file()]
    runs = [msgspec.msgpack.encode(store.run(each)) for each in store.revisions("orders")]
    said = [msgspec.json.encode(each) for each in store.rulings("orders")]
    if isinstance(store, MemoryStore):
        files += [unseal(each.details)[1] for each in store._records.values()]
        files += [unseal(sealed)[1] for each in store._records.values() for sealed in each.states.values()]
    return b"\n".join([*files, *runs, *said])


def words(verdict: BatchVerdict) -> str:
    """All that a verdict says, to people and to programs."""
    notice = json.dumps(verdict.notification().to_dict())
    account = msgspec.json.encode(verdict.account).decode()
    return "\n".join(
        [verdict.explain(), repr(verdict), verdict._repr_html_(), json.dumps(verdict.to_dict()), notice, account]
    )


def marked(day: int, share: int = 1) -> pa.Table:
    """A day on which canaries are the least, the largest, the most frequent and the only values of their columns."""
    table = orders(day)
    names = [f"{CANARY}{at:03}" if at % share == 0 else "DE" for at in range(len(table))]
    same = [CANARY] * len(table)
    mixed = [f"{CANARY}-{at}" if at % 2 else f"0{at}" for at in range(len(table))]
    columns = {"country": names, "code": same}
    for column, values in columns.items():
        table = replaced(table, column, values)
    return table.append_column("note", pa.array(mixed))


def history(gate: Gate) -> list[BatchVerdict]:
    """Days with canaries that teach, then days that fail for canaries that are new."""
    found = []
    for day in range(6):
        found.append(judged(gate, day, marked(day)))
        gate.accept(found[-1].partition)
    found.append(judged(gate, 6, replaced(marked(6), "code", [f"{CANARY}/{at}" for at in range(len(orders(6)))])))
    found.append(judged(gate, 7, replaced(marked(7), "id", [f"{CANARY}{at}" for at in range(len(orders(7)))])))
    return found


def test_no_value_of_the_data_is_in_a_store_or_in_a_verdict(store: HistoryStore, tmp_path: Path) -> None:
    checks = Check("orders").is_complete("id").is_non_negative("price").has_pattern("code", "^[a-z]+$")
    found = history(new_gate(store, checks=checks))
    assert not found[-1].passed
    assert not found[-2].passed
    assert [each.partition for each in found if CANARY in words(each)] == []
    assert CANARY.encode() not in kept(store, tmp_path)


def test_the_search_for_canaries_finds_them_where_values_are_kept_plain(tmp_path: Path) -> None:
    store = open_store("memory:", values="plain")
    history(new_gate(store))
    assert CANARY.encode() in kept(store, tmp_path)


def test_no_value_of_a_segment_is_in_a_store_or_in_a_verdict(store: HistoryStore, tmp_path: Path) -> None:
    gate = new_gate(store, checks=Check("orders", by="code").has_size(at_least=1_000))
    verdict = judged(gate, 0, marked(0))
    assert not verdict.passed
    assert CANARY.encode() not in kept(store, tmp_path)


def test_the_words_of_a_reader_that_breaks_are_not_in_a_store(store: HistoryStore, tmp_path: Path) -> None:
    def batches() -> Iterator[pa.RecordBatch]:
        yield orders(0).to_batches()[0]
        raise ValueError(f"cannot read {CANARY} as a number")

    gate = new_gate(store)
    verdict = judged(gate, 0, pa.RecordBatchReader.from_batches(orders(0).schema, batches()))
    assert "ValueError" in verdict.explain()
    assert CANARY.encode() not in kept(store, tmp_path)


def test_samples_of_values_are_in_no_recorded_run_not_even_of_a_store_that_keeps_values() -> None:
    gate = gate_after(2, hide=False)
    run = judged(gate, 2).run
    assert not any(isinstance(state, Sample) for state in run.states.values())
    assert not any("value_sample" in str(key) for key in (*run.states, *run.outcomes))


@pytest.mark.parametrize("hide", [True, False])
def test_a_rule_that_spells_a_value_is_not_learned(hide: bool) -> None:
    assert judged(gate_after(0, hide=hide, index=Speller()), 0, marked(0)).account.text_rules == ()
