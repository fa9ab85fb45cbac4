"""How often a job is run, and when the code of this package is shipped. No JVM: jobs are functions here."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from headgate.engine import spark as engine
from headgate.engine.parted_scan import ScanResult
from headgate.engine.plan import Plan, make_plan
from headgate.values.schema import Column, Kind, Schema

SCHEMA = Schema((Column("a", Kind.INTEGER, "bigint"), Column("b", Kind.INTEGER, "bigint")))


class Cluster:
    """Executors that lack this package until it is shipped, and memory for all columns at once."""

    def __init__(self, columns_at_once: int = 1) -> None:
        self.columns_at_once = columns_at_once
        self.shipped = 0
        self.jobs: list[int] = []

    def run(self, batch: Any, plan: Plan, report: Any, own_batch_sizes: bool, files: Any) -> ScanResult:
        self.jobs.append(len(plan.columns))
        if len(plan.columns) > self.columns_at_once:
            raise RuntimeError("org.apache.arrow.memory.OutOfMemoryException")
        if not self.shipped:
            raise ModuleNotFoundError("No module named 'headgate'")
        return ScanResult({(): {}}, {})

    def ship(self, spark: Any) -> None:
        self.shipped += 1


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> Cluster:
    made = Cluster()
    monkeypatch.setattr(engine, "_run", made.run)
    monkeypatch.setattr(engine, "ship_code", made.ship)
    return made


def scan(*metrics: str) -> ScanResult:
    batch: Any = SimpleNamespace(data=SimpleNamespace(sparkSession=object()), schema=SCHEMA, tables={})
    return engine.run_spark(batch, make_plan(SCHEMA, list(metrics)), None)


def test_code_is_shipped_once_and_the_job_run_again(cluster: Cluster) -> None:
    assert scan("sum(a)").failed == {}
    assert cluster.shipped == 1
    assert cluster.jobs == [1, 1]


def test_code_is_shipped_also_if_another_fault_came_first(cluster: Cluster) -> None:
    assert scan("sum(a)", "sum(b)").failed == {}
    assert cluster.shipped == 1
    assert cluster.jobs == [2, 2, 0, 0, 1, 1]
