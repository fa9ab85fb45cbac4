"""Suggests a regular expression for strings of a few patterns.

Tested by `tests/learn/rules/test_suggestion_rules.py`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from headgate.learn.rules.column import ColumnProfile, format_percent
from headgate.learn.rules.rule import MIN_EXACT, MIN_REPEATS, MIN_VALUES, Suggestion, floor_of, suggestion, suggests
from headgate.values.schema import Kind

MIN_DISTINCT = 20  # with fewer distinct values, a shared pattern may be chance
MAX_PATTERNS = 5
MAX_SYMBOLS = 12  # of one pattern
MIN_COVERAGE = 0.9  # the least share of values that frequent patterns must cover
_RUNS = {
    "Xx": "[A-Za-z0-9]",
    "Aa": "[A-Za-z]",
    "X": "[A-Z0-9]",
    "x": "[a-z0-9]",
    "A": "[A-Z]",
    "a": "[a-z]",
    "9": "[0-9]",
}
_SPECIAL = frozenset(".^$*+?()[]{}|\\")
_SYMBOLS = re.compile("Xx|Aa|.", re.DOTALL)


@suggests(replaces=("lengths",), exact_replaces=("data_type", "non_negative"))
def pattern(column: ColumnProfile, table: str) -> Iterator[Suggestion]:
    """`has_pattern` with the frequent patterns: for all values if many share a single pattern, else for a share.

    A pattern has a symbol for each run of letters or digits and keeps other characters: `9-9-9` becomes
    `^[0-9]+-[0-9]+-[0-9]+$`. Strings that look like another type are left to `data_type`, except codes with leading
    zeros.
    """
    patterns = column.patterns
    if column.kind is not Kind.STRING or patterns is None or patterns.error or column.distinct < MIN_DISTINCT:
        return
    if patterns.total < MIN_VALUES or (column.looks_like != "string" and not _is_code(column)):
        return
    frequent = {label: count for label, count in patterns.counts.items() if count >= MIN_REPEATS}
    if not frequent or len(frequent) > MAX_PATTERNS or not all(map(_is_simple, frequent)):
        return
    covered, text = sum(frequent.values()), make_regex(list(frequent), _common_length(column))
    like = f"values are like {', '.join(frequent)}"
    if covered == patterns.total and len(frequent) == 1 and column.distinct >= MIN_EXACT:
        yield suggestion(f"all {covered:,} {like}", "has_pattern", column.label, text)
    elif (least := floor_of(covered, patterns.total)) >= MIN_COVERAGE:
        how = f"{covered:,} of {patterns.total:,} {like} ({format_percent(covered, patterns.total)})"
        yield suggestion(how, "has_pattern", column.label, text, share=least)


def make_regex(patterns: Sequence[str], width: int | None = None) -> str:
    """A regular expression for whole values with one of these patterns.

    >>> make_regex(["9-A"]), make_regex(["9", "Aa 9"]), make_regex(["9"], width=5)
    ('^[0-9]+-[A-Z]+$', '^(?:[0-9]+|[A-Za-z]+ [0-9]+)$', '^[0-9]{5}$')
    """
    texts = ["".join(map(_symbol_regex, _SYMBOLS.findall(each))) for each in patterns]
    if width is not None and len(patterns) == 1 and patterns[0] in _RUNS:
        texts = [f"{_RUNS[patterns[0]]}{{{width}}}"]
    return f"^{texts[0]}$" if len(texts) == 1 else f"^(?:{'|'.join(texts)})$"


def _symbol_regex(symbol: str) -> str:
    if symbol in _RUNS:
        return f"{_RUNS[symbol]}+"
    return f"\\{symbol}" if symbol in _SPECIAL else symbol


def _is_simple(label: str) -> bool:
    """Whether a pattern is short and of ASCII only: beyond ASCII, a symbol of a run may be a literal character."""
    return 0 < len(label) <= MAX_SYMBOLS and label.isascii()


def _common_length(column: ColumnProfile) -> int | None:
    return column.lengths.low if column.lengths is not None and column.lengths.low == column.lengths.high else None


def _is_code(column: ColumnProfile) -> bool:
    """Whether the values are digits of one length, some with leading zeros, which a number would not keep."""
    width = _common_length(column)
    if column.looks_like != "integral" or width is None or width < 2 or column.numbers is None:
        return False
    return 0 <= column.numbers.low < 10 ** (width - 1) and column.numbers.count == column.present
