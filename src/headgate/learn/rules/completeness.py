"""Columns in which some values are missing."""

from __future__ import annotations

from collections.abc import Iterator

from headgate.learn.rules.column import ColumnProfile, format_percent
from headgate.learn.rules.rule import LEAST, MANY, Suggestion, floor_of, suggestion, suggests


@suggests()
def completeness(column: ColumnProfile, table: str) -> Iterator[Suggestion]:
    """`has_completeness` of at least the lower end of Wilson's interval, if some are missing or there are few."""
    if column.rows < LEAST or not column.present or (column.present == column.rows >= MANY):
        return
    least = floor_of(column.present, column.rows)
    if least > 0:
        share = format_percent(column.present, column.rows)
        why = f"{column.present:,} of {column.rows:,} values are present ({share})"
        yield suggestion(why, "has_completeness", column.label, share=least)
