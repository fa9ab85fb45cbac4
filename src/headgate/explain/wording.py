"""Writes the title of a cause: what went wrong, in one sentence."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from enum import IntEnum
from typing import NamedTuple

from headgate.display.numbers import format_number, format_share
from headgate.explain.change_wording import (
    TYPICAL,
    describe_beside_past,
    describe_change,
    describe_factor,
    factors_agree,
    find_column_factor,
    find_factor,
    is_beside_past,
)
from headgate.explain.drift_wording import describe_limit
from headgate.explain.value_changes import describe_value_changes
from headgate.learn.metric_traits import is_distance, is_known, traits_of
from headgate.metrics.base.label import ValueFormat
from headgate.metrics.distances.registry import distances
from headgate.values.account import Account, MetricChange, ValueChange
from headgate.values.expectation import Judgement, Segment, Source
from headgate.values.key import MetricKey
from headgate.values.schema import ORDERED, is_repeated

_MAX_NAMES = 4  # columns that a title lists
_COMPLETENESS = "completeness"
_SIZE = MetricKey("size")
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


class Title(NamedTuple):
    """The title of a cause, and the metric that it speaks of; or the change of values that it speaks of first.

    `factor` says how many times as large the column is, if the title does.
    """

    text: str
    metric: str = ""
    value_change: ValueChange | None = None
    factor: float | None = None


def write_title(kind: CauseKind, name: str, judgements: Sequence[Judgement], account: Account) -> Title:
    """The title of a cause. `name` is its column or rule, `account` says how the columns changed."""
    first = judgements[0]
    metric = str(first.expectation.metric)
    more = f" (and {len(judgements) - 1} more of it)" if len(judgements) > 1 else ""
    match kind:
        case CauseKind.COPY:
            return Title(f"identical to {name or 'an earlier run'}", metric)
        case CauseKind.UNREAD:
            return Title((f"{name}: " if name else "") + first.reason + more, metric)
        case CauseKind.SHAPE:
            return Title(_describe_schema(judgements), metric)
        case CauseKind.VOLUME:
            return _write_rows_title(judgements, account)
        case CauseKind.WHOLE:
            return Title(f"the batch as a whole is unlike those before it: {first.reason}", metric)
        case CauseKind.COLUMN:
            return _write_column_title(name, judgements, account)
        case _:
            return Title(describe(first) + _count_segments(judgements), metric)


def _write_column_title(column: str, judgements: Sequence[Judgement], account: Account) -> Title:
    """The title of a column: its values that changed, else a factor, else the first expectation that it broke."""
    first, changes = judgements[0], account.metric_changes
    values, sentences = account.value_changes.get(column, ()), account.column_changes.get(column, ())
    if values and _is_about_values(first, values):
        return Title(f"{column}: {describe_value_changes(values)}", value_change=values[0])
    factor = find_column_factor(column, changes)
    if factor is not None and first.expectation.source is Source.HISTORY:
        return _write_factor_title(column, factor, judgements, changes)
    if sentences and not is_telling(first, changes):
        key = _find_metric(column, sentences[0], changes) or first.expectation.metric
        return Title(f"{column}: {sentences[0]}", str(key))
    return Title(describe(first, changes) + _count_segments(judgements), str(first.expectation.metric))


def _write_factor_title(
    column: str, factor: float, judgements: Sequence[Judgement], changes: Mapping[str, MetricChange]
) -> Title:
    """The title of a column whose values are several times as large as usual: by the first metric that shows it."""
    for judgement in judgements:
        key = judgement.expectation.metric
        own = find_factor(key, changes[str(key)]) if is_beside_past(judgement, changes) else None
        if own is not None and factors_agree(*sorted((own, factor))):
            words = describe_beside_past(judgement, changes[str(key)], with_factor=False).removeprefix(f"{column}: ")
            break
    else:
        key = next(key for name in TYPICAL if str(key := MetricKey(name, (column,))) in changes)
        words = describe_change(key, changes[str(key)])
    return Title(f"{column} is {describe_factor(factor)}: {words}", str(key), factor=factor)


def _is_about_values(first: Judgement, changes: Sequence[ValueChange]) -> bool:
    """Whether the values that changed say more than the first expectation that was broken.

    If they cannot be named, lengths of texts say more than their number.
    """
    key = first.expectation.metric
    is_declared = bool(first.expectation.rule) and first.expectation.source is not Source.PATTERNS
    if key.name == _COMPLETENESS or is_declared or not is_known(key):
        return False
    label = traits_of(key).label
    is_measure = not is_distance(key) and bool(label.phrase) and label.value_format is ValueFormat.NUMBER
    return not is_measure or any(each.values for each in changes)


def _find_metric(column: str, sentence: str, changes: Mapping[str, MetricChange]) -> MetricKey | None:
    """The metric that a sentence about a column speaks of."""
    for name, change in changes.items():
        key = MetricKey.parse(name)
        if key.columns == (column,) and describe_change(key, change) == sentence:
            return key
    return None


def is_telling(judgement: Judgement, changes: Mapping[str, MetricChange]) -> bool:
    """Whether `describe` says what is wrong in words that need no knowledge of the metric.

    Of numbers and times, the values that are new say less than where they lie.
    """
    key = judgement.expectation.metric
    distance, change = distances().get(key.name), changes.get(str(key))
    if distance is None or distance.label.value_format is ValueFormat.FLAG:
        return True
    return bool(distance.label.phrase) and (change is None or change.kind not in ORDERED)


def _write_rows_title(judgements: Sequence[Judgement], account: Account) -> Title:
    """The title of a change of the row count. If only what moves with the rows failed, it says how many were usual."""
    size = next((each for each in judgements if each.expectation.metric == _SIZE), None)
    change = account.metric_changes.get(str(_SIZE))
    sentences = account.column_changes.get("", ())
    if size is not None and is_beside_past(size, account.metric_changes):
        return Title(describe(size, account.metric_changes), str(_SIZE))
    if change is not None and change.centre is not None and change.low <= change.value <= change.high:
        usual = format_number(float(f"{change.centre:.2g}"))
        return Title(f"{describe_change(_SIZE, change)}, about {usual} expected", str(_SIZE))
    if sentences:
        return Title(sentences[0], str(_SIZE))
    if size is not None and size.value is not None:
        return Title(f"{format_number(size.value)} rows, expected {size.expectation.predicate}", str(_SIZE))
    return Title(describe(judgements[0], account.metric_changes), str(judgements[0].expectation.metric))


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


def describe(judgement: Judgement, changes: Mapping[str, MetricChange] | None = None, with_factor: bool = True) -> str:
    """A failed expectation in plain words; the judgement's own reason where there are none plainer.

    `changes` are the metrics whose values in the runs before are known. `with_factor` adds how many times as large as
    usual a value is.
    """
    key, value = judgement.expectation.metric, judgement.value
    if changes is not None and key.name != "finiteness" and is_beside_past(judgement, changes):
        return describe_beside_past(judgement, changes[str(key)], with_factor)
    if (drifted := describe_limit(judgement)) is not None:
        return drifted
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
            unit = "values" if any(map(is_repeated, key.columns)) else "rows"
            return f"{judgement.expectation.rule}: {format_share(1 - value)} of the {unit} break it, expected none"
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
