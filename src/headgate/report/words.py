"""How a page says a metric and its values."""

from __future__ import annotations

from headgate.display.numbers import shown
from headgate.explain.column_changes import named, rounded, spoken
from headgate.learn.metric_traits import Measure
from headgate.learn.novelty.model import NOVELTY
from headgate.values.expectation import Expectation
from headgate.values.key import MetricKey
from headgate.values.predicate import Between, OneOf, Predicate

_NAMES = {
    "sum": "sum",
    "ks_dist": "distance of the distribution (KS)",
    "cohen_d": "shift of the mean (Cohen's d)",
    "emd": "distance of the distribution (EMD)",
    "value_l1": "distance of the values (L1)",
    "pattern_l1": "distance of the patterns (L1)",
    "range": "range",
    "char_len": "letters in a value",
    "entropy": "entropy",
    "finiteness": "finite",
    "unchanged": "same as the run before",
}


def metric_words(measure: Measure | None, key: MetricKey, bare: bool = False) -> str:
    """A metric as a chart's title: `mean of price`; `bare` leaves the column out."""
    if key == NOVELTY:
        return "how unlike the runs before"
    word = (measure and named(measure)) or _NAMES.get(key.name)
    if word is None or not (measure is None or measure.plain):
        return str(key)
    column = key.columns[0] if key.columns else ""
    return word if bare or not column else f"{column}: {word}"


def judged_words(measure: Measure | None, expectation: Expectation) -> str:
    """What was judged: the metric, or the rule of a person where that is plainer than its metric."""
    if expectation.rule and not (measure is not None and measure.plain and named(measure)):
        return f"rows that meet {expectation.rule}" if measure is not None and measure.share else expectation.rule
    return metric_words(measure, expectation.metric)


def value_words(measure: Measure | None, value: float, predicate: Predicate | None = None, digits: int = 6) -> str:
    """A value as people read it: shares as percentages, moments as times, others in so many digits."""
    if predicate is not None and predicate.moments:
        return predicate.shown(value)
    if measure is not None and measure.moment:
        return spoken(measure, value)
    if measure is None:
        return shown(rounded(value, digits))
    if measure.key.name == "unchanged":
        return "yes" if value else "no"
    return spoken(measure, value if measure.share else rounded(value, digits))


def expected_words(measure: Measure | None, predicate: Predicate) -> str:
    """What was expected, in the words in which the value is told."""
    if measure is not None and measure.share and isinstance(predicate, OneOf) and predicate.values == (1.0,):
        return "none" if measure.key.name == "completeness" else "all"  # of which it is told how much is missing
    if isinstance(predicate, OneOf) and measure is not None and measure.share:
        words = ", ".join(value_words(measure, each, digits=4) for each in predicate.values)
        return words if len(predicate.values) == 1 else f"one of {words}"
    if not isinstance(predicate, Between) or predicate.moments or measure is None:
        return str(predicate)
    low, high = (
        None if end is None else value_words(measure, end, digits=4) for end in (predicate.low, predicate.high)
    )
    if measure.key.name == "completeness":  # the fullest is the least empty
        low, high = high, low
    if high is None:
        return f"at least {low}"
    return f"at most {high}" if low is None else f"{low} to {high}"


def tells(measure: Measure | None) -> bool:
    """Whether a person knows what the metric is without having read about it."""
    return measure is None or not measure.distance or named(measure) is not None
