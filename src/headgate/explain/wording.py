"""What went wrong in one sentence: how the title of a cause is worded."""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import IntEnum

from headgate.display.numbers import format_number
from headgate.metrics.distances.registry import distances
from headgate.values.expectation import Judgement, Segment

_WORDED_DISTANCES = frozenset({"new_values", "new_patterns", "unchanged"})  # distances that `told` puts into words
_MAX_NAMES = 4  # columns that a title names
_SMALL_SHARE, _ROUNDING_ERROR = (
    0.0005,
    1e-12,
)  # shares that need more digits, and those that are no more than how numbers are rounded
_HASH = re.compile(r"[0-9a-f]{16}")  # a hidden value


class CauseKind(IntEnum):
    """What kind of thing went wrong, the most telling first."""

    UNREAD = 0
    SHAPE = 1
    DECLARED = 2
    VOLUME = 3
    COLUMN = 4
    WHOLE = 5


def write_title(kind: CauseKind, where: str, judgements: Sequence[Judgement], column_changes: Sequence[str]) -> str:
    """The title of a cause of this sort; `found` is how its column looks beside the runs before."""
    first = judgements[0]
    more = f" (and {len(judgements) - 1} more of it)" if len(judgements) > 1 else ""
    match kind:
        case CauseKind.UNREAD:
            return (f"{where}: " if where else "") + first.reason + more
        case CauseKind.SHAPE:
            return _describe_schema(judgements)
        case CauseKind.VOLUME:
            return column_changes[0] if column_changes else _describe_rows(judgements)
        case CauseKind.WHOLE:
            return f"the batch as a whole is unlike those before it: {first.reason}"
        case CauseKind.COLUMN if column_changes and not _is_telling(first):
            return f"{where}: {column_changes[0]}"
        case _:
            return describe(first) + _count_segments(judgements)


def _is_telling(each: Judgement) -> bool:
    """Whether the metric's own name tells a person what is wrong."""
    return each.expectation.metric.name not in distances() or each.expectation.metric.name in _WORDED_DISTANCES


def _describe_rows(held: Sequence[Judgement]) -> str:
    size = next((each for each in held if each.expectation.metric.name == "size"), held[0])
    if size.value is None or size.expectation.metric.name != "size":
        return describe(size)
    return f"{format_number(size.value)} rows, expected {size.expectation.predicate}"


def _count_segments(held: Sequence[Judgement]) -> str:
    """How many parts of the batch it is about, where it was asked by segment."""
    found = {each.segment for each in held if each.segment}
    by = ", ".join(name for name, _ in next(iter(found), ()))
    if not found:
        return ""
    return f", in 1 segment by {by}" if len(found) == 1 else f", in the worst of {len(found)} segments by {by}"


def format_segment(segment: Segment, hidden: bool = False) -> str:
    """A part of the batch by name; where the store hides values, by what stands for them.

    >>> print(format_segment((("country", "DE"), ("day", None))))
    country=DE, day=null
    >>> print(format_segment((("country", "f19c2c9678766c6d"),), hidden=True))
    country=(hidden: f19c2c96)
    """
    return ", ".join(f"{name}={_format_segment_value(value, hidden)}" for name, value in segment)


def _format_segment_value(value: str | None, hidden: bool) -> str:
    if value is None:
        return "null"
    return f"(hidden: {value[:8]})" if hidden and _HASH.fullmatch(value) else value


def describe(judgement: Judgement) -> str:
    """A failed expectation as people say it, where that is plainer than its metric's name."""
    key, value = judgement.expectation.metric, judgement.value
    column = key.columns[0] if key.columns else ""
    predicate = str(judgement.expectation.predicate).removeprefix("equal to ")
    match key.name:
        case "completeness" if value is not None:
            return f"{column} is {_format_missing(judgement, value)}"
        case "approx_count_distinct" if value is not None:
            return f"{column} has about {format_number(round(value))} different values, expected {predicate}"
        case "compliance" | "pattern_match" | "containment" | "uniqueness" if (
            value is not None and judgement.expectation.rule and judgement.expectation.predicate.floor == 1
        ):
            return f"{judgement.expectation.rule}: {format_share(1 - value)} of the rows break it, expected none"
        case "unchanged" if value == 1:
            return f"{column} holds exactly what it held in the run before; it changed in every run until now"
        case "new_values" if value is not None:
            some, expected = _format_shares(judgement, value)
            return f"{some} of {column} are values that no run had before, expected {expected}"
        case "new_patterns" if value is not None:
            some, expected = _format_shares(judgement, value)
            return f"{some} of {column} are written in a way that no run had before, expected {expected}"
        case _:
            return judgement.reason


def format_share(value: float, digits: int = 1) -> str:
    """A share as people say it: one that is not nothing does not look like nothing, nor one that is not all like all.

    >>> format_share(0.037), format_share(0.00001), format_share(0.99999), format_share(0.0)
    ('3.7%', '0.001%', '99.999%', '0.0%')
    """
    rest = min(abs(value), abs(1 - value))
    if not _ROUNDING_ERROR < rest < _SMALL_SHARE:
        return f"{value:.{digits}%}"
    small = float(f"{100 * rest:.2g}")
    return f"{100 - small:.12g}%" if value > 0.5 else f"{100 * value:.2g}%"


def _format_shares(each: Judgement, value: float) -> tuple[str, str]:
    """A share and what was expected of it, in as many digits as tell them apart."""
    low, high = each.expectation.predicate.floor, each.expectation.predicate.ceiling
    digits = _count_digits(value, low, high)
    least = f"at least {format_share(low, digits)}" if low is not None and low > 0 else ""
    most = f"at most {format_share(high, digits)}" if high is not None and high < 1 else ""
    expected = " and ".join(filter(None, [least, most]))
    return format_share(value, digits), expected or str(each.expectation.predicate)


def _format_missing(each: Judgement, value: float) -> str:
    """How much of a column is missing, and how much may be."""
    low, high = each.expectation.predicate.floor, each.expectation.predicate.ceiling
    digits = _count_digits(value, low, high)
    most = f"at most {format_share(1 - low, digits)}" if low is not None else ""
    least = f"at least {format_share(1 - high, digits)}" if high is not None and high < 1 else ""
    expected = " and ".join(filter(None, [least, most])) or each.expectation.predicate
    return f"{format_share(1 - value, digits)} empty; expected {expected}"


def _count_digits(value: float, *ends: float | None) -> int:
    """How many digits a percentage needs so that it does not look like one that was allowed."""
    others = [end for end in ends if end is not None and end != value]
    return next(
        (each for each in range(1, 6) if format_share(value, each) not in {format_share(end, each) for end in others}),
        6,
    )


def _describe_schema(held: Sequence[Judgement]) -> str:
    """What is another way about the columns, in one sentence."""
    gone = [_column_of(each) for each in held if each.expectation.metric.name == "has_column"]
    typed = [each for each in held if each.expectation.metric.name == "column_type"]
    count = [each for each in held if each.expectation.metric.name == "column_count"]
    said = []
    if gone:
        said.append(f"{list_names(gone)} {'is' if len(gone) == 1 else 'are'} gone")
    if count and count[0].value is not None:
        said.append(f"{format_number(count[0].value)} columns, expected {count[0].expectation.predicate}")
    if typed:
        kinds = {str(dict(each.expectation.metric.parameters).get("type", "")) for each in typed}
        was = f" (it was {kinds.pop()})" if len(kinds) == 1 else ""
        said.append(f"{list_names([_column_of(each) for each in typed])} changed type{was}")
    return "; ".join(said)


def _column_of(each: Judgement) -> str:
    return each.expectation.metric.columns[0]


def list_names(columns: Sequence[str]) -> str:
    """The first few names.

    >>> list_names(["a", "b", "c", "d", "e"])
    'a, b, c and 2 more columns'
    """
    if len(columns) <= _MAX_NAMES:
        return " and ".join([", ".join(columns[:-1]), columns[-1]]) if len(columns) > 1 else columns[0]
    return f"{', '.join(columns[: _MAX_NAMES - 1])} and {len(columns) - _MAX_NAMES + 1} more columns"
