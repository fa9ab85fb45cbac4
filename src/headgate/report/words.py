"""How a page says a metric and its values."""

from __future__ import annotations

from headgate.display.numbers import format_number
from headgate.explain.metric_names import format_value, metric_label, round_digits, tells_missing
from headgate.learn.metric_traits import MetricTraits
from headgate.learn.novelty.model import NOVELTY
from headgate.values.expectation import Expectation
from headgate.values.key import MetricKey
from headgate.values.predicate import Between, OneOf, Predicate


def describe_metric(traits: MetricTraits | None, key: MetricKey, bare: bool = False) -> str:
    """A metric as a chart's title: `mean of price`; `bare` leaves the column out."""
    if key == NOVELTY:
        return "how unlike the runs before"
    word = traits.label.title if traits is not None and traits.is_plain else ""
    if not word:
        return str(key)
    column = key.columns[0] if key.columns else ""
    return word if bare or not column else f"{column}: {word}"


def describe_subject(traits: MetricTraits | None, expectation: Expectation) -> str:
    """What was judged: the metric, or the rule of a person where that is plainer than its metric."""
    if expectation.rule and not (traits is not None and traits.is_plain and metric_label(traits)):
        return f"rows that meet {expectation.rule}" if traits is not None and traits.share else expectation.rule
    return describe_metric(traits, expectation.metric)


def describe_value(
    traits: MetricTraits | None, value: float, predicate: Predicate | None = None, digits: int = 6
) -> str:
    """A value as people read it: shares as percentages, moments as times, others in so many digits."""
    if predicate is not None and predicate.moments:
        return predicate.format_value(value)
    if traits is not None and traits.is_timestamp:
        return format_value(traits, value)
    if traits is None:
        return format_number(round_digits(value, digits))
    return format_value(traits, value if traits.share else round_digits(value, digits))


def describe_predicate(traits: MetricTraits | None, predicate: Predicate) -> str:
    """What was expected, in the words in which the value is told."""
    if traits is not None and traits.share and isinstance(predicate, OneOf) and predicate.values == (1.0,):
        return "none" if tells_missing(traits) else "all"  # of which it is told how much is missing
    if isinstance(predicate, OneOf) and traits is not None and traits.share:
        words = ", ".join(describe_value(traits, each, digits=4) for each in predicate.values)
        return words if len(predicate.values) == 1 else f"one of {words}"
    if not isinstance(predicate, Between) or predicate.moments or traits is None:
        return str(predicate)
    low, high = (
        None if end is None else describe_value(traits, end, digits=4) for end in (predicate.low, predicate.high)
    )
    if tells_missing(traits):  # the fullest is the least empty
        low, high = high, low
    if high is None:
        return f"at least {low}"
    return f"at most {high}" if low is None else f"{low} to {high}"


def is_self_explanatory(traits: MetricTraits | None) -> bool:
    """Whether a person knows what the metric is without having read about it."""
    return traits is None or not traits.is_distance or metric_label(traits) is not None
