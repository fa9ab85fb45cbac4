"""What people call a metric, and how they read its values: from the label that the metric declares."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

from headgate.display.numbers import format_moment, format_number, format_share
from headgate.learn.metric_traits import MetricTraits, Scale
from headgate.metrics.base.label import ValueFormat
from headgate.values.predicate import Between, OneOf, Predicate

_UNITS = ((86_400, "days"), (3_600, "hours"), (60, "minutes"))
_DIGITS = 4  # of a number in a sentence
_MAX_EXTRA = 8  # further digits that a value may need to look different from the end of a range


def metric_label(traits: MetricTraits) -> str | None:
    """What people call a metric that they know without having read about it; None for the others.

    >>> from headgate.learn.metric_traits import traits_of
    >>> from headgate.values.key import MetricKey
    >>> metric_label(traits_of(MetricKey("stddev", ("price",))))
    'deviation'
    """
    return traits.label.title if traits.is_plain and traits.label.phrase else None


def format_value(traits: MetricTraits, value: float, extra: int = 0) -> str:
    """A value of a metric as people say it, with so many digits more than usual.

    >>> from headgate.learn.metric_traits import traits_of
    >>> from headgate.values.key import MetricKey
    >>> completeness = traits_of(MetricKey("completeness", ("price",)))
    >>> format_value(completeness, 0.8754), format_value(completeness, 0.8754, extra=1)
    ('12.5%', '12.46%')
    """
    if traits.is_timestamp:
        return format_moment(value)
    if traits.scale is Scale.TIME:
        return format_time_span(value, extra)
    match traits.label.value_format:
        case ValueFormat.MISSING:
            return format_share(max(0.0, 1 - value), 1 + extra)
        case ValueFormat.SHARE:
            return format_share(value, 1 + extra)
        case ValueFormat.COUNT:
            return format_number(round(round_digits(value, _DIGITS + extra)))
        case ValueFormat.FLAG:
            return "yes" if value else "no"
    rounded = round_digits(value, _DIGITS + extra)
    return format_share(rounded, 1 + extra) if traits.share else format_number(rounded)


def count_extra_digits(traits: MetricTraits, value: float, predicate: Predicate) -> int:
    """How many digits more than usual a value needs so that it looks different from the ends of its range."""
    ends = [end for end in (predicate.floor, predicate.ceiling) if end is not None and end != value]
    for extra in range(_MAX_EXTRA):
        if format_value(traits, value, extra) not in {format_value(traits, end, extra) for end in ends}:
            return extra
    return 0  # they differ in nothing that people read, such as the fraction of a count


def format_range(traits: MetricTraits, low: float | None, high: float | None, extra: int = 0) -> str:
    """A range of values of a metric; one end may be open.

    >>> from headgate.learn.metric_traits import traits_of
    >>> from headgate.values.key import MetricKey
    >>> completeness = traits_of(MetricKey("completeness", ("price",)))
    >>> format_range(completeness, 0.875, 1.0), format_range(completeness, 0.875, None)
    ('0.0% to 12.5%', 'at most 12.5%')
    """
    return _join_ends(traits, low, high, lambda end: format_value(traits, end, extra))


def _join_ends(
    traits: MetricTraits | None, low: float | None, high: float | None, format_end: Callable[[float], str]
) -> str:
    ends = (high, low) if tells_missing(traits) else (low, high)
    least, most = ("" if end is None else format_end(end) for end in ends)
    if not least or not most:
        return f"at least {least}" if least else f"at most {most}"
    return least if least == most else f"{least} to {most}"


def format_allowed(traits: MetricTraits | None, predicate: Predicate, extra: int = 0) -> str:
    """The values that a predicate allows, as values of the metric are said.

    >>> from headgate.learn.metric_traits import traits_of
    >>> from headgate.values.key import MetricKey
    >>> format_allowed(traits_of(MetricKey("approx_count_distinct", ("region",))), Between(2.7, 3.3))
    '3'
    """
    if not isinstance(predicate, Between | OneOf):
        return str(predicate)
    format_end = predicate.format_value
    if traits is not None and not predicate.moments:
        format_end = partial(format_value, traits, extra=extra)
    if isinstance(predicate, Between):
        return _join_ends(traits, *_clip_ends(traits, predicate), format_end)
    if traits is not None and traits.share and predicate.values == (1.0,):
        return "none" if tells_missing(traits) else "all"  # completeness is shown as a null rate
    words = ", ".join(map(format_end, predicate.values))
    return words if len(predicate.values) == 1 else f"one of {words}"


def _clip_ends(traits: MetricTraits | None, predicate: Between) -> tuple[float | None, float | None]:
    """The ends of a range without those that no value of the metric lies beyond; whole numbers for counts."""
    low, high = predicate.low, predicate.high
    if traits is None or predicate.moments:
        return low, high
    if is_count(traits):
        least = None if low is None else float(math.ceil(low))
        most = None if high is None else float(math.floor(high))
        if least is None or most is None or least <= most:
            low, high = least, most
    if traits.share and low is not None and high is not None:
        return (None, high) if low <= 0 and high < 1 else (low, None) if high >= 1 and low > 0 else (low, high)
    return low, high


def tells_missing(traits: MetricTraits | None) -> bool:
    """Whether the share that is missing is shown, so that the largest value is shown as the smallest."""
    return traits is not None and traits.label.value_format is ValueFormat.MISSING


def is_count(traits: MetricTraits) -> bool:
    """Whether its values count things, so that they are whole numbers."""
    return traits.label.value_format is ValueFormat.COUNT or traits.key.name == "size"


def format_time_span(seconds: float, extra: int = 0) -> str:
    """A span of time in the largest unit of which there are at least two.

    >>> format_time_span(691_200), format_time_span(5_400), format_time_span(90), format_time_span(0)
    ('8 days', '90 minutes', '90 seconds', '0 seconds')
    """
    unit, word = next(((size, word) for size, word in _UNITS if abs(seconds) >= 2 * size), (1, "seconds"))
    return f"{format_number(round_digits(seconds / unit, 3 + extra))} {word}"


def round_digits(value: float, digits: int) -> float:
    """A number of so many digits; one that is whole, or none at all, as it is.

    >>> round_digits(1234.5678, 5), round_digits(1234567.0, 2), round_digits(float("inf"), 2)
    (1234.6, 1234567.0, inf)
    """
    return value if not math.isfinite(value) or value == round(value) else float(f"{value:.{digits}g}")
