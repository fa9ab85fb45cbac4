"""Made-up days of a table of orders, ways in which a day goes wrong, and gates that have judged some of them."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from headgate.gate.batch_verdict import BatchVerdict
from headgate.gate.gate import Gate
from headgate.learn.patterns.index import PatternIndex
from headgate.learn.patterns.pattern import Atom, AtomKind, Pattern
from headgate.learn.patterns.rule import Branch, PatternRule
from headgate.learn.patterns.segments import PatternSegment
from headgate.store.memory import MemoryStore
from headgate.store.port import HistoryStore

ROWS = 120  # so few that the sketch of their quantiles is exact, and each scan of a day gives the same
BUDGET = 0.05
SECRET = b"orders" * 6


def named(day: int) -> str:
    """The partition of a day."""
    return f"2026-{day // 28 + 1:02}-{day % 28 + 1:02}"


@cache
def orders(day: int) -> pa.Table:
    """One day: about as many rows, prices and countries as on any other."""
    random = np.random.default_rng([20261, day])
    rows = int(random.normal(ROWS, ROWS * 0.03))
    codes = zip(random.integers(0, 999, rows), random.integers(0, 99, rows), strict=True)
    return pa.table(
        {
            "id": pa.array(random.permutation(10_000)[:rows]),
            "price": pa.array(np.round(random.lognormal(3.0, 0.5, rows), 1)),
            "quantity": pa.array(random.integers(1, 9, rows)),
            "country": pa.array(random.choice(["DE", "FR", "US"], rows, p=[0.5, 0.3, 0.2])),
            "code": pa.array([f"{one:03}-{two:02}" for one, two in codes]),
        }
    )


# --- how a day goes wrong


def replaced(table: pa.Table, column: str, values: Any) -> pa.Table:
    """The table with other values in one column."""
    made = pa.array(values) if isinstance(values, list) else values
    return table.set_column(table.schema.get_field_index(column), column, made)


def emptied(table: pa.Table, column: str, share: float = 0.6) -> pa.Table:
    """The first rows have no value in the column."""
    gone = pa.array(np.arange(len(table)) < share * len(table))
    return replaced(table, column, pc.if_else(gone, pa.scalar(None, table[column].type), table[column]))


def dearer(table: pa.Table, times: float = 100.0) -> pa.Table:
    """Prices in cents."""
    return replaced(table, "price", pc.multiply(table["price"], times))


def elsewhere(table: pa.Table) -> pa.Table:
    """Every third order comes from a country that there never was."""
    countries = ["XX" if at % 3 == 0 else country for at, country in enumerate(table["country"].to_pylist())]
    return replaced(table, "country", countries)


def renamed(table: pa.Table, old: str, new: str) -> pa.Table:
    return table.rename_columns([new if name == old else name for name in table.column_names])


def shuffled(table: pa.Table, seed: int = 0) -> pa.Table:
    return table.take(pa.array(np.random.default_rng(seed).permutation(len(table))))


def torn() -> pa.RecordBatchReader:
    """A batch whose reading breaks off."""

    def batches() -> Iterator[pa.RecordBatch]:
        yield orders(0).to_batches()[0]
        raise OSError("the connection was reset")

    return pa.RecordBatchReader.from_batches(orders(0).schema, batches())


# --- gates


class Speller(PatternIndex):
    """An index whose only rule is the first value it is given, letter by letter."""

    def __init__(self) -> None:
        pass

    def __len__(self) -> int:
        return 1

    def infer(self, values: Any, *_: Any, **__: Any) -> PatternRule:
        atom = Atom(AtomKind.CONST, text=values[0].as_py())
        branch = Branch((PatternSegment(Pattern((atom,)), columns=9),))
        return PatternRule((branch,), seen=len(values), outside=0, alarm=0.001, miss=0.1)


def judged(gate: Gate, day: int, table: pa.Table | None = None, **given: Any) -> BatchVerdict:
    return gate.judge(orders(day) if table is None else table, named(day), **given)


def new_gate(store: Any = None, **given: Any) -> Gate:
    """A gate as users make it."""
    return Gate("orders", store=store or MemoryStore(secret=SECRET), **{"false_alarms": BUDGET, **given})


def gate_after(days: int, *, hide: bool = True, **given: Any) -> Gate:
    """A gate with a history of its own, in which these first days were published."""
    return new_gate(copied(_judged_days(days, hide), days, hide), **given)


@cache
def month() -> Gate:
    """A gate after thirty days, for tests that judge broken batches of the next and decide nothing: it learns once."""
    return gate_after(30)


_GROWN: dict[bool, Gate] = {}


def _judged_days(days: int, hide: bool) -> HistoryStore:
    """A history of at least so many days: one for all tests, which grows as they ask for more."""
    gate = _GROWN.setdefault(hide, new_gate(_store(hide)))
    for day in range(len(gate.store.revisions("orders")), days):
        if not judged(gate, day).passed:  # a false alarm, which the budget allows
            gate.accept(named(day))
    return gate.store


def copied(store: HistoryStore, days: int, hide: bool = True) -> MemoryStore:
    """The first so many runs of a history, with what was decided about them, in a store of their own."""
    made = _store(hide)
    for each in (each for each in store.revisions("orders") if each.partition < named(days)):
        made.commit(store.run(each))
        assert each.decision is not None
        made.decide("orders", each.partition, each.decision, number=each.number, who="gate")
    return made


def _store(hide: bool) -> MemoryStore:
    return MemoryStore(hide=hide, secret=SECRET)
