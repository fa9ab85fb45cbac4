"""Headgate guards recurring Spark pipelines: one scan of a batch, small mergeable states, a verdict with its reason."""

from __future__ import annotations

from typing import Any

from headgate.values.version import __version__ as __version__

# Names are looked up when first used, so that importing the package costs nothing and a new metric needs no line here.
# `make docs` writes `__init__.pyi` from them, which is what editors and type checkers read.
_HOME = {
    "analyze": "headgate.engine.analyze",
    "explain_cost": "headgate.engine.explain_cost",
    "CostEstimate": "headgate.engine.cost_estimate",
    "Progress": "headgate.engine.progress",
    "Analysis": "headgate.engine.analysis",
    "Parts": "headgate.engine.parts",
    "Check": "headgate.checks.check",
    "verify": "headgate.evaluate.verify",
    "Verification": "headgate.evaluate.verification",
    "profile": "headgate.learn.rules.profile",
    "Profile": "headgate.learn.rules.profile",
    "suggest": "headgate.learn.rules.suggest",
    "Suggestions": "headgate.learn.rules.suggestions",
    "Threshold": "headgate.learn.anomaly.threshold",
    "AbsoluteChange": "headgate.learn.anomaly.absolute_change",
    "RelativeChange": "headgate.learn.anomaly.relative_change",
    "OnlineNormal": "headgate.learn.anomaly.online_normal",
    "BatchNormal": "headgate.learn.anomaly.batch_normal",
    "HoltWinters": "headgate.learn.anomaly.holt_winters",
    "inject_issue": "headgate.inject.inject",
    "issues": "headgate.inject.issue",
    "Past": "headgate.learn.past",
    "learn_program": "headgate.learn.history.learn",
    "Program": "headgate.learn.history.program",
    "PatternIndex": "headgate.learn.patterns.index",
    "build_index": "headgate.learn.patterns.build",
    "propose_pattern": "headgate.learn.patterns.propose",
    "find_columns": "headgate.learn.patterns.find_columns",
    "Gate": "headgate.gate.gate",
    "BatchVerdict": "headgate.gate.batch_verdict",
    "Diagnosis": "headgate.values.diagnosis",
    "RepairTrial": "headgate.gate.repair_trial",
    "calibrate": "headgate.gate.calibration",
    "Evidence": "headgate.learn.evidence",
    "Folders": "headgate.gate.publish.folders",
    "Iceberg": "headgate.integrations.iceberg",
    "ResultTables": "headgate.integrations.results",
    "Delta": "headgate.integrations.delta",
    "StreamGate": "headgate.integrations.streaming.stream_gate",
    "expect": "headgate.integrations.pipelines.row_expectations",
    "expect_or_drop": "headgate.integrations.pipelines.row_expectations",
    "expect_or_fail": "headgate.integrations.pipelines.row_expectations",
    "RowExpectations": "headgate.integrations.pipelines.row_expectations",
    "expect_learned": "headgate.integrations.pipelines.learned_expectation",
    "expect_learned_or_fail": "headgate.integrations.pipelines.learned_expectation",
    "Report": "headgate.report.html",
    "Novelty": "headgate.learn.novelty.model",
    "open_store": "headgate.store.open",
    "open_table_store": "headgate.integrations.table_store",
    "HistoryStore": "headgate.store.port",
    "Run": "headgate.values.run",
    "Decision": "headgate.values.run",
    "MetricKey": "headgate.values.key",
    "Between": "headgate.values.predicate",
    "OneOf": "headgate.values.predicate",
    "Status": "headgate.values.expectation",
    "Distribution": "headgate.values.outcome",
    "Measured": "headgate.values.outcome",
    "Undefined": "headgate.values.outcome",
    "Failed": "headgate.values.outcome",
    "Project": "headgate.project.project",
    "HeadgateError": "headgate.values.errors",
}


def _metric_classes() -> dict[str, Any]:
    from headgate.metrics.base.registry import metrics

    return {kind.__name__: kind for kind in metrics().values()}


def __getattr__(name: str) -> Any:
    if name == "__all__":
        return sorted([*_HOME, *_metric_classes()])
    if name in _HOME:
        from importlib import import_module

        return getattr(import_module(_HOME[name]), name)
    if name[:1].isupper() and name in (classes := _metric_classes()):
        return classes[name]
    raise AttributeError(f"headgate has no {name!r}; dir(headgate) lists what there is")


def __dir__() -> list[str]:
    return sorted([*_HOME, *_metric_classes(), "__all__", "__doc__", "__version__"])
