"""A short form of the campaign of `make bench-tables`: kills by chance, and gates at the same time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from benchmarks.tables.kills import kill_calls
from benchmarks.tables.races import race_gates

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

KILLS = 3


@pytest.mark.parametrize("form", ["iceberg", "delta"])
def test_calls_that_are_killed_by_chance_lose_and_double_nothing(spark: SparkSession, form: str) -> None:
    found = kill_calls(spark, form, KILLS, seed=7)
    assert {kind: found[kind] for kind in ("lost", "doubled", "bad", "stuck")} == {
        "lost": 0,
        "doubled": 0,
        "bad": 0,
        "stuck": 0,
    }
    assert sum(found["steps"].values()) == KILLS


@pytest.mark.parametrize("form", ["iceberg", "delta"])
def test_gates_at_the_same_time_end_as_one_after_the_other(spark: SparkSession, form: str) -> None:
    found = race_gates(spark, form, rounds=1)
    assert (found["lost"], found["doubled"]) == (0, 0)
