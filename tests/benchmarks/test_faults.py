"""Faults of batches: each changes what it says, and nothing else."""

from __future__ import annotations

import datetime

import numpy as np
import pyarrow as pa
import pytest

from benchmarks.gate.faults import SIMPLE_FAULTS, SMALL_FAULTS

FAULTS = {**SMALL_FAULTS, **SIMPLE_FAULTS}


def batch(day: int) -> pa.Table:
    random = np.random.default_rng(day)
    at = datetime.datetime(2026, 11, day, 9)
    return pa.table(
        {
            "id": np.arange(60) + 1_000 * day,
            "price": np.round(random.lognormal(3.0, 0.5, 60), 2),
            "cost": np.round(random.lognormal(2.0, 0.5, 60), 2),
            "city": random.choice(["Berlin", "Lisboa", "Ottawa"], 60).tolist(),
            "at": [at + datetime.timedelta(minutes=int(each)) for each in random.integers(0, 600, 60)],
        }
    )


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_changes_a_batch_and_is_the_same_every_time(name: str) -> None:
    broken = FAULTS[name](batch(2), batch(1), np.random.default_rng(7))
    again = FAULTS[name](batch(2), batch(1), np.random.default_rng(7))
    assert broken is not None
    assert again is not None
    assert not broken.equals(batch(2))
    assert broken.equals(again)


@pytest.mark.parametrize("name", ["30% null", "dates a year earlier", "broken encoding in a fifth", "numbers as texts"])
def test_a_fault_that_fits_no_column_breaks_nothing(name: str) -> None:
    empty = pa.table({"flag": pa.array([None, True, False])})
    assert FAULTS[name](empty, empty, np.random.default_rng(7)) is None


def test_faults_do_what_they_say() -> None:
    made = {name: fault(batch(2), batch(1), np.random.default_rng(3)) for name, fault in SIMPLE_FAULTS.items()}
    assert made["half of the rows"].num_rows == 30
    assert made["every row twice"].num_rows == 120
    assert made["the batch before again"].equals(batch(1))
    assert sum(each.endswith("_new") for each in made["a renamed column"].column_names) == 1
    assert max(len(text) for text in made["texts cut to 3 characters"]["city"].to_pylist()) == 3
    assert sum("Ã©" in text for text in made["broken encoding in a fifth"]["city"].to_pylist()) == 12
    assert made["numbers as texts"].schema != batch(2).schema
    assert {each.year for each in made["dates a year earlier"]["at"].to_pylist()} == {2025}
