"""Suggests completeness for columns without nulls. Tested by `tests/learn/rules/test_suggestion_rules.py`."""

from __future__ import annotations

from collections.abc import Iterator

from headgate.learn.rules.column import ColumnProfile
from headgate.learn.rules.rule import MIN_EXACT, Suggestion, suggestion, suggests


@suggests()
def complete(column: ColumnProfile, table: str) -> Iterator[Suggestion]:
    """`is_complete`, if none of many values is null (Schelter et al. 2018, section 3.3)."""
    if column.present == column.rows >= MIN_EXACT:
        yield suggestion(f"all {column.rows:,} values are present", "is_complete", column.label)
