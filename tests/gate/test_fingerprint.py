"""A fingerprint made from what was measured: the same for the same rows, another for any other."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import headgate as hg
from headgate.gate.fingerprint import fingerprint_batch
from tests.gate.orders import elsewhere, emptied, gate_after, judged, orders, renamed, replaced, shuffled


def of(table: pa.Table) -> str:
    return fingerprint_batch(hg.analyze(table))


OTHERS: dict[str, pa.Table] = {
    "another day": orders(1),
    "a row less": orders(0).slice(1),
    "no row": orders(0).slice(0, 0),
    "another name": renamed(orders(0), "code", "Code"),
    "another type": replaced(orders(0), "quantity", orders(0)["quantity"].cast(pa.float64())),
    "another width": replaced(orders(0), "quantity", orders(0)["quantity"].cast(pa.int32())),
    "another order of columns": orders(0).select(["code", "id", "price", "quantity", "country"]),
    "a null": emptied(orders(0), "price", share=0.001),
    "another text of the same length": replaced(orders(0), "country", ["AT", *orders(0)["country"].to_pylist()[1:]]),
    "other texts": elsewhere(orders(0)),
    "one number a little larger": replaced(
        orders(0), "price", [orders(0)["price"][0].as_py() + 1e-6, *orders(0)["price"].to_pylist()[1:]]
    ),
}


@pytest.mark.parametrize("other", OTHERS.values(), ids=OTHERS.keys())
def test_another_input_has_another_fingerprint(other: pa.Table) -> None:
    assert of(other) != of(orders(0))


def test_two_numbers_that_changed_places_between_columns_are_told() -> None:
    one, two = pa.table({"a": [1, 2], "b": [3, 4]}), pa.table({"a": [3, 4], "b": [1, 2]})
    assert of(one) != of(two)


VALUES: dict[str, Any] = {
    "whole": st.integers(-5, 5),
    "fraction": st.floats(-1e3, 1e3) | st.sampled_from([0.1, 0.2, -0.3, 0.0, -0.0, 1e-9]) | st.just(float("nan")),
    "text": st.none() | st.sampled_from(["DE", "FR", "", " ", "日本"]),
}
ROWS = st.lists(st.tuples(*VALUES.values()), min_size=1, max_size=40)


@given(ROWS, st.randoms(use_true_random=False), st.integers(0, 40))
def test_the_order_and_the_split_of_the_rows_do_not_matter(rows: list[Any], random: Any, cut: int) -> None:
    mixed = random.sample(rows, len(rows))
    assert of(table_of(mixed, cut)) == of(table_of(rows))


def table_of(rows: list[Any], cut: int = 0) -> pa.Table:
    """The rows as a table, in two pieces."""
    types = {"whole": pa.int64(), "fraction": pa.float64(), "text": pa.string()}
    columns = dict(zip(types, map(list, zip(*rows, strict=True)), strict=True))
    whole = pa.table({name: pa.array(values, types[name]) for name, values in columns.items()})
    return pa.concat_tables([whole.slice(0, cut), whole.slice(cut)]) if cut < len(whole) else whole


PARTED: dict[str, pa.Table] = {
    "a day": orders(0),
    "more values than are kept": pa.table({"name": [f"v{at % 700}" for at in range(3_000)]}),
    "all values different": pa.table({"name": [f"v{at}" for at in range(1_500)], "id": list(range(1_500))}),
    "sums that cancel": pa.table({"x": [0.1, 0.2, -0.3] * 7}),
    "large sums": pa.table({"x": np.random.default_rng(0).normal(1e9, 1, 400)}),
}


@pytest.mark.parametrize("table", PARTED.values(), ids=PARTED.keys())
def test_it_does_not_matter_over_how_many_tasks_the_rows_were_spread(table: pa.Table) -> None:
    found = set()
    for seed in range(4):
        rows, cut = shuffled(table, seed), len(table) * (seed + 1) // 5
        found.add(fingerprint_batch(hg.analyze(rows.slice(0, cut)) + hg.analyze(rows.slice(cut))))
    assert len(found) == 1


@settings(max_examples=3)
@given(st.permutations(range(8)), st.sampled_from([orders(8), elsewhere(orders(8)), emptied(orders(8), "price", 0.1)]))
def test_a_verdict_does_not_depend_on_the_order_of_the_rows(order: list[int], table: pa.Table) -> None:
    gate = gate_after(8, learn=["history", "novelty"])
    pieces = [table.slice(at * len(table) // 8, (at + 1) * len(table) // 8 - at * len(table) // 8) for at in order]
    mixed = pa.concat_tables(pieces)
    assert sorted(mixed["id"].to_pylist()) == sorted(table["id"].to_pylist())
    plain, other = judged(gate_after(8, learn=["history", "novelty"]), 8, table), judged(gate, 8, mixed)
    assert other.run.fingerprint == plain.run.fingerprint
    assert statuses(other) == statuses(plain)
    assert [each.title for each in other.causes] == [each.title for each in plain.causes]


def statuses(verdict: Any) -> list[tuple[str, str]]:
    return [(str(each.expectation), each.status.value) for each in verdict.judgements]
