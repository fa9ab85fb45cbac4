"""How large a page is and how long it takes; benchmarks/report/sizes.py measures it on tables that are scanned."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import msgspec
import pytest

from benchmarks.report.sizes import LIMITS, SECONDS, history
from headgate.gate.gate import Gate
from headgate.report.html import Report
from headgate.store.memory import MemoryStore
from headgate.values.key import MetricKey
from headgate.values.run import Run
from headgate.values.schema import Column, Schema
from headgate.values.verdict import Verdict
from tests.timing import measure_least_seconds

SCANNED = 20
RUNS = 12


@cache
def _narrow() -> Gate:
    """Runs of a table of few columns, three of them broken in the last."""
    return history(SCANNED, runs=RUNS)[0]


def _wide(columns: int) -> Gate:
    """The same runs as if each column had been there many times."""
    narrow, store = _narrow(), MemoryStore()
    for revision in narrow.store.revisions("wide"):
        store.commit(_widened(narrow.store.run(revision), columns // SCANNED))
        assert revision.decision is not None
        store.decide("wide", revision.partition, revision.decision, who="gate")
    return Gate("wide", store=store)


def _widened(run: Run, times: int) -> Run:
    def key(metric: MetricKey, at: int) -> MetricKey:
        return msgspec.structs.replace(metric, columns=tuple(f"{name}_{at:02}" for name in metric.columns))

    def all_keys(found: dict[MetricKey, object]) -> dict[MetricKey, object]:
        return {key(each, at): value for at in range(times) for each, value in found.items()}

    judged = [
        msgspec.structs.replace(
            each, expectation=msgspec.structs.replace(each.expectation, metric=key(each.expectation.metric, at))
        )
        for at in range(times)
        for each in run.verdict.judgements
    ]
    columns = [
        Column(f"{each.label}_{at:02}", each.kind, each.type) for at in range(times) for each in run.schema.columns
    ]
    return msgspec.structs.replace(
        run,
        schema=Schema(tuple(columns)),
        outcomes=all_keys(run.outcomes),
        states=all_keys(run.states),
        verdict=Verdict(tuple(judged)),
    )


@pytest.mark.parametrize("columns", LIMITS)
def test_the_pages_of_a_wide_table_are_small_and_quickly_written(columns: int, tmp_path: Path) -> None:
    gate = _wide(columns)
    last = gate.store.last("wide", 1)[0].partition
    verdict = gate.explain(last)
    assert len(verdict.run.schema.columns) == columns
    assert len(verdict.judgements) > columns
    page = tmp_path / "page.html"
    for write in (lambda: Report.of(gate, verdict).save(page), lambda: Report.of(gate).save(page)):
        assert measure_least_seconds(write, SECONDS) <= SECONDS
        assert page.stat().st_size <= LIMITS[columns]
        assert verdict.run.schema.columns[-1].label in page.read_text(encoding="utf-8")
