"""Runs for tests of stores: small, complete, made from seeds."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from headgate.engine.analyze import analyze
from headgate.values.expectation import Expectation
from headgate.values.key import MetricKey
from headgate.values.predicate import Between
from headgate.values.run import Run
from headgate.values.verdict import judge

METRICS = (
    "size()",
    "completeness(price)",
    "mean(price)",
    "approx_quantile(price, q=0.5)",
    "approx_count_distinct(name)",
    "value_distribution(name)",
    "mean(absent)",
    'mean(price) where "price < 0"',
)


def a_run(partition: str = "2026-11-14", *, dataset: str = "orders", seed: int = 0, **given: Any) -> Run:
    """A run of 20 rows made from the seed: numbers, a distribution, an undefined and a failed metric."""
    prices = [float((seed * 7 + at * 13) % 100) for at in range(20)]
    names = [f"name {(seed + at) % 5}" for at in range(20)]
    analysis = analyze(pa.table({"price": prices, "name": names}), METRICS)
    verdict = judge([Expectation(MetricKey.parse("mean(price)"), Between(0, 100))], analysis.outcomes)
    return Run(
        **{
            "dataset": dataset,
            "partition": partition,
            "fingerprint": f"input {seed}",
            "suite": "suite",
            "schema": analysis.schema,
            "outcomes": analysis.outcomes,
            "states": analysis.states,
            "verdict": verdict,
            **given,
        }
    )


def a_small_run(partition: str, *, dataset: str = "orders", seed: int = 0, **given: Any) -> Run:
    """A run with one number, for tests that need many."""
    from headgate.values.outcome import Measured

    outcomes = {MetricKey("size"): Measured(float(seed))}
    return Run(dataset=dataset, partition=partition, fingerprint=f"input {seed}", outcomes=outcomes, **given)
