"""Numbers that are never below zero."""

from __future__ import annotations

from collections.abc import Iterator

from headgate.learn.rules.column import ColumnProfile, is_numeric
from headgate.learn.rules.rule import LEAST, MANY, Suggestion, floor_of, suggestion, suggests

MOST = 0.9  # of the texts must be numbers


@suggests()
def non_negative(column: ColumnProfile, table: str) -> Iterator[Suggestion]:
    """`is_non_negative`, if none of many numbers is below zero, else of a share of them.

    Of texts, that the least number written in them is not below zero, which is about all of them.
    """
    found = column.numbers
    if found is None or found.low < 0 or found.count < LEAST:
        return
    why = f"the least of {found.count:,} numbers is {column.number(found.low)}"
    if is_numeric(column.kind):
        share = None if found.count >= MANY else floor_of(found.count, found.count)
        yield suggestion(why, "is_non_negative", column.label, share=share)
    elif column.looks and found.count >= max(MANY, MOST * column.present):
        yield suggestion(why, "has_text_min", column.label, at_least=0)
