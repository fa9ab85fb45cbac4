"""What the gate's benchmark on Online Retail is told beforehand, and what it does with a broken day."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from benchmarks.history.feeds import Feed
from benchmarks.novelty import retail_gate
from benchmarks.novelty.retail_gate import DATASET, RUNS, without
from headgate.learn.pooled_rates import load_pooled_rates
from headgate.values.run import TRUSTED
from training import pooled_rates

ONE, TWO = Feed("one", "feed", Path()), Feed("two", "feed", Path())


@pytest.fixture
def two_feeds(monkeypatch):
    rng = np.random.default_rng(0)

    def counts(names: list[str], seen: float) -> pooled_rates.Counted:
        return {
            f"{name} varying 28": (seen, np.sort(rng.uniform(0, seen, len(pooled_rates.GRID)))[::-1]) for name in names
        }

    held = {ONE: counts(["mean", "max"], 9_000.0), TWO: counts(["mean", "min"], 500.0)}
    monkeypatch.setattr(pooled_rates, "feeds", lambda: list(held))
    monkeypatch.setattr(pooled_rates, "counted", held.__getitem__)
    monkeypatch.setattr(retail_gate, "counted", held.__getitem__)


@pytest.mark.usefixtures("two_feeds")
@pytest.mark.parametrize(("left_out", "folder"), [(ONE, "one"), (TWO, "two")])
def test_leaving_a_feed_out_afterwards_is_gathering_from_the_others(left_out, folder):
    found, wanted = without(pooled_rates.evidence(), left_out), pooled_rates.evidence(without=[folder])
    assert found.curves.keys() == wanted.curves.keys()
    for key, curve in wanted.curves.items():
        assert found.curves[key].seen == pytest.approx(curve.seen)
        assert found.curves[key].shares == pytest.approx(curve.shares, abs=1e-6)


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
