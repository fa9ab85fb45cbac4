"""A gate over batches with nested columns: what it learns of the places inside them, and what it holds."""

from __future__ import annotations

from datetime import date, timedelta

import numpy as np
import pyarrow as pa

import headgate as hg

KIND = pa.schema(
    [
        ("id", pa.int64()),
        ("address", pa.struct([("city", pa.string()), ("zip", pa.string())])),
        ("items", pa.list_(pa.struct([("sku", pa.string()), ("price", pa.float64())]))),
    ]
)


def make_orders(rng: np.random.Generator, factor: float = 1.0) -> pa.Table:
    """Five hundred orders, of which only a few have items."""
    rows = [
        {
            "id": number,
            "address": {"city": str(rng.choice(["Rome", "Oslo", "Bern"])), "zip": f"{rng.integers(10_000, 99_999)}"},
            "items": [
                {"sku": f"s{rng.integers(0, 500)}", "price": factor * float(rng.gamma(2, 10))}
                for _ in range(int(rng.random() < 0.02))
            ],
        }
        for number in range(500)
    ]
    return pa.Table.from_pylist(rows, schema=KIND)


def judge_days(gate: hg.Gate, rng: np.random.Generator, days: int) -> list[str]:
    first = date(2026, 1, 1)
    return [gate.judge(make_orders(rng), partition=str(first + timedelta(day))).action for day in range(days)]


def test_places_are_learned_and_a_fault_inside_an_array_is_told() -> None:
    rng = np.random.default_rng(1)
    gate = hg.Gate("orders", store=hg.open_store("memory:"))
    assert set(judge_days(gate, rng, 40)) == {"publish"}
    verdict = gate.judge(make_orders(rng, factor=100.0), partition="2026-03-01")
    assert verdict.action == "hold"
    assert "1. items[].price" in str(verdict)


def test_a_new_column_is_noticed_beside_many_fields() -> None:
    rng = np.random.default_rng(2)
    gate = hg.Gate("orders", store=hg.open_store("memory:"))
    judge_days(gate, rng, 9)
    wider = make_orders(rng).append_column("extra", pa.array([1] * 500))
    assert gate.judge(wider, partition="2026-03-01").action == "hold"


def test_what_is_inside_an_ignored_column_is_ignored() -> None:
    rng = np.random.default_rng(3)
    gate = hg.Gate("orders", store=hg.open_store("memory:"), ignore=["items"])
    judge_days(gate, rng, 12)
    assert gate.judge(make_orders(rng, factor=100.0), partition="2026-03-01").action == "publish"
