"""Suggests a completeness for columns with nulls. Tested by `tests/learn/rules/test_suggestion_rules.py`."""

from __future__ import annotations

from collections.abc import Iterator

from headgate.learn.rules.column import ColumnProfile, format_percent
from headgate.learn.rules.rule import MIN_EXACT, MIN_VALUES, Suggestion, floor_of, suggestion, suggests


@suggests()
def completeness(column: ColumnProfile, table: str) -> Iterator[Suggestion]:
    """`has_completeness` of at least Wilson's lower bound, if there are nulls or the rows are few."""
    if column.rows < MIN_VALUES or not column.present or (column.present == column.rows >= MIN_EXACT):
        return
    least = floor_of(column.present, column.rows)
    if least > 0:
        share = format_percent(column.present, column.rows)
        why = f"{column.present:,} of {column.rows:,} values are present ({share})"
        yield suggestion(why, "has_completeness", column.label, share=least)
