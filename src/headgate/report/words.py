"""The names of metrics and the texts of their values on pages."""

from __future__ import annotations

from headgate.display.numbers import format_number
from headgate.explain.metric_names import format_value, metric_label, round_digits
from headgate.learn.copies import COPIES
from headgate.learn.metric_traits import MetricTraits
from headgate.learn.novelty.model import NOVELTY
from headgate.values.expectation import Expectation
from headgate.values.key import MetricKey
from headgate.values.predicate import Predicate


def describe_metric(traits: MetricTraits | None, key: MetricKey, bare: bool = False) -> str:
    """The title of a metric's chart, such as `price: mean`; `bare` leaves the column out."""
    if key == NOVELTY:
        return "how unlike the runs before"
    if key == COPIES:
        return "earlier runs with the same rows"
    label = traits.label.title if traits is not None and traits.is_plain else ""
    if not label:
        return str(key)
    column = key.columns[0] if key.columns else ""
    return label if bare or not column else f"{column}: {label}"


def describe_subject(traits: MetricTraits | None, expectation: Expectation) -> str:
    """What was judged: the metric, or the declared rule if the metric has no plain name."""
    if expectation.rule and not (traits is not None and traits.is_plain and metric_label(traits)):
        return f"rows that meet {expectation.rule}" if traits is not None and traits.share else expectation.rule
    return describe_metric(traits, expectation.metric)


def describe_value(
    traits: MetricTraits | None, value: float, predicate: Predicate | None = None, digits: int = 6
) -> str:
    """A value for display: shares as percentages, moments as times, other numbers rounded to `digits` digits."""
    if predicate is not None and predicate.moments:
        return predicate.format_value(value)
    if traits is not None and traits.is_timestamp:
        return format_value(traits, value)
    if traits is None:
        return format_number(round_digits(value, digits))
    return format_value(traits, value if traits.share else round_digits(value, digits))


def is_self_explanatory(traits: MetricTraits | None) -> bool:
    """Whether a reader understands the metric without an explanation."""
    return traits is None or not traits.is_distance or metric_label(traits) is not None
