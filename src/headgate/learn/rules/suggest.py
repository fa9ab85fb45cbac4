"""Suggests constraints from a sample of a table, and evaluates each on the rows that were held out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec

from headgate.checks.constraint import expectations
from headgate.checks.rule_context import AnyRuleContext
from headgate.engine.analysis import Analysis
from headgate.learn.rules.profile import Profile, profile
from headgate.learn.rules.rule import Suggestion, suggestions_for
from headgate.learn.rules.split import split_rows
from headgate.learn.rules.suggestions import Suggestions
from headgate.metrics.base.metric import Metric
from headgate.metrics.base.registry import from_key
from headgate.metrics.size import Size
from headgate.values.expectation import Expectation, Status
from headgate.values.key import MetricKey
from headgate.values.outcome import Measured, Outcome
from headgate.values.verdict import judge

# Metrics whose value is the share of rows that meet a constraint.
_SHARE_METRICS = frozenset({"completeness", "compliance", "pattern_match", "type_ratio", "uniqueness"})


def suggest(
    data: Any, table: str = "", sample: float | None = None, seed: int = 0, columns: Sequence[str] | None = None
) -> Suggestions:
    """Suggest constraints from a random sample of rows, and evaluate each on the held-out rows.

    A constraint that does not hold on the sample itself is left out. On Spark this takes two jobs, for any number of
    columns.

    Args:
        data: A Spark DataFrame, a pyarrow Table, Dataset or RecordBatchReader, or a pandas or polars frame.
        table: The table's name, which helps to recognise keys.
        sample: The share of rows to learn from. Default: a tenth on Spark, else from a half (below 20,000 rows) down
            to a tenth.
        seed: The seed of the random sample.
        columns: The columns to look at. Default: all.

    >>> import pyarrow as pa
    >>> orders = pa.table({"id": list(range(5_000)), "region": ["EU", "US"] * 2_500})
    >>> print(suggest(orders).to_check("orders"))
    orders: 5 rules
      is_complete(id)
      is_non_negative(id)
      is_unique(id)
      is_contained_in(region, values=["EU", "US"])
      is_complete(region)
    """
    split = split_rows(data, sample, seed)
    profiles = profile(split.training, columns)
    context = AnyRuleContext(profiles.schema)
    drafts = [(draft, expectations(draft.rule, context)) for draft in draft_suggestions(profiles, table)]
    training, rest = split.measure([Size(), *metrics_of(expected for _, expected in drafts)])
    suggestions = [
        msgspec.structs.replace(draft, coverage=measure_coverage(expected, rest.outcomes))
        for draft, expected in drafts
        if measure_coverage(expected, training.outcomes) in (1.0, None)
    ]
    return Suggestions(suggestions, _count_rows(training), _count_rows(rest))


def draft_suggestions(profiles: Profile, table: str = "") -> list[Suggestion]:
    """The suggestions of all rules for a profile, not yet evaluated."""
    return [draft for column in profiles.values() for draft in suggestions_for(column, table)]


def metrics_of(expected: Iterable[Sequence[Expectation]]) -> list[Metric[Any]]:
    """The metrics of the expectations, each once."""
    return [from_key(key) for key in dict.fromkeys(each.metric for group in expected for each in group)]


def measure_coverage(expected: Sequence[Expectation], outcomes: Mapping[MetricKey, Outcome]) -> float | None:
    """How far a batch meets the expectations: 1.0 if they hold, None if there is nothing to judge.

    If they fail, it is the share of rows that meets them divided by the share that should; 0.0 for a metric that is
    not a share, such as a minimum.
    """
    shares: list[float] = []
    for judgement in judge(expected, outcomes).judgements:
        if judgement.status is Status.SKIP:
            continue
        if judgement.status is Status.PASS:
            shares.append(1.0)
        elif judgement.value is not None and judgement.expectation.metric.name in _SHARE_METRICS:
            shares.append(judgement.value / (judgement.expectation.predicate.floor or 1.0))
        else:
            shares.append(0.0)
    return min(shares) if shares else None


def _count_rows(analysis: Analysis) -> int:
    match analysis[Size()]:
        case Measured(float(rows)):
            return int(rows)
    return 0
