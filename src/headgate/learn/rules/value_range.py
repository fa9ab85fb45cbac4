"""Numbers that lie between two ends."""

from __future__ import annotations

from collections.abc import Iterator

from headgate.learn.rules.column import ColumnProfile, Numbers, is_numeric
from headgate.learn.rules.rule import LEAST, OFTEN, Suggestion, floor_of, suggestion, suggests
from headgate.values.schema import Kind

GROWING = 0.9  # different whole numbers for each value: a counter, whose next values lie beyond
MOST = 0.9  # of the texts must be numbers


@suggests(exact_replaces=("non_negative",))
def value_range(column: ColumnProfile, table: str) -> Iterator[Suggestion]:
    """`is_in_range` for all values, if both the least and the greatest occur often, as the ends of a scale do.

    Else for a share of them: of n values, new ones lie outside their ends with probability 2 / (n + 1), and Wilson's
    lower end of n successes among n allows more than that.
    """
    found = column.numbers
    if found is None or found.count < LEAST or found.low == found.high:
        return
    ends = f"{column.number(found.low)} and {column.number(found.high)}"
    if _are_ends(column, found):
        why = f"{found.count:,} numbers lie between {ends}, and both occur at least {OFTEN} times"
        yield from _suggest_range(column, found, why)
    elif is_numeric(column.kind) and not _is_counter(column):
        why = f"{found.count:,} numbers lie between {ends}"
        least = floor_of(found.count, found.count)
        low, high = _convert_end(column, found.low), _convert_end(column, found.high)
        yield suggestion(why, "is_in_range", column.label, low, high, share=least)


def _suggest_range(column: ColumnProfile, found: Numbers, why: str) -> Iterator[Suggestion]:
    if is_numeric(column.kind):
        yield suggestion(
            why, "is_in_range", column.label, _convert_end(column, found.low), _convert_end(column, found.high)
        )
    elif column.looks and found.count >= MOST * column.present:
        yield suggestion(why, "has_text_min", column.label, at_least=found.low)
        yield suggestion(why, "has_text_max", column.label, at_most=found.high)


def _are_ends(column: ColumnProfile, found: Numbers) -> bool:
    """Whether the least and the greatest number occur so often that they are no accident of the sample."""
    if column.values is None or column.values.error:
        return False
    times = {found.low: 0, found.high: 0}
    for label, count in column.values.counts.items():
        number = _parse_number(label)
        if number in times:
            times[number] += count
    return min(times.values()) >= OFTEN


def _parse_number(label: str) -> float | None:
    try:
        return float(label)
    except ValueError:
        return None


def _is_counter(column: ColumnProfile) -> bool:
    return column.kind is Kind.INTEGER and column.distinct > GROWING * column.present


def _convert_end(column: ColumnProfile, value: float) -> float | int:
    return int(value) if column.kind is Kind.INTEGER else value
