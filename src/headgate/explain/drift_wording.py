"""Say in words what has moved slowly, and how far."""

from __future__ import annotations

from headgate.display.numbers import format_number
from headgate.explain.change_wording import describe_factor
from headgate.learn.drift import find_drift_metric
from headgate.values.account import Drift
from headgate.values.expectation import Judgement
from headgate.values.key import MetricKey


def describe_drift(drift: Drift) -> str:
    """A metric now and long ago.

    >>> describe_drift(Drift("median(price)", "2026-01-05", 24.1, 48.9))
    'price: median 48.9, 24.1 in 2026-01-05 (about 2 times as large)'
    >>> describe_drift(Drift("size()", "2026-01-05", 2000, 960))
    '960 rows, 2,000 in 2026-01-05 (about half as many)'
    >>> describe_drift(Drift("completeness(price)", "2026-01-05", 1.0, 0.79))
    'price: 21% empty, 0% in 2026-01-05'
    """
    key = MetricKey.parse(drift.metric)
    if key.name == "completeness":
        return f"{key.columns[0]}: {1 - drift.now:.0%} empty, {1 - drift.before:.0%} in {drift.since}"
    now, before = format_number(drift.now), format_number(drift.before)
    if key.columns:
        times = describe_factor(drift.now / drift.before)
        return f"{key.columns[0]}: {key.name} {now}, {before} in {drift.since} ({times})"
    return f"{now} rows, {before} in {drift.since} ({describe_factor(drift.now / drift.before, 'many')})"


def describe_limit(judgement: Judgement) -> str | None:
    """A batch that has drifted beyond its limit; None if the judgement is about something else."""
    key, value, limit = judgement.expectation.metric, judgement.value, judgement.expectation.predicate
    metric = find_drift_metric(key)
    if metric is None or value is None:
        return None
    if metric.name == "completeness":
        points = f"{-100 * value:.0f} points, allowed {-100 * (limit.floor or 0.0):.0f}"
        return f"{metric.columns[0]} has slowly become more empty, by {points}"
    allowed = f"allowed {limit.ceiling:g} times" if value >= 1 and limit.ceiling else f"allowed {limit.floor:.0%}"
    if metric.columns:
        return f"{metric.columns[0]} has slowly become {describe_factor(value)} by its {metric.name}, {allowed}"
    return f"the rows have slowly become {describe_factor(value, 'many')}, {allowed}"
