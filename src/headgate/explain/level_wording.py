"""Words for a batch that fails like the held batches before it: "third day at the new level".

Tested by `tests/explain/test_held_sequence.py`.
"""

from __future__ import annotations

from collections.abc import Sequence

from headgate.explain.metric_names import format_range, format_value
from headgate.learn.metric_traits import is_known, traits_of
from headgate.values.account import HeldLevel
from headgate.values.key import MetricKey

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


def is_level(level: HeldLevel) -> bool:
    """Whether people read a metric as a level: it is that of a whole column, and neither a distance nor a timestamp."""
    key = MetricKey.parse(level.metric)
    has_range = level.low is not None or level.high is not None
    return has_range and is_known(key) and traits_of(key).is_plain and not traits_of(key).is_distance


def rank_level(level: HeldLevel) -> int:
    """Sorts levels: the one that people know best first."""
    return traits_of(MetricKey.parse(level.metric)).label.rank


def write_level_title(level: HeldLevel, step: str) -> str:
    """The title of a cause whose metric has the same level as in the held batches before it.

    >>> write_level_title(HeldLevel("mean(price)", (121, 119, 120), 20, 30), "day")
    'price: third day at the new level (mean 121, 119, 120; 20 to 30 before)'
    """
    key = MetricKey.parse(level.metric)
    traits = traits_of(key)
    if len(level.values) > _MAX_VALUES:
        values = format_range(traits, min(level.values), max(level.values))
    else:
        values = ", ".join(format_value(traits, each) for each in level.values)
    phrase = traits.label.phrase or f"{traits.label.title or key.name} {{}}"
    where = f"{key.columns[0]}: " if key.columns else ""
    before = format_range(traits, level.low, level.high)
    return f"{where}{count_steps(len(level.values), step)} at the new level ({phrase.format(values)}; {before} before)"


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
