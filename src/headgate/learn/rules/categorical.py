"""Suggests a list of allowed values for categories. Tested by `tests/learn/rules/test_suggestion_rules.py`."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping

from headgate.learn.rules.column import ColumnProfile, format_percent
from headgate.learn.rules.rule import MIN_REPEATS, MIN_VALUES, Suggestion, floor_of, suggestion, suggests
from headgate.values.schema import Kind

MAX_VALUES = 100
MAX_DISTINCT_SHARE = 0.1  # distinct values per value
MAX_LENGTH = 80  # characters of a value; a longer one is no category
CLOSED_REPEATS = 50  # if the rarest value occurs this often, the list is closed
MIN_COVERAGE = 0.9  # the least share suggested for a list that is not closed


@suggests(replaces=("pattern", "lengths"), exact_replaces=("data_type", "non_negative", "value_range"))
def categorical(column: ColumnProfile, table: str) -> Iterator[Suggestion]:
    """`is_contained_in` with the values of the sample: for all values if the list is closed, else for a share.

    If the list is not closed (`is_closed`), a value is new with a probability of about f / n, where f of the n values
    occurred once (Good and Turing 1953). The share is Wilson's lower bound for n - f successes among n. So a rare
    language that is not in the sample (section 5.3) does not fail the check.
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
    if least >= MIN_COVERAGE:
        why = (
            f"{len(counts)} different values among {total:,}, of which {once} seen once ({format_percent(once, total)})"
        )
        yield suggestion(why, "is_contained_in", column.label, values, share=least)


def is_closed(counts: Collection[int]) -> bool:
    """Whether it is unlikely that a value is missing from the list, given how often each value occurs.

    Assume that each value is rarer than the one before by the same factor, the average of those in the list. Then the
    next value would be expected rarest / factor times and be missed with probability exp(-rarest / factor), which must
    be at most 1 in 1,000. A list whose rarest value occurs `CLOSED_REPEATS` times is closed in any case.

    >>> is_closed([300, 200, 100]), is_closed([1400, 400, 180, 12, 10]), is_closed([9_000, 60])
    (True, False, True)
    """
    rarest, most = min(counts), max(counts)
    factor = (most / rarest) ** (1 / max(1, len(counts) - 1))
    return rarest >= CLOSED_REPEATS or (rarest >= MIN_REPEATS and math.exp(-rarest / factor) <= 0.001)


def _find_counts(column: ColumnProfile) -> Mapping[str, int]:
    """The values with their counts, if they are few and short; otherwise nothing."""
    values = column.values
    if values is None or values.error or column.kind not in (Kind.STRING, Kind.INTEGER):
        return {}
    few = len(values.counts) <= min(MAX_VALUES, MAX_DISTINCT_SHARE * values.total)
    short = all(len(label) <= MAX_LENGTH for label in values.counts)
    return values.counts if few and short and values.total >= MIN_VALUES else {}


def _parse_value(column: ColumnProfile, label: str) -> str | int:
    return int(label) if column.kind is Kind.INTEGER else label
