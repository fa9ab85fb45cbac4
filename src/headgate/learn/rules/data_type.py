"""Suggests a data type for strings that look like numbers, dates, timestamps or booleans.

Tested by `tests/learn/rules/test_suggestion_rules.py`.
"""

from __future__ import annotations

from collections.abc import Iterator

from headgate.learn.rules.column import ColumnProfile, format_percent, likely_type
from headgate.learn.rules.rule import MIN_EXACT, MIN_VALUES, Suggestion, floor_of, suggestion, suggests

MIN_SHARE = 0.9  # the least share of values that look like the type


@suggests()
def data_type(column: ColumnProfile, table: str) -> Iterator[Suggestion]:
    """`has_data_type` for all values, if all of many look like one type; for a share of them, if at least 90% do."""
    if not column.looks or column.present < MIN_VALUES:
        return
    name, count = likely_type(column.looks)
    if name == "string":
        return
    if count == column.present >= MIN_EXACT:
        yield suggestion(f"all {count:,} values look {name}", "has_data_type", column.label, name)
    elif (least := floor_of(count, column.present)) >= MIN_SHARE:
        why = f"{count:,} of {column.present:,} values look {name} ({format_percent(count, column.present)})"
        yield suggestion(why, "has_data_type", column.label, name, share=least)
