"""Words for a batch that fails like the held batches before it: "third day at the new level".

Tested by `tests/explain/test_held_sequence.py`.
"""

from __future__ import annotations

from collections.abc import Sequence

from headgate.explain.metric_names import describe_predicate, format_value, tells_missing
from headgate.learn.metric_traits import is_known, traits_of
from headgate.values.expectation import Judgement

_ORDINALS = ("second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")
_MAX_NAMES = 3  # batches that a sentence lists
_MAX_VALUES = 3  # values that a title lists


def count_steps(count: int, step: str) -> str:
    """Which batch of a sequence it is.

    >>> count_steps(3, "day"), count_steps(11, "batch")
    ('third day', 'more than 10 batches')
    """
    if count - 2 < len(_ORDINALS):
        return f"{_ORDINALS[count - 2]} {step}"
    return f"more than {count - 1} {step}{'es' if step.endswith('ch') else 's'}"


def describe_duration(count: int, step: str) -> str:
    """For how long it has been so.

    >>> describe_duration(3, "day"), describe_duration(11, "hour")
    ('for the third day', 'for more than 10 hours')
    """
    counted = count_steps(count, step)
    return f"for {counted}" if counted.startswith("more") else f"for the {counted}"


def is_level(judgement: Judgement) -> bool:
    """Whether people read a metric as a level: it is that of a whole column, and neither a distance nor a timestamp."""
    key = judgement.expectation.metric
    if not is_known(key) or judgement.expectation.predicate.moments:
        return False
    return traits_of(key).is_plain and not traits_of(key).is_distance


def write_level_title(column: str, judgement: Judgement, values: Sequence[float], step: str) -> str:
    """The title of a cause whose metric has the same level as in the held batches before it; `values` are of them all.

    >>> from headgate.values.expectation import Expectation
    >>> from headgate.values.key import MetricKey
    >>> from headgate.values.outcome import Measured
    >>> from headgate.values.predicate import Between
    >>> mean = Expectation(MetricKey("mean", ("price",)), Between(20, 30)).judge(Measured(120.0))
    >>> write_level_title("price", mean, [121, 119, 120], "day")
    'price: third day at the new level (mean 121, 119, 120; expected 20 to 30)'
    """
    traits = traits_of(judgement.expectation.metric)
    listed = ", ".join(format_value(traits, each) for each in values)
    if len(values) > _MAX_VALUES:
        ends = (max(values), min(values)) if tells_missing(traits) else (min(values), max(values))
        listed = " to ".join(dict.fromkeys(format_value(traits, each) for each in ends))
    expected = describe_predicate(traits, judgement.expectation.predicate)
    where = f"{column}: " if column else ""
    counted = count_steps(len(values), step)
    phrase = traits.label.phrase or f"{traits.label.title or traits.key.name} {{}}"
    return f"{where}{counted} at the new level ({phrase.format(listed)}; expected {expected})"


def describe_held(partitions: Sequence[str]) -> str:
    """Which batches were held for the same reason; empty if there are none.

    >>> describe_held(["2026-11-12", "2026-11-13"])
    '2026-11-12 and 2026-11-13 were held for the same reason'
    """
    if not partitions:
        return ""
    if len(partitions) > _MAX_NAMES:
        named = f"{len(partitions)} batches from {partitions[0]} to {partitions[-1]}"
    else:
        named = " and ".join([", ".join(partitions[:-1]), partitions[-1]] if len(partitions) > 1 else partitions)
    return f"{named} {'was' if len(partitions) == 1 else 'were'} held for the same reason"
