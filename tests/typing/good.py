"""A program as users write it. Both checkers must find nothing in it, in their strict modes."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Any, assert_type

import headgate as hg


def measure(data: Any) -> float:
    analysis = hg.analyze(data, [hg.Completeness("price"), hg.Mean("price", where="region = 'EU'"), "size()"])
    assert_type(analysis, hg.Analysis)
    parts = hg.analyze(data, ["size()"], by="region")
    assert_type(parts, hg.Parts)
    assert_type(parts["EU"], hg.Analysis)
    assert_type(hg.explain_cost(data, ["size()"], rows=10), hg.CostEstimate)
    both = analysis + hg.Analysis.from_bytes(analysis.to_bytes())
    match both["mean(price)"]:
        case hg.Measured(value=float() as value):
            return value
        case hg.Undefined() | hg.Failed() | hg.Measured():
            return 0.0


def write_checks() -> hg.Check:
    check = (
        hg.Check("orders", level="warn")
        .is_unique("id")
        .is_complete("price", at_least=0.99)
        .has_mean("price", between=(5, 500))
        .is_contained_in("region", ["EU", "US"], by=["region"])
        .has_size(at_least=1, level="error")
    )
    assert_type(check, hg.Check)
    return hg.Check.from_yaml(check.to_yaml())


def verify_checks(data: Any, checks: list[hg.Check]) -> list[str]:
    verdict = hg.verify(data, checks, now=datetime(2026, 11, 14))
    assert_type(verdict, hg.Verification)
    assert_type(verdict.passed, bool)
    assert_type(verdict.status, hg.Status)
    return [judgement.reason for judgement in verdict.failures]


def learn(analyses: list[hg.Analysis]) -> str:
    past = hg.Past.of(analyses)
    program = hg.learn_program(past, false_alarms=0.01)
    assert_type(program, hg.Program)
    verdict = program.judge(analyses[-1], past)
    return program.diff(program) if verdict.passed else str(program)


def learn_patterns(values: list[str]) -> str | None:
    rule = hg.PatternIndex.public().infer(values)
    return None if rule is None else rule.regex


def judge_batch(data: Any) -> bool:
    store = hg.open_store("memory:")
    assert_type(store, hg.HistoryStore)
    gate = hg.Gate("orders", store=store, false_alarms=0.01, checks=[write_checks()], mode="observe")
    verdict = gate.judge(data, partition="2026-11-14", fingerprint="snapshot 7")
    assert_type(verdict, hg.BatchVerdict)
    for cause in verdict.causes:
        print(cause.title, cause.columns)
    if verdict.action == "hold":
        rulings = gate.accept("2026-11-12", to="2026-11-14", note="Black Friday")
        return all(ruling.decision is hg.Decision.ACCEPTED for ruling in rulings)
    return verdict.passed


def write_report(gate: hg.Gate, path: Path) -> str:
    report = hg.Report.of(gate, "2026-11-14")
    report.save(path)
    return hg.__version__


def open_project(path: Path) -> hg.Gate:
    try:
        with hg.Project.open(path) as project:
            return project.dataset("orders").gate
    except hg.HeadgateError as trouble:
        raise SystemExit(str(trouble)) from None
