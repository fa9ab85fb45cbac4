"""The rows of a batch with values that no run before had, of verdicts given here and read from the history."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from headgate.engine.analyze import analyze
from headgate.gate.gate import Gate
from headgate.gate.recorded_rows import find_recorded_rows
from headgate.learn.unseen_values import find_unseen_rows
from headgate.metrics.value_distribution import ValueDistribution
from headgate.store.memory import MemoryStore
from headgate.values.key import MetricKey

DAYS, ROWS = 14, 400
ODD = "O'Hare ${x}"
LAST = f"2026-03-{DAYS + 1:02}"
NEW_VALUES = MetricKey("new_values", ("city",))


def fly(day: int, cities: tuple[str, ...] = ("Ottawa", "Lisboa", "Århus", "Zürich")) -> pa.Table:
    random = np.random.default_rng(day)
    return pa.table(
        {
            "id": np.arange(ROWS) + 1_000 * day,
            "city": pa.array(random.choice(cities, ROWS).tolist(), mask=random.random(ROWS) < 0.02),
            "gate": random.integers(1, 9, ROWS),
        }
    )


def replace_some(table: pa.Table, column: str, value: Any) -> tuple[pa.Table, list[int]]:
    """A tenth of the rows with another value, and their ids."""
    values = table[column].to_pylist()
    values[::10] = [value] * len(values[::10])
    at = table.column_names.index(column)
    return table.set_column(at, column, pa.array(values, table[column].type)), table["id"].to_pylist()[::10]


@pytest.fixture(params=["hidden", "plain"])
def gate(request: pytest.FixtureRequest) -> Gate:
    made = Gate("flights", store=MemoryStore(hide=request.param == "hidden"), false_alarms=0.05)
    for day in range(DAYS):
        verdict = made.judge(fly(day), f"2026-03-{day + 1:02}")
        assert verdict.passed
    return made


@pytest.mark.parametrize(("column", "value"), [("city", ODD), ("gate", 77)])
def test_rows_with_values_that_no_run_had_are_found(gate: Gate, column: str, value: Any) -> None:
    batch, ids = replace_some(fly(DAYS), column, value)
    verdict = gate.judge(batch, LAST)
    found = verdict.rows(batch)
    assert found["id"].to_pylist() == ids
    reasons = {reason["message"]: reason for each in found["headgate_reasons"].to_pylist() for reason in each}
    assert reasons["no run before had this value"]["value"] == str(value)
    hidden = verdict.rows(batch, values="hidden")["headgate_reasons"].to_pylist()
    assert {reason["value"] for each in hidden for reason in each} == {None}


def test_rows_of_a_recorded_verdict_are_found_again(gate: Gate) -> None:
    batch, ids = replace_some(fly(DAYS), "city", ODD)
    gate.judge(batch, LAST)
    finder = find_recorded_rows(gate, LAST, batch, gate.explain(LAST))
    assert finder.rows(batch)["id"].to_pylist() == ids


def test_rows_with_usual_values_are_left_in_a_split(gate: Gate) -> None:
    batch, ids = replace_some(fly(DAYS), "city", ODD)
    verdict = gate.judge(batch, LAST)
    good, bad = verdict.split(batch)
    assert bad["id"].to_pylist() == ids
    assert len(good) == ROWS - len(ids)


def test_no_rows_are_told_where_values_are_forgotten_or_none_is_new() -> None:
    gate = Gate("flights", store=MemoryStore(), false_alarms=0.05)
    for day in range(8):
        gate.judge(fly(day), f"2026-03-{day + 1:02}")
    past = gate.learned(before=LAST).past
    batch, _ = replace_some(fly(DAYS), "city", ODD)
    states = analyze(batch, [ValueDistribution("city")]).states
    assert find_unseen_rows(past, NEW_VALUES, states) is not None
    assert find_unseen_rows(past, MetricKey("mean", ("gate",)), states) is None
    assert find_unseen_rows(None, NEW_VALUES, states) is None
    usual = analyze(fly(DAYS), [ValueDistribution("city")]).states
    assert find_unseen_rows(past, NEW_VALUES, usual) is None
    many = fly(DAYS, tuple(f"city {number}" for number in range(5_000)))
    many = pa.concat_tables([many, *(fly(day, tuple(f"city {n}" for n in range(5_000))) for day in range(20, 30))])
    assert find_unseen_rows(past, NEW_VALUES, analyze(many, [ValueDistribution("city")]).states) is None
