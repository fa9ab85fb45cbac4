"""Columns that have a value in every row."""

from __future__ import annotations

from collections.abc import Iterator

from headgate.learn.rules.column import ColumnProfile
from headgate.learn.rules.rule import MANY, Suggestion, suggestion, suggests


@suggests()
def complete(column: ColumnProfile, table: str) -> Iterator[Suggestion]:
    """`is_complete`, if none of many values is missing (Schelter et al. 2018, section 3.3)."""
    if column.present == column.rows >= MANY:
        yield suggestion(f"all {column.rows:,} values are present", "is_complete", column.label)
