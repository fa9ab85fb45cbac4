"""Suggests that numbers are not negative. Tested by `tests/learn/rules/test_suggestion_rules.py`."""

from __future__ import annotations

from collections.abc import Iterator

from headgate.learn.rules.column import ColumnProfile, is_numeric
from headgate.learn.rules.rule import MIN_EXACT, MIN_VALUES, Suggestion, floor_of, suggestion, suggests

MIN_NUMERIC_SHARE = 0.9  # the least share of strings that are numbers


@suggests()
def non_negative(column: ColumnProfile, table: str) -> Iterator[Suggestion]:
    """`is_non_negative` for all values, if none of many numbers is negative; for a share of them, if there are few.

    For strings, `has_text_min` of 0, which constrains all of them.
    """
    numbers = column.numbers
    if numbers is None or numbers.low < 0 or numbers.count < MIN_VALUES:
        return
    why = f"the least of {numbers.count:,} numbers is {column.number(numbers.low)}"
    if is_numeric(column.kind):
        share = None if numbers.count >= MIN_EXACT else floor_of(numbers.count, numbers.count)
        yield suggestion(why, "is_non_negative", column.label, share=share)
    elif column.looks and numbers.count >= max(MIN_EXACT, MIN_NUMERIC_SHARE * column.present):
        yield suggestion(why, "has_text_min", column.label, at_least=0)
