"""Texts of one length, as codes have it, or of some length between two ends."""

from __future__ import annotations

from collections.abc import Iterator

from headgate.learn.rules.column import ColumnProfile
from headgate.learn.rules.rule import LEAST, MANY, Suggestion, floor_of, suggestion, suggests
from headgate.values.schema import Kind

FEWEST = 20  # different values; of fewer a length in common may be chance
LONGEST = 1_000  # characters; a regular expression counts no further


@suggests()
def lengths(column: ColumnProfile, table: str) -> Iterator[Suggestion]:
    """`has_pattern` of so many characters, for texts that look like no number or date and share no pattern.

    Of all values, if many different ones have one length, else of a share of them: new values are longer than all of n,
    or shorter, with probability 2 / (n + 1), and Wilson's lower end of n successes among n allows more than that.
    """
    found = column.lengths
    if column.kind is not Kind.STRING or found is None or column.present < LEAST or column.distinct < FEWEST:
        return
    if column.looks_like != "string" or not 0 < found.high <= LONGEST:
        return
    share = floor_of(column.present, column.present)
    if found.low == found.high:
        why = f"all {column.present:,} values have {found.low} character{'s' * (found.low > 1)}"
        exact = column.distinct >= MANY
        yield suggestion(why, "has_pattern", column.label, f"^.{{{found.low}}}$", share=None if exact else share)
    else:
        why = f"{column.present:,} values have {found.low} to {found.high} characters"
        yield suggestion(why, "has_pattern", column.label, f"^.{{{found.low},{found.high}}}$", share=share)
