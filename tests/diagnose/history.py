"""Made-up days of a shop with a column for every fault, and what the gate says of a day that went wrong."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from headgate.gate.batch_verdict import BatchVerdict
from headgate.gate.gate import Gate
from headgate.store.memory import MemoryStore
from headgate.values.diagnosis import Diagnosis

DAYS, ROWS = 20, 400
START = datetime(2026, 3, 1)
SECRET = b"diagnose" * 4
CITIES = {"München": 0.3, "Köln": 0.25, "Berlin": 0.2, "Nürnberg": 0.15, "Hamburg": 0.1}
CARRIERS = {"Blue Line": 0.4, "Red Star": 0.3, "Green Arrow": 0.2, "Night Mail": 0.1}
WORDS = ("parcel", "letter", "fragile", "left at the door", "handed over", "opened", "returned", "weighed again")

BOTH = pytest.mark.parametrize("hide", [True, False], ids=["hidden", "plain"])
"""For what must be found whether or not the history hides values."""


def name_day(day: int) -> str:
    """The partition of a day."""
    return f"{START + timedelta(days=day):%Y-%m-%d}"


@cache
def make_day(day: int = DAYS) -> pa.Table:
    """One good day; by default the one after all that the gate knows."""
    random = np.random.default_rng([77, day])
    rows = int(random.normal(ROWS, ROWS * 0.02))
    start = START + timedelta(days=day)
    seconds = random.triangular(6 * 3600, 13 * 3600, 20 * 3600, rows).astype(int).tolist()
    waits = random.choice([1, 2, 3, 5], rows, p=[0.4, 0.3, 0.2, 0.1]).tolist()
    notes = random.choice(WORDS, (rows, 3))
    return pa.table(
        {
            "id": pa.array((day * 1000 + random.permutation(1000)[:rows]).astype(np.int64)),
            "price": pa.array(np.round(random.lognormal(3.5, 0.6, rows), 2)),
            "weight": pa.array(np.round(random.gamma(4.0, 2.0, rows) + 0.5, 2)),
            "items": pa.array(random.poisson(6.0, rows) + 1),
            "celsius": pa.array(np.round(random.normal(14.0, 4.0, rows), 1)),
            "city": pa.array(random.choice(list(CITIES), rows, p=list(CITIES.values()))),
            "carrier": pa.array(random.choice(list(CARRIERS), rows, p=list(CARRIERS.values()))),
            "note": pa.array([", ".join(each) for each in notes]),
            "ordered_at": pa.array([start + timedelta(seconds=each) for each in seconds], pa.timestamp("us")),
            "due": pa.array([(start + timedelta(days=each)).date() for each in waits], pa.date32()),
            "printed": pa.array([f"{start + timedelta(days=each):%Y-%m-%d}" for each in waits]),
            "coupon": pa.array(np.round(random.normal(5.0, 1.0, rows), 2), mask=random.random(rows) < 0.3),
        }
    )


def make_sales(day: int) -> pa.Table:
    """One good day of numbers that are large, whole and all different."""
    random = np.random.default_rng([78, day])
    return pa.table({"sold": pa.array(np.round(random.lognormal(11.5, 0.1, 300)).astype(np.int64))})


@cache
def open_gate(hide: bool) -> Gate:
    """A gate that knows all days before; it learns once, since the tests decide nothing."""
    gate = Gate("shop", store=MemoryStore(hide=hide, secret=SECRET), false_alarms=0.01)
    for day in range(DAYS):
        if not gate.judge(make_day(day), name_day(day)).passed:  # a false alarm, which the budget allows
            gate.accept(name_day(day))
    return gate


def judge(table: pa.Table, hide: bool = True) -> BatchVerdict:
    """What the gate says of the next day."""
    return open_gate(hide).judge(table, name_day(DAYS))


def diagnose(table: pa.Table, hide: bool = True) -> tuple[Diagnosis, ...]:
    """The faults that the gate names in the next day."""
    return judge(table, hide).account.diagnoses


def diagnose_one(table: pa.Table, hide: bool = True) -> Diagnosis:
    """The only fault that the gate names in the next day."""
    found = diagnose(table, hide)
    assert len(found) == 1, found
    return found[0]


def list_names(table: pa.Table, hide: bool = True) -> list[str]:
    """The names of the faults of the next day."""
    return [each.fault for each in diagnose(table, hide)]


def diagnose_after(make: Callable[[int], pa.Table], broken: pa.Table, hide: bool = True) -> tuple[Diagnosis, ...]:
    """The faults that a gate names in a batch after twelve days that are made in another way."""
    gate = Gate("shop", store=MemoryStore(hide=hide, secret=SECRET), false_alarms=0.05)
    for day in range(12):
        gate.judge(make(day), name_day(day))
    return gate.judge(broken, name_day(12)).diagnoses


# --- how a day goes wrong


def replace(table: pa.Table, column: str, values: Any) -> pa.Table:
    """The table with other values in a column."""
    array = values if isinstance(values, pa.Array) else pa.array(values)
    return table.set_column(table.column_names.index(column), column, array)


def change(table: pa.Table, column: str, by: Callable[[Any], Any], share: float = 1.0) -> pa.Table:
    """The table with a function called on the values of a column, or on a random part of them; nulls stay.

    The column keeps its type unless the new values have another.
    """
    hit = np.random.default_rng(5).random(len(table)) < share
    values = table[column].to_pylist()
    changed = [by(each) if each is not None and at else each for each, at in zip(values, hit, strict=True)]
    kinds = {type(each) for each in changed} - {type(None)} - {type(each) for each in values}
    return replace(table, column, pa.array(changed) if kinds else pa.array(changed, table[column].type))


def draw_rows(table: pa.Table, count: int) -> pa.Table:
    """So many of the rows, drawn by chance, in their order."""
    return table.take(pa.array(np.sort(np.random.default_rng(6).permutation(len(table))[:count])))
