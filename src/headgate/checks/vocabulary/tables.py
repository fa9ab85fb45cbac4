"""Constraints on the table as a whole: its columns, its rows compared with another table, its age, its past."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, timedelta

from headgate.checks.constraint import ALL, MetricTarget, constraint
from headgate.checks.rule_context import RuleContext
from headgate.metrics.base.metric import Metric
from headgate.metrics.base.registry import from_key
from headgate.metrics.column_type import ColumnType
from headgate.metrics.containment import Containment
from headgate.metrics.has_column import HasColumn
from headgate.metrics.max import Max
from headgate.metrics.predictability import Predictability
from headgate.metrics.size import Size
from headgate.metrics.type_consistency import TypeConsistency
from headgate.values.errors import MisuseError
from headgate.values.expectation import Source
from headgate.values.key import MetricKey
from headgate.values.predicate import Between, OneOf, Predicate

_AGE = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s*(s|m|h|d|w)")
_SECONDS = {"s": 1, "m": 60, "h": 3_600, "d": 86_400, "w": 604_800}


@constraint()
def metric(key: str) -> Metric:  # type: ignore[type-arg]
    """Any metric by its key: metric("mean(price)", at_least=5)."""
    return from_key(key)


@constraint(default=ALL, whole=True)
def has_column(column: str, type: str = "") -> Metric:  # type: ignore[type-arg]
    """There is such a column; with a type, it has that type: a kind (integer, string, ...) or the engine's own word."""
    return ColumnType(column, type=type) if type else HasColumn(column)


@constraint(default=ALL)
def has_consistent_type(column: str) -> TypeConsistency:
    """The largest share of texts that look like one type."""
    return TypeConsistency(column)


@constraint()
def has_predictability(column: str, inputs: Sequence[str], score: str = "f1") -> Predictability:
    """How well the column can be told from others by naive Bayes, scored on rows held out: f1, precision or recall."""
    return Predictability((column, *((inputs,) if isinstance(inputs, str) else inputs)), score=score)


@constraint(default=ALL)
def is_contained_in_table(*columns: str, table: str, of: str = "") -> Containment:
    """The share of values that another table has: a foreign key. `of` is its column, if that has another name."""
    return Containment(columns, table=table, of=of)


@constraint(default=ALL, whole=True)
def has_row_count_match(table: str, *, context: RuleContext) -> MetricTarget:
    """As many rows as another table; a threshold is of the ratio of the two: between=(0.99, 1.01)."""
    rows = context.rows_of(table)
    return MetricTarget(Size(), lambda ratio: _scale_threshold(ratio, rows))


@constraint(default=ALL, whole=True, optional=("columns",))
def matches_table(*columns: str, table: str, context: RuleContext) -> list[MetricTarget]:
    """The same rows as another table, in these columns or in all: as many, and each of them is there."""
    names = columns or context.schema.top_labels
    rows = context.rows_of(table)
    return [
        MetricTarget(Size(), lambda ratio: _scale_threshold(ratio, rows)),
        MetricTarget(Containment(names, table=table)),
    ]


@constraint(fixed=True)
def is_fresh(column: str, within: str, *, context: RuleContext) -> MetricTarget:
    """The latest date or timestamp is no older than `within`: a timedelta, or text such as 90m, 24h or 2d."""
    now = context.now if context.now.tzinfo else context.now.replace(tzinfo=UTC)
    return MetricTarget(Max(column), Between(low=(now - _age(within)).timestamp(), moments=True))


@constraint(fixed=True, whole=True)
def has_no_anomalies(metric: str, detector: str, *, context: RuleContext) -> MetricTarget:
    """The metric is what a detector expects of it, given its values in the past runs of the dataset."""
    band = context.band(MetricKey.parse(metric), MetricKey.parse(detector))
    return MetricTarget(from_key(metric), band, Source.ANOMALY)


def _age(text: str) -> timedelta:
    match = _AGE.fullmatch(text.strip())
    if not match:
        raise MisuseError(f"{text!r} is no length of time.", hint="Write 90m, 24h, 2d or 1w.")
    return timedelta(seconds=float(match[1]) * _SECONDS[match[2]])


def _scale_threshold(threshold: Predicate, rows: int) -> Predicate:
    match threshold:
        case Between(low=low, high=high):
            return Between(None if low is None else low * rows, None if high is None else high * rows)
        case OneOf(values=values):
            return OneOf(tuple(value * rows for value in values))
    raise MisuseError("a comparison of row counts needs numbers.", hint="Write between=(0.99, 1.01).")
