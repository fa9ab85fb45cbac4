"""Words for how a metric lies beside the runs before: its past range first, then the one that is allowed."""

from __future__ import annotations

import math
from collections.abc import Mapping

from headgate.explain.metric_names import (
    count_extra_digits,
    format_allowed,
    format_range,
    format_value,
    is_count,
    metric_label,
)
from headgate.learn.metric_traits import MetricTraits, Scale, is_known, traits_of
from headgate.values.account import MetricChange
from headgate.values.expectation import Expectation, Judgement, Source
from headgate.values.key import MetricKey

MIN_FACTOR, MAX_FACTOR = 2.0, 1e9
"""How many times as large or as small as usual a value is, at least and at most, if it is described by a factor."""

FACTOR_SPREAD = 1.25
"""Factors that are at most this many times as large as each other describe the same change."""

TYPICAL = ("mean", "median")
"""The metrics of a column that change by a factor if all of its values do."""

_BEYOND_PAST = 1.5  # how many times as large as the largest of the past a value is that is described by a factor
_ROUND_SHARE = 0.05  # a factor that is so near to a number of one digit is rounded to it
_ROUND_PART = 0.12  # a factor that is so near to one part of a whole number of parts is called that part
_PARTS = {
    2: "half",
    3: "a third",
    4: "a quarter",
    5: "a fifth",
    6: "a sixth",
    7: "a seventh",
    8: "an eighth",
    9: "a ninth",
    10: "a tenth",
    100: "a hundredth",
    1000: "a thousandth",
}
_SHARES_OF_COLUMN = {
    "new_values": "are values that no run had before",
    "new_patterns": "are written in a way that no run had before",
    "outside_period": "is outside of the period of the batch",
}


def describe_past(key: MetricKey, change: MetricChange, extra: int = 0) -> str:
    """The values of a metric in the runs before.

    >>> describe_past(MetricKey("median", ("price",)), MetricChange(2460.0, 23.9, 24.9, 30))
    '23.9 to 24.9 in 30 runs'
    """
    runs = f"{change.runs} run{'s' * (change.runs != 1)}"
    past = format_range(traits_of(key, change.kind), change.low, change.high, extra)
    return f"{past} by the times of {runs}" if change.is_shifted else f"{past} in {runs}"


def describe_change(key: MetricKey, change: MetricChange) -> str:
    """The value of a metric that people know, and what it was before.

    >>> describe_change(MetricKey("median", ("price",)), MetricChange(2460.0, 23.9, 24.9, 30))
    'median 2,460 (23.9 to 24.9 in 30 runs)'
    """
    traits = traits_of(key, change.kind)
    return f"{traits.label.phrase.format(format_value(traits, change.value))} ({describe_past(key, change)})"


def describe_expected(expectation: Expectation, change: MetricChange | None) -> str:
    """What was expected of a metric: what it was before, then what is allowed."""
    key = expectation.metric
    if change is None:
        return format_allowed(traits_of(key) if is_known(key) else None, expectation.predicate)
    extra = count_extra_digits(traits_of(key, change.kind), change.value, expectation.predicate)
    return f"{describe_past(key, change, extra)}; allowed {_format_allowed(expectation, change, extra)}"


def _format_allowed(expectation: Expectation, change: MetricChange, extra: int) -> str:
    return format_allowed(traits_of(expectation.metric, change.kind), expectation.predicate, extra)


def describe_beside_past(judgement: Judgement, change: MetricChange, with_factor: bool = True) -> str:
    """A failed learned expectation in plain words, with the past range before the allowed one.

    >>> from headgate.values.predicate import Between
    >>> expectation = Expectation(MetricKey("median", ("price",)), Between(22.0, 27.0), Source.HISTORY)
    >>> from headgate.values.outcome import Measured
    >>> print(describe_beside_past(expectation.judge(Measured(30.5)), MetricChange(30.5, 23.9, 24.9, 30, 24.4)))
    price: median 30.5 (23.9 to 24.9 in 30 runs; allowed 22 to 27)
    """
    expectation = judgement.expectation
    key, traits = expectation.metric, traits_of(expectation.metric, change.kind)
    extra = count_extra_digits(traits, change.value, expectation.predicate)
    value = format_value(traits, change.value, extra)
    ranges = f"({describe_expected(expectation, change)})"
    factor = find_factor(key, change) if with_factor else None
    times = "" if factor is None else f", {describe_factor(factor, 'many' if is_count(traits) else 'large')}"
    phrase = traits.label.phrase.format(value)
    if key.name in _SHARES_OF_COLUMN:
        return f"{value} of {traits.column} {_SHARES_OF_COLUMN[key.name]} {ranges}"
    if not metric_label(traits):
        return f"{key} is {value} {ranges}{times}"
    if not traits.column:
        return f"{phrase} {ranges}{times}"
    return f"{traits.column}{' is' if key.name == 'completeness' else ':'} {phrase} {ranges}{times}"


def is_beside_past(judgement: Judgement, changes: Mapping[str, MetricChange]) -> bool:
    """Whether a judgement is told beside the past: it is about a range that was learned, and the past is known."""
    expectation = judgement.expectation
    is_range = expectation.source is Source.HISTORY and not expectation.rule and is_known(expectation.metric)
    return is_range and str(expectation.metric) in changes and expectation.metric.name != "unchanged"


# --- factors


def find_factor(key: MetricKey, change: MetricChange) -> float | None:
    """How many times as large as usual a value is; None if it is not several times as large or as small.

    >>> find_factor(MetricKey("median", ("price",)), MetricChange(2440.0, 23.9, 24.9, 30, 24.4))
    100.0
    """
    traits = traits_of(key, change.kind)
    ends = sorted((abs(change.low), abs(change.high)))
    if not _has_factor(traits) or not change.centre or not math.isfinite(change.value) or change.low * change.high <= 0:
        return None
    factor, size = change.value / change.centre, abs(change.value)
    is_beyond = size > _BEYOND_PAST * ends[1] if factor > 1 else size * _BEYOND_PAST < ends[0]
    is_large = MIN_FACTOR <= factor <= MAX_FACTOR or 1 / MAX_FACTOR <= factor <= 1 / MIN_FACTOR
    return factor if is_beyond and is_large else None


def _has_factor(traits: MetricTraits) -> bool:
    return traits.scale in (Scale.SIZE, Scale.SPREAD) and not (traits.is_distance or traits.share)


def find_column_factor(column: str, changes: Mapping[str, MetricChange]) -> float | None:
    """How many times as large as usual the values of a column are, if its mean and its median agree."""
    names = (str(MetricKey(name, (column,))) for name in TYPICAL)
    factors = [find_factor(MetricKey.parse(name), changes[name]) for name in names if name in changes]
    known = [each for each in factors if each is not None]
    return known[0] if known and len(known) == len(factors) and factors_agree(min(known), max(known)) else None


def factors_agree(first: float, second: float) -> bool:
    """Whether two factors describe the same change.

    >>> factors_agree(98.8, 101.2), factors_agree(10.0, 100.0)
    (True, False)
    """
    return max(first, second) <= FACTOR_SPREAD * min(first, second)


def describe_factor(factor: float, size: str = "large") -> str:
    """A factor in words.

    >>> describe_factor(101.2), describe_factor(0.0996), describe_factor(18.7)
    ('about 100 times as large', 'about a tenth as large', 'about 19 times as large')
    >>> describe_factor(0.04, "many"), describe_factor(0.41, "many")
    ('about 1/25 as many', 'about 41% as many')
    """
    if factor >= 1:
        return f"about {_round_factor(factor)} times as {size}"
    parts = float(_round_factor(1 / factor).replace(",", ""))
    whole = round(parts)
    if abs(whole * factor - 1) > _ROUND_PART:
        return f"about {factor:.0%} as {size}"
    return f"about {_PARTS.get(whole, f'1/{whole:,}')} as {size}"


def _round_factor(factor: float) -> str:
    """A factor of two digits; of one if that is nearly the same."""
    one, two = (float(f"{factor:.{digits}g}") for digits in (1, 2))
    chosen = one if abs(one / factor - 1) <= _ROUND_SHARE else two
    return f"{chosen:,.12g}"
