"""Dates with day and month swapped."""

from __future__ import annotations

from datetime import date, timedelta

import numpy as np
import pyarrow as pa

import headgate as hg
from headgate.diagnose.diagnose import diagnose_batch
from headgate.learn.past import Past
from headgate.values.diagnosis import Diagnosis
from headgate.values.key import MetricKey
from headgate.values.outcome import Measured


def make_batch(seed: int, low: str = "2026-01-03") -> pa.Table:
    """Dates of a year and a half that come in each batch, as due dates of a list that is published again and again."""
    random = np.random.default_rng(seed)
    days = date.fromisoformat(low).toordinal() + 3 * random.integers(0, 150, 600)
    return pa.table({"due": pa.array([date.fromordinal(int(day)) for day in days])})


def diagnose(batch: pa.Table) -> tuple[Diagnosis, ...]:
    past = Past.of([hg.analyze(make_batch(seed)) for seed in range(12)])
    now = hg.analyze(batch)
    failed = [MetricKey("new_values", ("due",)), MetricKey("unique_ratio", ("due",))]
    return diagnose_batch(past, now.schema, now.states, {MetricKey("size"): Measured(batch.num_rows)}, failed)


def change_dates(batch: pa.Table, days: int = 0) -> pa.Table:
    def swap(day: date) -> date:
        if days:
            return day + timedelta(days=days)
        return day.replace(day=day.month, month=day.day) if day.day <= 12 else day

    return pa.table({"due": pa.array([swap(day) for day in batch["due"].to_pylist()])})


def test_a_swap_is_named() -> None:
    (found,) = diagnose(change_dates(make_batch(99)))
    assert (found.fault, found.columns) == ("day_month_swapped", ("due",))
    assert found.sentence.startswith("due has day and month swapped")
    assert not found.repairable


def test_a_shift_by_days_is_no_swap() -> None:
    assert "day_month_swapped" not in [each.fault for each in diagnose(change_dates(make_batch(99), days=1))]
