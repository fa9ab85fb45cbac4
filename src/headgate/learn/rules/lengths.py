"""Suggests the length of strings, or a range of lengths. Tested by `tests/learn/rules/test_suggestion_rules.py`."""

from __future__ import annotations

from collections.abc import Iterator

from headgate.learn.rules.column import ColumnProfile
from headgate.learn.rules.rule import MIN_EXACT, MIN_VALUES, Suggestion, floor_of, suggestion, suggests
from headgate.values.schema import Kind

MIN_DISTINCT = 20  # with fewer distinct values, a shared length may be chance
MAX_LENGTH = 1_000  # the largest repeat count of a regular expression


@suggests()
def lengths(column: ColumnProfile, table: str) -> Iterator[Suggestion]:
    """`has_pattern` with the number of characters, for strings that do not look like numbers or dates.

    For all values, if many distinct ones have the same length; otherwise for a share of them. A new value is shorter or
    longer than all of n values with probability 2 / (n + 1), and Wilson's lower bound for n successes among n allows
    more than that.
    """
    if column.kind is not Kind.STRING or column.looks_like != "string" or column.lengths is None:
        return
    low, high = column.lengths.low, column.lengths.high
    if column.present < MIN_VALUES or column.distinct < MIN_DISTINCT or not 0 < high <= MAX_LENGTH:
        return
    share = floor_of(column.present, column.present)
    if low == high:
        why = f"all {column.present:,} values have {low} character{'s' * (low > 1)}"
        exact = column.distinct >= MIN_EXACT
        yield suggestion(why, "has_pattern", column.label, f"^.{{{low}}}$", share=None if exact else share)
    else:
        why = f"{column.present:,} values have {low} to {high} characters"
        yield suggestion(why, "has_pattern", column.label, f"^.{{{low},{high}}}$", share=share)
