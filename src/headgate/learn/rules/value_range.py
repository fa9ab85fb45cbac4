"""Suggests a range for numbers. Tested by `tests/learn/rules/test_suggestion_rules.py`."""

from __future__ import annotations

from collections.abc import Iterator

from headgate.learn.rules.column import ColumnProfile, Numbers, is_numeric
from headgate.learn.rules.rule import MIN_REPEATS, MIN_VALUES, Suggestion, floor_of, suggestion, suggests
from headgate.values.schema import Kind

COUNTER_RATIO = 0.9  # distinct integers per value: above it, the column is a counter whose next values lie beyond
MIN_NUMERIC_SHARE = 0.9  # the least share of strings that are numbers


@suggests(exact_replaces=("non_negative",))
def value_range(column: ColumnProfile, table: str) -> Iterator[Suggestion]:
    """`is_in_range` for all values, if both minimum and maximum occur often, as the ends of a scale do.

    Otherwise for a share of them. A new value lies outside the range of n values with probability 2 / (n + 1), and
    Wilson's lower bound for n successes among n allows more than that.
    """
    numbers = column.numbers
    if numbers is None or numbers.count < MIN_VALUES or numbers.low == numbers.high:
        return
    ends = f"{column.number(numbers.low)} and {column.number(numbers.high)}"
    if _are_ends(column, numbers):
        why = f"{numbers.count:,} numbers lie between {ends}, and both occur at least {MIN_REPEATS} times"
        yield from _suggest_range(column, numbers, why)
    elif is_numeric(column.kind) and not _is_counter(column):
        why = f"{numbers.count:,} numbers lie between {ends}"
        least = floor_of(numbers.count, numbers.count)
        low, high = _convert_end(column, numbers.low), _convert_end(column, numbers.high)
        yield suggestion(why, "is_in_range", column.label, low, high, share=least)


def _suggest_range(column: ColumnProfile, numbers: Numbers, why: str) -> Iterator[Suggestion]:
    if is_numeric(column.kind):
        yield suggestion(
            why, "is_in_range", column.label, _convert_end(column, numbers.low), _convert_end(column, numbers.high)
        )
    elif column.looks and numbers.count >= MIN_NUMERIC_SHARE * column.present:
        yield suggestion(why, "has_text_min", column.label, at_least=numbers.low)
        yield suggestion(why, "has_text_max", column.label, at_most=numbers.high)


def _are_ends(column: ColumnProfile, numbers: Numbers) -> bool:
    """Whether minimum and maximum occur so often that they are not chance."""
    if column.values is None or column.values.error:
        return False
    times = {numbers.low: 0, numbers.high: 0}
    for label, count in column.values.counts.items():
        number = _parse_number(label)
        if number in times:
            times[number] += count
    return min(times.values()) >= MIN_REPEATS


def _parse_number(label: str) -> float | None:
    try:
        return float(label)
    except ValueError:
        return None


def _is_counter(column: ColumnProfile) -> bool:
    return column.kind is Kind.INTEGER and column.distinct > COUNTER_RATIO * column.present


def _convert_end(column: ColumnProfile, value: float) -> float | int:
    return int(value) if column.kind is Kind.INTEGER else value
