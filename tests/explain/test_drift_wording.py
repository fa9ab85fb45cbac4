"""Drift in words."""

from __future__ import annotations

import pytest

from headgate.explain.drift_wording import describe_drift, describe_limit
from headgate.values.account import Drift
from headgate.values.expectation import Expectation, Judgement, Source, Status
from headgate.values.key import MetricKey
from headgate.values.predicate import Between, Predicate


@pytest.mark.parametrize(
    ("metric", "before", "now", "words"),
    [
        ("median(price)", 24.0, 240.0, "price: median 240, 24 in 2026-01-05 (about 10 times as large)"),
        ("size()", 2_000.0, 600.0, "600 rows, 2,000 in 2026-01-05 (about a third as many)"),
        ("completeness(price)", 0.98, 0.6, "price: 40% empty, 2% in 2026-01-05"),
    ],
)
def test_a_drift_is_told_with_what_was_long_ago(metric: str, before: float, now: float, words: str) -> None:
    assert describe_drift(Drift(metric, "2026-01-05", before, now)) == words


@pytest.mark.parametrize(
    ("metric", "value", "limit", "words"),
    [
        (
            "median_drift(price)",
            11.2,
            Between(0.1, 10.0),
            "price has slowly become about 11 times as large by its median, allowed 10 times",
        ),
        ("size_drift()", 0.08, Between(0.1, 10.0), "the rows have slowly become about 1/12 as many, allowed 10%"),
        (
            "completeness_drift(price)",
            -0.52,
            Between(low=-0.5),
            "price has slowly become more empty, by 52 points, allowed 50",
        ),
        ("median(price)", 11.2, Between(0.1, 10.0), None),
    ],
)
def test_a_drift_beyond_its_limit_is_told_with_the_limit(
    metric: str, value: float, limit: Predicate, words: str | None
) -> None:
    expectation = Expectation(MetricKey.parse(metric), limit, Source.HISTORY)
    assert describe_limit(Judgement(expectation, Status.FAIL, "", value)) == words
