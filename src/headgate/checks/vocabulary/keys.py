"""Constraints on values that must not repeat."""

from __future__ import annotations

from headgate.checks.constraint import ALL, MetricTarget, constraint
from headgate.checks.rule_context import RuleContext
from headgate.metrics.base.metric import Metric
from headgate.metrics.completeness import Completeness
from headgate.metrics.distinctness import Distinctness
from headgate.metrics.unique_ratio import UniqueRatio
from headgate.metrics.uniqueness import Uniqueness
from headgate.values.predicate import Between


@constraint(default=ALL)
def is_unique(*columns: str) -> Uniqueness:
    """No value, or combination of values of several columns, occurs twice; exact. Nulls are left out."""
    return Uniqueness(columns)


@constraint(default=Between(low=0.95))
def is_approx_unique(column: str) -> UniqueRatio:
    """Hardly a value occurs twice, as far as a sketch of a few kilobytes can tell: no shuffle, an error of about 2%."""
    return UniqueRatio(column)


@constraint(default=ALL)
def is_primary_key(*columns: str) -> list[Metric]:  # type: ignore[type-arg]
    """Every column has a value in every row, and no combination of them occurs twice."""
    return [*(Completeness(column) for column in columns), Uniqueness(columns)]


@constraint(default=ALL)
def has_no_duplicate_rows(*, context: RuleContext, columns: tuple[str, ...] = ()) -> MetricTarget:
    """No two rows are alike in all columns, or in those named; a row of nothing but nulls is left out."""
    return MetricTarget(Distinctness(columns or context.schema.top_labels))
