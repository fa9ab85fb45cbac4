"""Columns whose values do not repeat."""

from __future__ import annotations

from collections.abc import Iterator

from headgate.learn.rules.column import ColumnProfile
from headgate.learn.rules.key_names import unique_probability
from headgate.learn.rules.rule import LEAST, Suggestion, suggestion, suggests
from headgate.values.schema import Kind

ERROR = 0.05  # three standard errors of the sketch of distinct values
COMPLETE = 0.9


@suggests()
def unique(column: ColumnProfile, table: str) -> Iterator[Suggestion]:
    """`is_unique`, if there are as many different values as values within the sketch's error, and the name agrees.

    A sample of a column that repeats rarely looks unique, so the name must be one that schemas call unique (section
    3.3: `statuses_count` is not).
    """
    if column.present < LEAST or column.present < COMPLETE * column.rows or _has_repeats(column):
        return
    probability = unique_probability(column.label, _likely_kind(column), table)
    if probability > 0.5:
        why = f"hardly one of {column.present:,} values repeats; by its name a key ({probability:.2f})"
        yield suggestion(why, "is_unique", column.label)


def _has_repeats(column: ColumnProfile) -> bool:
    counted = column.values is not None and not column.values.error
    if counted and column.values is not None:
        return len(column.values.counts) < column.present
    return column.distinct < (1 - ERROR) * column.present


def _likely_kind(column: ColumnProfile) -> Kind:
    """What a schema would call it: a text file has only strings."""
    found = {"integral": Kind.INTEGER, "fractional": Kind.FLOAT, "date": Kind.DATE, "timestamp": Kind.TIMESTAMP}
    return found.get(column.looks_like, column.kind)
