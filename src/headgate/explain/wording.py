"""Writes the title of a cause: what went wrong, in one sentence."""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import IntEnum

from headgate.display.numbers import format_number
from headgate.metrics.base.label import ValueFormat
from headgate.metrics.distances.registry import distances
from headgate.values.expectation import Judgement, Segment

_MAX_NAMES = 4  # columns that a title lists
_SMALL_SHARE = 0.0005  # smaller shares need more digits
_ROUNDING_ERROR = 1e-12  # smaller shares are zero up to rounding
_HASH = re.compile(r"[0-9a-f]{16}")  # what a store that hides values records for one


class CauseKind(IntEnum):
    """What kind of thing went wrong, the most important first."""

    COPY = 0
    UNREAD = 1
    SHAPE = 2
    DECLARED = 3
    VOLUME = 4
    COLUMN = 5
    WHOLE = 6


def write_title(kind: CauseKind, name: str, judgements: Sequence[Judgement], column_changes: Sequence[str]) -> str:
    """The title of a cause. `name` is its column or rule, `column_changes` says how the column changed."""
    first = judgements[0]
    more = f" (and {len(judgements) - 1} more of it)" if len(judgements) > 1 else ""
    match kind:
        case CauseKind.COPY:
            return f"identical to {name or 'an earlier run'}"
        case CauseKind.UNREAD:
            return (f"{name}: " if name else "") + first.reason + more
        case CauseKind.SHAPE:
            return _describe_schema(judgements)
        case CauseKind.VOLUME:
            return column_changes[0] if column_changes else _describe_rows(judgements)
        case CauseKind.WHOLE:
            return f"the batch as a whole is unlike those before it: {first.reason}"
        case CauseKind.COLUMN if column_changes and not _is_telling(first):
            return f"{name}: {column_changes[0]}"
        case _:
            return describe(first) + _count_segments(judgements)


def _is_telling(judgement: Judgement) -> bool:
    """Whether `describe` says what is wrong in words that need no knowledge of the metric."""
    distance = distances().get(judgement.expectation.metric.name)
    return distance is None or bool(distance.label.phrase) or distance.label.value_format is ValueFormat.FLAG


def _describe_rows(judgements: Sequence[Judgement]) -> str:
    size = next((each for each in judgements if each.expectation.metric.name == "size"), judgements[0])
    if size.value is None or size.expectation.metric.name != "size":
        return describe(size)
    return f"{format_number(size.value)} rows, expected {size.expectation.predicate}"


def _count_segments(judgements: Sequence[Judgement]) -> str:
    """In how many segments of the batch it failed; empty where the whole batch was judged."""
    segments = {judgement.segment for judgement in judgements if judgement.segment}
    by = ", ".join(name for name, _ in next(iter(segments), ()))
    if not segments:
        return ""
    return f", in 1 segment by {by}" if len(segments) == 1 else f", in the worst of {len(segments)} segments by {by}"


def format_segment(segment: Segment, hidden: bool = False) -> str:
    """The name of a segment; where the store hides values, the start of the hash that it records.

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
    """A failed expectation in plain words; the judgement's own reason where there are none plainer."""
    key, value = judgement.expectation.metric, judgement.value
    column = key.columns[0] if key.columns else ""
    predicate = str(judgement.expectation.predicate).removeprefix("equal to ")
    match key.name:
        case "completeness" if value is not None:
            some, expected = _format_rest(judgement, value)
            return f"{column} is {some} empty; expected {expected}"
        case "finiteness" if value is not None:
            some, expected = _format_rest(judgement, value)
            allowed = "none" if judgement.expectation.predicate.floor == 1 else expected
            return f"{some} of {column} is NaN or infinite; expected {allowed}"
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
        case "outside_period" if value is not None:
            some, expected = _format_shares(judgement, value)
            return f"{some} of {column} is outside of the period of the batch, expected {expected}"
        case _:
            return judgement.reason


def format_share(value: float, digits: int = 1) -> str:
    """A share as a percentage, with enough digits that a small one does not look like 0% nor a large one like 100%.

    >>> format_share(0.037), format_share(0.00001), format_share(0.99999), format_share(0.0)
    ('3.7%', '0.001%', '99.999%', '0.0%')
    """
    rest = min(abs(value), abs(1 - value))
    if not _ROUNDING_ERROR < rest < _SMALL_SHARE:
        return f"{value:.{digits}%}"
    small = float(f"{100 * rest:.2g}")
    return f"{100 - small:.12g}%" if value > 0.5 else f"{100 * value:.2g}%"


def _format_shares(judgement: Judgement, value: float) -> tuple[str, str]:
    """A share and its expected range, in as many digits as tell them apart."""
    predicate = judgement.expectation.predicate
    low, high = predicate.floor, predicate.ceiling
    digits = _count_digits(value, low, high)
    least = f"at least {format_share(low, digits)}" if low is not None and low > 0 else ""
    most = f"at most {format_share(high, digits)}" if high is not None and high < 1 else ""
    expected = " and ".join(filter(None, [least, most]))
    return format_share(value, digits), expected or str(predicate)


def _format_rest(judgement: Judgement, value: float) -> tuple[str, str]:
    """The share of a column that does not count, such as the nulls, and how large it may be."""
    predicate = judgement.expectation.predicate
    low, high = predicate.floor, predicate.ceiling
    digits = _count_digits(value, low, high)
    most = f"at most {format_share(1 - low, digits)}" if low is not None else ""
    least = f"at least {format_share(1 - high, digits)}" if high is not None and high < 1 else ""
    expected = " and ".join(filter(None, [least, most])) or str(predicate)
    return format_share(1 - value, digits), expected


def _count_digits(value: float, *ends: float | None) -> int:
    """How many digits a percentage needs so that it looks different from each end of the expected range."""
    others = [end for end in ends if end is not None and end != value]
    for digits in range(1, 6):
        if format_share(value, digits) not in {format_share(end, digits) for end in others}:
            return digits
    return 6


def _describe_schema(judgements: Sequence[Judgement]) -> str:
    """What changed in the schema, in one sentence."""
    by_metric: dict[str, list[Judgement]] = {"has_column": [], "column_count": [], "column_type": []}
    for judgement in judgements:
        by_metric[judgement.expectation.metric.name].append(judgement)
    missing, counts, retyped = by_metric.values()
    parts = []
    if missing:
        parts.append(f"{list_names(list(map(_column_of, missing)))} {'is' if len(missing) == 1 else 'are'} gone")
    if counts and counts[0].value is not None:
        parts.append(f"{format_number(counts[0].value)} columns, expected {counts[0].expectation.predicate}")
    if retyped:
        types = {str(dict(each.expectation.metric.parameters).get("type", "")) for each in retyped}
        was = f" (it was {types.pop()})" if len(types) == 1 else ""
        parts.append(f"{list_names(list(map(_column_of, retyped)))} changed type{was}")
    return "; ".join(parts)


def _column_of(judgement: Judgement) -> str:
    return judgement.expectation.metric.columns[0]


def list_names(columns: Sequence[str]) -> str:
    """The first few names.

    >>> list_names(["a", "b", "c", "d", "e"])
    'a, b, c and 2 more columns'
    """
    if len(columns) <= _MAX_NAMES:
        return " and ".join([", ".join(columns[:-1]), columns[-1]]) if len(columns) > 1 else columns[0]
    return f"{', '.join(columns[: _MAX_NAMES - 1])} and {len(columns) - _MAX_NAMES + 1} more columns"
