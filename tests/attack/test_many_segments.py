"""Checks by a column with very many values.

A gate folded all that it measures of a batch for every segment: 4,000 segments took 13 CPU seconds. There was no
limit, so that a column of identifiers gave millions of judgements.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import headgate as hg
from headgate.evaluate import evaluation
from tests.timing import measure_least_seconds

SEGMENTS = 4_000


def make_orders(segments: int, rows_each: int = 5) -> pa.Table:
    rows = segments * rows_each
    shops = [f"shop {row % segments:06}" for row in range(rows)]
    prices = np.random.default_rng(7).normal(10, 2, rows)
    return pa.table({"shop": shops, "price": prices, "code": [f"A{row % 9}" for row in range(rows)]})


CHECK = hg.Check("orders", by=["shop"]).has_mean("price", between=(100, 200)).is_contained_in("code", ["B"])


def test_thousands_of_segments_are_judged_in_seconds() -> None:
    orders = make_orders(SEGMENTS)
    gate = hg.Gate("orders", store=hg.open_store("memory:"), checks=[CHECK])
    days = map(str, range(10))
    # about 1.5 alone; 13 before
    assert measure_least_seconds(lambda: gate.judge(orders, partition=next(days)), 6) < 6
    assert gate.judge(orders, partition="0").action == "hold"
    assert measure_least_seconds(lambda: hg.verify(orders, CHECK), 3) < 3
    assert len(hg.verify(orders, CHECK).judgements) == 2 * SEGMENTS


def test_what_the_gate_measures_of_the_whole_does_not_depend_on_segments() -> None:
    orders = make_orders(20)
    plain, segmented = (
        hg.Gate("a", store=hg.open_store("memory:")),
        hg.Gate("a", store=hg.open_store("memory:"), checks=[CHECK]),
    )
    runs = [gate.store.run(gate.judge(orders, partition="1").revision) for gate in (plain, segmented)]
    whole = runs[0].outcomes
    assert whole.keys() == {key for key in runs[1].outcomes if key in whole}
    exact = [key for key in whole if key.name in ("size", "completeness", "min", "max")]
    assert exact
    assert [whole[key] for key in exact] == [runs[1].outcomes[key] for key in exact]


def test_more_segments_than_the_cap_are_an_error_that_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(evaluation, "MOST_SEGMENTS", 100)
    verification = hg.verify(make_orders(101), CHECK)
    assert verification.status == "error"
    assert len(verification.judgements) == 2
    why = verification.judgements[0].reason
    assert "by shop there are 101 segments, and at most 100 are judged; choose columns with fewer" in why
    assert hg.verify(make_orders(100), CHECK).status == "fail"
