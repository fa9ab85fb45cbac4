"""What the gate's benchmark on Online Retail is told beforehand, and what it does with a broken day."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from benchmarks.novelty import retail_gate
from benchmarks.novelty.retail_gate import DATASET, RUNS
from headgate.learn.pooled_rates import load_pooled_rates
from headgate.values.run import TRUSTED


def test_a_day_without_prices_is_held_at_every_budget_and_a_usual_one_at_none():
    def orders(day: int) -> pa.Table:
        rng = np.random.default_rng(day)
        return pa.table({"price": rng.normal(50.0, 5.0, 300), "country": rng.choice(["DE", "FR", "US"], 300)})

    days = [(f"2026-01-{day + 1:02d}", orders(day)) for day in range(20)]
    store = retail_gate._recorded(days)
    runs = [store.run(each) for each in store.last(DATASET, RUNS, before="2026-02-01", only=TRUSTED)]
    lessons = retail_gate._lessons(runs, store, load_pooled_rates())
    assert len(runs) == 20
    assert not any(retail_gate._flags(orders(21), lessons))
    assert all(retail_gate._flags(orders(21).set_column(0, "price", pa.nulls(300, pa.float64())), lessons))
