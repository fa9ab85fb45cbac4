"""From its second run on, a table has coarse limits."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pytest

import headgate as hg
from headgate.learn.history.coarse import CoarseLimits
from headgate.learn.history.coarse_bands import COARSE_NOTE
from headgate.learn.past import Past

ROWS = 1_000


def batch(number: int, rows: int = ROWS) -> pa.Table:
    chance = np.random.default_rng(number)
    return pa.table(
        {
            "id": [f"{number}-{row}" for row in range(rows)],
            "price": chance.lognormal(3, 0.5, rows),
            "change": chance.normal(0, 5, rows),
            "flag": chance.random(rows) < 0.5,
            "month": np.full(rows, 12 if number < 3 else 1),
            "note": pa.array(["seen"] * rows, mask=chance.random(rows) < 0.98),
        }
    )


def replaced(table: pa.Table, column: str, values: object) -> pa.Table:
    return table.set_column(table.column_names.index(column), column, pa.array(values))


FAULTS: dict[str, Callable[[pa.Table], pa.Table]] = {
    "a twentieth of the rows": lambda table: table.slice(0, ROWS // 20),
    "twenty times the rows": lambda table: pa.concat_tables(
        [replaced(table, "id", [f"{copy}-{row}" for row in range(ROWS)]) for copy in range(20)]
    ),
    "all null": lambda table: replaced(table, "price", [None] * ROWS).cast(table.schema),
    "all equal": lambda table: replaced(table, "price", [20.0] * ROWS),
    "a hundred times as much": lambda table: replaced(table, "price", np.array(table["price"]) * 100),
    "a hundredth": lambda table: replaced(table, "price", np.array(table["price"]) / 100),
    "far from zero": lambda table: replaced(table, "change", np.array(table["change"]) - 500),
    "twice": lambda table: pa.concat_tables([table, table]),
}


@pytest.mark.parametrize("runs", [1, 2, 5])
@pytest.mark.parametrize("fault", FAULTS)
def test_a_young_table_is_guarded(fault: str, runs: int) -> None:
    gate = hg.Gate("t", store=hg.open_store("memory:"))
    for number in range(runs):
        assert gate.judge(batch(number), partition=f"2026-03-{number + 1:02}").passed
    verdict = gate.judge(FAULTS[fault](batch(runs)), partition=f"2026-03-{runs + 1:02}")
    assert not verdict.passed
    assert COARSE_NOTE in " ".join(verdict.run.account.notes.values())


def test_good_batches_of_a_young_table_pass() -> None:
    gate = hg.Gate("t", store=hg.open_store("memory:"))
    for number in range(7):
        rows = ROWS // 4 if number % 2 else 2 * ROWS
        verdict = gate.judge(batch(number, rows), partition=f"2026-03-{number + 1:02}")
        assert verdict.passed, verdict


def test_ids_that_grow_have_no_limit() -> None:
    gate = hg.Gate("t", store=hg.open_store("memory:"))
    for number in range(3):
        table = pa.table({"id": np.arange(500) + 100_000 * number, "price": batch(number, 500)["price"]})
        assert gate.judge(table, partition=f"2026-03-{number + 1:02}").passed


def test_no_limit_is_narrower_than_tenfold() -> None:
    past = Past.of([hg.analyze(batch(number)) for number in range(3)])
    limits = CoarseLimits.of(past.values, past.metrics)
    named = {str(past.metrics[index].key): limits.band_of(index, 10.0) for index in limits.indices}
    assert named["size()"] == (ROWS / 10, ROWS * 10)
    assert named["completeness(price)"] == (0.1, np.inf)
    assert named["unique_ratio(id)"][0] == pytest.approx(0.6)
    assert "completeness(note)" not in named  # almost always null
    assert "mean(month)" not in named  # equal within a batch
    low, high = named["mean(change)"]
    assert low == -high < 0
    assert named["mean(price)"][0] > 0


def test_factors_say_how_far_a_value_lies_beyond() -> None:
    past = Past.of([hg.analyze(batch(number)) for number in range(3)])
    limits = CoarseLimits.of(past.values, past.metrics)
    values = past.values[-1].copy()
    assert np.nanmax(limits.factors(values)) <= 1.0
    names = [str(each.key) for each in past.metrics]
    values[names.index("size()")] = ROWS * 30
    values[names.index("completeness(price)")] = 0.0
    factors = limits.factors(values)
    assert factors[names.index("size()")] == 30
    assert factors[names.index("completeness(price)")] == np.inf
