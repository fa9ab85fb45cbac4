"""Constraints on values: a range, a set, or an order of two columns. Nulls are left out; completeness covers them.

NaN is in no order: it meets no bound, and it is neither less nor greater than another value. In SQL it is greater than
every number, so tests of columns that can hold it say that it is none.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from headgate.checks.constraint import ALL, constraint
from headgate.checks.rule_context import RuleContext
from headgate.metrics.base.metric import Metric
from headgate.metrics.base.sql import Value, quote_name, quote_value
from headgate.metrics.compliance import Compliance
from headgate.metrics.value_distribution import ValueDistribution
from headgate.values.errors import MisuseError
from headgate.values.schema import Kind, Schema


def _of_present(test: str, *columns: str) -> Compliance:
    return Compliance(test, where=" AND ".join(f"{quote_name(column)} IS NOT NULL" for column in columns))


def _in_order(test: str, *columns: str, context: RuleContext) -> Compliance:
    """The share of present values that meet a test; NaN does not meet it."""
    numbers = [f"NOT isnan({quote_name(column)})" for column in columns if _can_hold_nan(column, context.schema)]
    return _of_present(" AND ".join([test, *numbers]), *columns)


def _can_hold_nan(column: str, schema: Schema) -> bool:
    """Whether a column is of floats. Spark may find one whose name has other capitals."""
    named = [each for each in schema.columns if each.label == column]
    named = named or [each for each in schema.columns if each.label.lower() == column.lower()]
    return any(each.kind is Kind.FLOAT for each in named)


@constraint(default=ALL)
def is_in_range(
    column: str, low: Value | None = None, high: Value | None = None, *, context: RuleContext
) -> Compliance:
    """The share of values from `low` to `high`, both included; of numbers, dates or timestamps."""
    name = quote_name(column)
    ends = [f"{name} >= {quote_value(low)}"] if low is not None else []
    ends += [f"{name} <= {quote_value(high)}"] if high is not None else []
    if not ends:
        raise MisuseError("is_in_range has neither low nor high.", hint="Write is_in_range('price', 0, 100).")
    return _in_order(" AND ".join(ends), column, context=context)


@constraint(default=ALL)
def is_contained_in(column: str, values: Sequence[Value]) -> Compliance:
    """The share of values that are among these."""
    given: object = values
    if isinstance(given, str) or not isinstance(given, Sequence) or not values:
        raise MisuseError("is_contained_in needs a list of values.", hint="Write is_contained_in('region', ['EU']).")
    name, options = quote_name(column), [quote_value(value) for value in values]
    if any(isinstance(value, datetime) for value in values):
        # without ANSI mode Spark compares moments after IN as texts, in which a zone is never equal
        return _of_present(" OR ".join(f"{name} = {option}" for option in options), column)
    return _of_present(f"{name} IN ({', '.join(options)})", column)


@constraint(default=ALL)
def is_non_negative(column: str, *, context: RuleContext) -> Compliance:
    """The share of values that are not below zero."""
    return _in_order(f"{quote_name(column)} >= 0", column, context=context)


@constraint(default=ALL)
def is_positive(column: str, *, context: RuleContext) -> Compliance:
    """The share of values above zero."""
    return _in_order(f"{quote_name(column)} > 0", column, context=context)


@constraint(default=ALL)
def is_less_than(left: str, right: str, *, context: RuleContext) -> Compliance:
    """The share of rows in which `left` is less than `right`, of those that have both."""
    return _in_order(f"{quote_name(left)} < {quote_name(right)}", left, right, context=context)


@constraint(default=ALL)
def is_less_than_or_equal_to(left: str, right: str, *, context: RuleContext) -> Compliance:
    """The share of rows in which `left` is at most `right`, of those that have both."""
    return _in_order(f"{quote_name(left)} <= {quote_name(right)}", left, right, context=context)


@constraint(default=ALL)
def is_greater_than(left: str, right: str, *, context: RuleContext) -> Compliance:
    """The share of rows in which `left` is greater than `right`, of those that have both."""
    return _in_order(f"{quote_name(left)} > {quote_name(right)}", left, right, context=context)


@constraint(default=ALL)
def is_greater_than_or_equal_to(left: str, right: str, *, context: RuleContext) -> Compliance:
    """The share of rows in which `left` is at least `right`, of those that have both."""
    return _in_order(f"{quote_name(left)} >= {quote_name(right)}", left, right, context=context)


@constraint(default=ALL)
def satisfies(predicate: str) -> Compliance:
    """The share of rows that meet a SQL predicate; one that is null for a row is not met by it."""
    return Compliance(predicate)


@constraint(default=ALL)
def satisfies_if(condition: str, predicate: str) -> Compliance:
    """Of the rows that meet the condition, the share that also meet the predicate."""
    return Compliance(predicate, where=condition)


@constraint()
def has_histogram_values(column: str, value: Value | None = None) -> Metric:  # type: ignore[type-arg]
    """The share of one value among those present; without a value, the whole distribution, for a function to judge."""
    return (
        ValueDistribution(column)
        if value is None
        else _of_present(f"{quote_name(column)} = {quote_value(value)}", column)
    )
