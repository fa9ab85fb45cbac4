"""Suggests uniqueness for key columns. Tested by `tests/learn/rules/test_suggestion_rules.py`."""

from __future__ import annotations

from collections.abc import Iterator

from headgate.learn.rules.column import ColumnProfile
from headgate.learn.rules.key_names import unique_probability
from headgate.learn.rules.rule import MIN_VALUES, Suggestion, suggestion, suggests
from headgate.values.schema import Kind

SKETCH_ERROR = 0.05  # three standard errors of the sketch that counts distinct values
MIN_COMPLETENESS = 0.9


@suggests()
def unique(column: ColumnProfile, table: str) -> Iterator[Suggestion]:
    """`is_unique`, if within the sketch's error all values are distinct, and the column's name is that of a key.

    A sample of a column that repeats rarely looks unique, so the name must be one that schemas declare unique (section
    3.3: `statuses_count` is not).
    """
    if column.present < MIN_VALUES or column.present < MIN_COMPLETENESS * column.rows or _has_repeats(column):
        return
    probability = unique_probability(column.label, _likely_kind(column), table)
    if probability > 0.5:
        why = f"hardly one of {column.present:,} values repeats; by its name a key ({probability:.2f})"
        yield suggestion(why, "is_unique", column.label)


def _has_repeats(column: ColumnProfile) -> bool:
    counted = column.values is not None and not column.values.error
    if counted and column.values is not None:
        return len(column.values.counts) < column.present
    return column.distinct < (1 - SKETCH_ERROR) * column.present


def _likely_kind(column: ColumnProfile) -> Kind:
    """The kind that a schema would declare: a column read from a text file is a string of any type."""
    kinds = {"integral": Kind.INTEGER, "fractional": Kind.FLOAT, "date": Kind.DATE, "timestamp": Kind.TIMESTAMP}
    return kinds.get(column.looks_like, column.kind)
