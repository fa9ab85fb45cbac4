"""What was accepted though it was surprising is not held again, and does not become what is expected."""

from __future__ import annotations

import datetime
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import headgate as hg
from headgate.values.account import Action

START, ROWS, RUNS = datetime.date(2026, 1, 5), 400, 35


def day(number: int) -> str:
    return str(START + datetime.timedelta(days=number))


def batch(number: int, factor: float = 1.0, rows: int = ROWS) -> pa.Table:
    chance = np.random.default_rng([START.year, number])
    count = int(chance.normal(rows, 8))
    return pa.table(
        {
            "price": factor * (1 + 0.01 * chance.standard_normal()) * chance.normal(24.0, 4.0, count),
            "region": chance.choice(["north", "south", "east"], count),
        }
    )


def gate_of(store: hg.HistoryStore | None = None) -> hg.Gate:
    gate = hg.Gate("orders", store=store or hg.open_store("memory:"))
    for number in range(RUNS):
        assert gate.judge(batch(number), day(number)).passed, number
    return gate


@pytest.fixture
def mistaken() -> hg.Gate:
    """A gate whose newest batch was a hundred times too dear, and was accepted."""
    gate = gate_of()
    assert gate.judge(batch(RUNS, 100.0), day(RUNS)).action is Action.HOLD
    gate.accept(day(RUNS), note="by mistake")
    return gate


def test_one_mistaken_accept_does_not_turn_the_gate_around(mistaken: hg.Gate) -> None:
    for number in range(RUNS + 1, RUNS + 21):
        assert mistaken.judge(batch(number), day(number)).passed, number
    last = RUNS + 21
    for factor in (2.0, 10.0, 50.0, 200.0):
        verdict = mistaken.judge(batch(last, factor), day(last))
        assert verdict.action is Action.HOLD, factor
        mistaken.reject(day(last), number=verdict.revision.number)
    again = mistaken.judge(batch(last, 100.0), day(last))
    assert again.action is Action.PUBLISH
    assert f"as in {day(RUNS)}, which was accepted" in again.explain()


def test_it_is_undone_by_a_rejection(mistaken: hg.Gate) -> None:
    mistaken.reject(day(RUNS), note="it was wrong after all")
    assert mistaken.judge(batch(RUNS + 1, 100.0), day(RUNS + 1)).action is Action.HOLD


def test_a_new_level_is_normal_once_it_is_confirmed(mistaken: hg.Gate) -> None:
    for number in range(RUNS + 1, RUNS + 11):
        assert mistaken.judge(batch(number, 100.0), day(number)).passed, number
    assert mistaken.judge(batch(RUNS + 11, 10_000.0), day(RUNS + 11)).action is Action.HOLD


def test_it_is_remembered_longer_than_runs_are_learned_from() -> None:
    gate = gate_of()
    assert gate.judge(batch(RUNS, rows=3 * ROWS), day(RUNS)).action is Action.HOLD
    gate.accept(day(RUNS), note="end of the month")
    for number in range(RUNS + 1, RUNS + 36):
        assert gate.judge(batch(number), day(number)).passed, number
    assert gate.judge(batch(RUNS + 36, rows=3 * ROWS), day(RUNS + 36)).passed
    assert gate.judge(batch(RUNS + 37, rows=2 * ROWS), day(RUNS + 37)).action is Action.HOLD
    assert gate.judge(batch(RUNS + 38, 2.0, rows=3 * ROWS), day(RUNS + 38)).action is Action.HOLD


@pytest.mark.parametrize("kind", ["memory", "sqlite", "files"])
def test_every_store_remembers(kind: str, tmp_path: Path) -> None:
    urls = {"memory": "memory:", "sqlite": f"sqlite:///{tmp_path}/history.db", "files": f"file://{tmp_path}/files"}
    store = hg.open_store(urls[kind])
    gate = gate_of(store)
    verdict = gate.judge(batch(RUNS, 100.0), day(RUNS))
    gate.accept(day(RUNS), number=verdict.revision.number)
    afresh = hg.Gate("orders", store=store)
    assert afresh.judge(batch(RUNS + 1), day(RUNS + 1)).passed
    assert afresh.judge(batch(RUNS + 2, 100.0), day(RUNS + 2)).passed


def test_one_batch_of_stale_dates_does_not_blind_the_gate() -> None:
    def dated(number: int, shift: int = 0) -> pa.Table:
        at = datetime.datetime.combine(START, datetime.time()) + datetime.timedelta(days=number + shift)
        seconds = np.random.default_rng(number).integers(0, 86_400, ROWS)
        return (
            batch(number, rows=ROWS)
            .slice(0, 300)
            .append_column("at", pa.array([at + datetime.timedelta(seconds=int(each)) for each in seconds[:300]]))
        )

    gate = hg.Gate("orders", store=hg.open_store("memory:"))
    for number in range(RUNS):
        assert gate.judge(dated(number), day(number)).passed, number
    assert gate.judge(dated(RUNS, -3), day(RUNS)).action is Action.HOLD
    gate.accept(day(RUNS), note="by mistake")
    for number in range(RUNS + 1, RUNS + 8):
        assert gate.judge(dated(number), day(number)).passed, number
    last = RUNS + 8
    for shift in (-30, -2, 2, 20):
        verdict = gate.judge(dated(last, shift), day(last))
        assert verdict.action is Action.HOLD, shift
        gate.reject(day(last), number=verdict.revision.number)


def hold(gate: hg.Gate, number: int, table: pa.Table) -> None:
    assert gate.judge(table, day(number)).action is Action.HOLD


def test_a_row_count_that_was_accepted_does_not_excuse_another_fault() -> None:
    gate = gate_of()
    hold(gate, RUNS, batch(RUNS, rows=4 * ROWS))
    gate.accept(day(RUNS))
    for number in range(RUNS + 1, RUNS + 9):
        assert gate.judge(batch(number), day(number)).passed, number
    assert gate.judge(batch(RUNS + 9, rows=4 * ROWS), day(RUNS + 9)).passed
    table = batch(RUNS + 10, rows=4 * ROWS)
    other = pa.array([f"{each}-2" for each in table["region"].to_pylist()])
    broken = table.set_column(table.column_names.index("region"), "region", other)
    assert gate.judge(broken, day(RUNS + 10)).action is Action.HOLD


def test_a_batch_that_is_like_an_accepted_one_is_no_false_alarm() -> None:
    gate = gate_of()
    hold(gate, RUNS, batch(RUNS, rows=3 * ROWS))
    gate.accept(day(RUNS))
    for number in range(RUNS + 1, RUNS + 20):
        rows = 3 * ROWS if number % 6 == 0 else ROWS
        assert gate.judge(batch(number, rows=rows), day(number)).passed, number
    assert gate.learned().memory.alarms == 1.0
