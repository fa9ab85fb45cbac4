"""The local engine costs no more CPU than `benchmarks/engine/guard.py` says; tests/spark has the same for Spark."""

from __future__ import annotations

import pyarrow as pa
import pytest

import headgate as hg
from benchmarks.engine import guard


def test_the_local_engine_costs_little_beside_counting_values() -> None:
    assert guard.is_within_limits(guard.measure_local)


def test_a_scan_that_does_its_work_three_times_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    analyze = guard.hg.analyze

    def analyze_thrice(table: pa.Table) -> hg.Analysis:
        for _ in range(2):
            analyze(table)
        return analyze(table)

    monkeypatch.setattr(guard.hg, "analyze", analyze_thrice)
    assert guard.find_excess(guard.measure_local())
