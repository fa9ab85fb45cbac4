"""Columns of a few values."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping

from headgate.learn.rules.column import ColumnProfile, format_percent
from headgate.learn.rules.rule import LEAST, OFTEN, Suggestion, floor_of, suggestion, suggests
from headgate.values.schema import Kind

MOST_VALUES = 100
MOST_SHARE = 0.1  # different values for each value, at the most
LONGEST = 80  # characters of a value; longer ones are no category
VERY_OFTEN = 50  # times that the rarest value is seen
COVERED = 0.9  # what a list that is not closed must cover


@suggests(replaces=("pattern", "lengths"), exact_replaces=("data_type", "non_negative", "value_range"))
def categorical(column: ColumnProfile, table: str) -> Iterator[Suggestion]:
    """`is_contained_in` the values seen: all values, if the list is closed, else a share of them.

    Of a list that is not closed (`is_closed`), new values have about the probability f / n (Good and Turing 1953), f of
    n values having been seen once: the share asked for is Wilson's lower end of n - f successes among n. So a language
    that no user of the sample speaks (section 5.3) is no failure.
    """
    counts = _find_counts(column)
    if not counts:
        return
    total, rarest = sum(counts.values()), min(counts.values())
    values = [_parse_value(column, label) for label in sorted(counts)]
    if column.kind is Kind.INTEGER:
        values.sort()
    if is_closed(counts.values()):
        why = f"{len(counts)} different values among {total:,}, each seen at least {rarest:,} times"
        yield suggestion(why, "is_contained_in", column.label, values)
        return
    once = sum(count == 1 for count in counts.values())
    least = floor_of(total - once, total)
    if least >= COVERED:
        why = (
            f"{len(counts)} different values among {total:,}, of which {once} seen once ({format_percent(once, total)})"
        )
        yield suggestion(why, "is_contained_in", column.label, values, share=least)


def is_closed(counts: Collection[int]) -> bool:
    """Whether no value is likely to be missing, given how often each was seen.

    If values go on to be rarer by the factor by which the seen ones do on average, the next would have been expected
    rarest / factor times, and missed with probability exp(-rarest / factor): at most 1 in 1,000. Or the rarest was seen
    so often that no such factor would hide the next.

    >>> is_closed([300, 200, 100]), is_closed([1400, 400, 180, 12, 10]), is_closed([9_000, 60])
    (True, False, True)
    """
    rarest, most = min(counts), max(counts)
    factor = (most / rarest) ** (1 / max(1, len(counts) - 1))
    return rarest >= VERY_OFTEN or (rarest >= OFTEN and math.exp(-rarest / factor) <= 0.001)


def _find_counts(column: ColumnProfile) -> Mapping[str, int]:
    """The values with their counts, if they are few and can be written down."""
    found = column.values
    if found is None or found.error or column.kind not in (Kind.STRING, Kind.INTEGER):
        return {}
    few = len(found.counts) <= min(MOST_VALUES, MOST_SHARE * found.total)
    short = all(len(label) <= LONGEST for label in found.counts)
    return found.counts if few and short and found.total >= LEAST else {}


def _parse_value(column: ColumnProfile, label: str) -> str | int:
    return int(label) if column.kind is Kind.INTEGER else label
