"""Constraints on values that must be present."""

from __future__ import annotations

from headgate.checks.constraint import ALL, constraint
from headgate.metrics.base.sql import join_tests, quote_name
from headgate.metrics.completeness import Completeness
from headgate.metrics.compliance import Compliance


@constraint(default=ALL)
def is_complete(*columns: str) -> list[Completeness]:
    """No value is missing; of several columns, each for itself."""
    return [Completeness(column) for column in columns]


@constraint(default=ALL)
def are_complete(*columns: str) -> Compliance:
    """The share of rows that have a value in all of the columns."""
    return Compliance(join_tests("AND", [f"{quote_name(column)} IS NOT NULL" for column in columns]))


@constraint(default=ALL)
def are_any_complete(*columns: str) -> Compliance:
    """The share of rows that have a value in at least one of the columns."""
    return Compliance(join_tests("OR", [f"{quote_name(column)} IS NOT NULL" for column in columns]))
