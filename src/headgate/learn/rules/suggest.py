"""Constraints that a table suggests itself, each held against rows that it was not made from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec

from headgate.checks.constraint import expectations
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

_SHARES = frozenset({"completeness", "compliance", "pattern_match", "type_ratio", "uniqueness"})


def suggest(
    data: Any, table: str = "", sample: float | None = None, seed: int = 0, columns: Sequence[str] | None = None
) -> Suggestions:
    """Suggest constraints from a random sample of rows, and hold each against the rest.

    `table` is the table's name, which helps to tell keys. `sample` is the share of rows that train: without it a tenth
    on Spark, else between half (below 20,000 rows) and a tenth. What does not hold on the sample itself is left
    out. On Spark it is two jobs, however many columns there are.

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
    cut = split_rows(data, sample, seed)
    drafts = [(each, expectations(each.rule)) for each in draft_suggestions(profile(cut.training, columns), table)]
    training, rest = cut.measure([Size(), *metrics_of(asked for _, asked in drafts)])
    judged = [
        msgspec.structs.replace(each, coverage=measure_coverage(asked, rest.outcomes))
        for each, asked in drafts
        if measure_coverage(asked, training.outcomes) in (1.0, None)
    ]
    return Suggestions(judged, _count_rows(training), _count_rows(rest))


def draft_suggestions(found: Profile, table: str = "") -> list[Suggestion]:
    """What the rules suggest from a profile, not yet held against anything."""
    return [each for column in found.values() for each in suggestions_for(column, table)]


def metrics_of(asked: Iterable[Sequence[Expectation]]) -> list[Metric[Any]]:
    """The metrics that expectations are about, each once."""
    return [from_key(key) for key in dict.fromkeys(each.metric for some in asked for each in some)]


def measure_coverage(asked: Sequence[Expectation], outcomes: Mapping[MetricKey, Outcome]) -> float | None:
    """How much of a batch agrees: 1.0 if the expectations hold, None if there is nothing to judge.

    If not: the share that meets them, of the share that should; 0.0 where there is no such share, as of a minimum.
    """
    shares: list[float] = []
    for judged in judge(asked, outcomes).judgements:
        if judged.status is Status.SKIP:
            continue
        if judged.status is Status.PASS:
            shares.append(1.0)
        elif judged.value is not None and judged.expectation.metric.name in _SHARES:
            shares.append(judged.value / (judged.expectation.predicate.floor or 1.0))
        else:
            shares.append(0.0)
    return min(shares) if shares else None


def _count_rows(found: Analysis) -> int:
    match found[Size()]:
        case Measured(float(rows)):
            return int(rows)
    return 0
