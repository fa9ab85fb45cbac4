"""What people call a metric, and how they read its values: from the label that the metric declares."""

from __future__ import annotations

import math

from headgate.display.numbers import format_moment, format_number
from headgate.explain.wording import format_share
from headgate.learn.metric_traits import MetricTraits, Scale
from headgate.metrics.base.label import ValueFormat

_UNITS = ((86_400, "days"), (3_600, "hours"), (60, "minutes"))


def metric_label(traits: MetricTraits) -> str | None:
    """What people call a metric that they know without having read about it; None for the others.

    >>> from headgate.learn.metric_traits import traits_of
    >>> from headgate.values.key import MetricKey
    >>> metric_label(traits_of(MetricKey("stddev", ("price",))))
    'deviation'
    """
    return traits.label.title if traits.is_plain and traits.label.phrase else None


def format_value(traits: MetricTraits, value: float) -> str:
    """A value of a metric as people say it.

    >>> from headgate.learn.metric_traits import traits_of
    >>> from headgate.values.key import MetricKey
    >>> format_value(traits_of(MetricKey("completeness", ("price",))), 0.875)
    '12.5%'
    """
    if traits.is_timestamp:
        return format_moment(value)
    if traits.scale is Scale.TIME:
        return format_time_span(value)
    match traits.label.value_format:
        case ValueFormat.MISSING:
            return format_share(max(0.0, 1 - value))
        case ValueFormat.SHARE:
            return format_share(value)
        case ValueFormat.COUNT:
            return format_number(round(round_digits(value, 4)))
        case ValueFormat.FLAG:
            return "yes" if value else "no"
    return format_share(round_digits(value, 4)) if traits.share else format_number(round_digits(value, 4))


def tells_missing(traits: MetricTraits | None) -> bool:
    """Whether the share that is missing is shown, so that the largest value is shown as the smallest."""
    return traits is not None and traits.label.value_format is ValueFormat.MISSING


def format_time_span(seconds: float) -> str:
    """A span of time in the largest unit of which there are at least two.

    >>> format_time_span(691_200), format_time_span(5_400), format_time_span(90), format_time_span(0)
    ('8 days', '90 minutes', '90 seconds', '0 seconds')
    """
    unit, word = next(((size, word) for size, word in _UNITS if abs(seconds) >= 2 * size), (1, "seconds"))
    return f"{format_number(round_digits(seconds / unit, 3))} {word}"


def round_digits(value: float, digits: int) -> float:
    """A number of so many digits; one that is whole, or none at all, as it is.

    >>> round_digits(1234.5678, 5), round_digits(1234567.0, 2), round_digits(float("inf"), 2)
    (1234.6, 1234567.0, inf)
    """
    return value if not math.isfinite(value) or value == round(value) else float(f"{value:.{digits}g}")
