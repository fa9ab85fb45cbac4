"""Texts that are all built alike."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from headgate.learn.rules.column import ColumnProfile, format_percent
from headgate.learn.rules.rule import LEAST, MANY, OFTEN, Suggestion, floor_of, suggestion, suggests
from headgate.values.schema import Kind

FEWEST = 20  # different values; of fewer a pattern in common may be chance
MOST_PATTERNS = 5
LONGEST = 12  # symbols of a pattern
COVERED = 0.9  # what patterns that are not all must cover
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
    """`has_pattern` of the few patterns of the values: of all, if there is one and many values have it, else a share.

    A pattern has a symbol for each run of letters or digits and the other characters as they are: `9-9-9` is written
    `^[0-9]+-[0-9]+-[0-9]+$`. Numbers, dates and their like are left to their type, but for codes with leading zeros.
    """
    found = column.patterns
    if column.kind is not Kind.STRING or found is None or found.error or column.distinct < FEWEST:
        return
    if found.total < LEAST or (column.looks_like != "string" and not _is_code(column)):
        return
    often = {label: count for label, count in found.counts.items() if count >= OFTEN}
    if not often or len(often) > MOST_PATTERNS or not all(map(_is_simple, often)):
        return
    covered, text = sum(often.values()), make_regex(list(often), _common_length(column))
    like = f"values are like {', '.join(often)}"
    if covered == found.total and len(often) == 1 and column.distinct >= MANY:
        yield suggestion(f"all {covered:,} {like}", "has_pattern", column.label, text)
    elif (least := floor_of(covered, found.total)) >= COVERED:
        how = f"{covered:,} of {found.total:,} {like} ({format_percent(covered, found.total)})"
        yield suggestion(how, "has_pattern", column.label, text, share=least)


def make_regex(patterns: Sequence[str], width: int | None = None) -> str:
    """A regular expression that the whole of a value with one of the patterns matches.

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
    """Short, and of ASCII alone: beyond it a run is not told from its marks."""
    return 0 < len(label) <= LONGEST and label.isascii()


def _common_length(column: ColumnProfile) -> int | None:
    return column.lengths.low if column.lengths is not None and column.lengths.low == column.lengths.high else None


def _is_code(column: ColumnProfile) -> bool:
    """Digits of one length, some with zeros in front: a number would have lost them."""
    width = _common_length(column)
    if column.looks_like != "integral" or width is None or width < 2 or column.numbers is None:
        return False
    return 0 <= column.numbers.low < 10 ** (width - 1) and column.numbers.count == column.present
