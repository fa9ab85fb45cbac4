"""Words for what accepting a batch does to the ranges of the next one."""

from __future__ import annotations

from collections.abc import Sequence

from headgate.display.table import Table
from headgate.explain.metric_names import count_extra_digits, format_allowed, format_value, metric_label
from headgate.learn.metric_traits import MetricTraits, is_known, traits_of
from headgate.metrics.base.label import ValueFormat
from headgate.values.predicate import Predicate
from headgate.values.range_change import RangeChange

UNCHANGED = "The ranges of the next batch stay as they are."
NOTHING_LEFT = f"No learned range was left. {UNCHANGED}"

_HEADERS = ("of the next batch", "expected now", "if accepted", "passes too")
_MAX_METRICS = 8  # rows of the table
_MAX_VALUES = 3  # accepted values that a cell lists


def describe_range_changes(changes: Sequence[RangeChange]) -> list[Table | str]:
    """The metrics that people know first, as a table, and how many more there are; or that the ranges stay.

    >>> from headgate.values.key import MetricKey
    >>> from headgate.values.predicate import Between
    >>> change = RangeChange(MetricKey("mean", ("price",)), Between(19.1, 29.1), Between(14.1, 33.6), (2437.0,))
    >>> print(*describe_range_changes([change]))
    of the next batch  expected now  if accepted   passes too
    ─────────────────  ────────────  ────────────  ───────────
    price: mean        19.1 to 29.1  14.1 to 33.6  about 2,437
    """
    if not changes:
        return [NOTHING_LEFT]
    telling = [each for each in changes if each.is_changed or each.values_outside]
    if not telling:
        return [UNCHANGED]
    telling.sort(key=lambda each: _read_traits(each) is None or _format_name(each) == str(each.metric))
    rows = tuple(map(_format_row, telling[:_MAX_METRICS]))
    more = len(telling) - len(rows)
    return [Table(_HEADERS, rows), *([f"and {more} more"] if more else [])]


def _read_traits(change: RangeChange) -> MetricTraits | None:
    """The traits by which values are said; None if they are said as plain numbers."""
    if not is_known(change.metric):
        return None
    traits = traits_of(change.metric, change.kind)
    return None if traits.label.value_format is ValueFormat.FLAG else traits


def _format_row(change: RangeChange) -> tuple[str, ...]:
    now = _format_range(change, change.before)
    then = _format_range(change, change.after)
    return _format_name(change), now, "as now" if now == then else then, _format_accepted(change)


def _format_name(change: RangeChange) -> str:
    traits = _read_traits(change)
    label = None if traits is None else metric_label(traits)
    if traits is None or label is None:
        return str(change.metric)
    return f"{traits.column}: {label}" if traits.column else label


def _format_range(change: RangeChange, predicate: Predicate | None) -> str:
    return "anything" if predicate is None else format_allowed(_read_traits(change), predicate)


def _format_accepted(change: RangeChange) -> str:
    """The accepted values outside of the range after, near which a value passes.

    A timestamp is not told: that of another batch is another one.
    """
    traits, after, values = _read_traits(change), change.after, sorted(set(change.values_outside))
    if not values or after is None or (traits is not None and traits.is_timestamp):
        return ""
    formatted = [
        after.format_value(each)
        if traits is None
        else format_value(traits, each, count_extra_digits(traits, each, after))
        for each in values
    ]
    distinct = list(dict.fromkeys(formatted))
    if len(distinct) > _MAX_VALUES:
        return f"about {distinct[0]} to {distinct[-1]}"
    return f"about {' or '.join(distinct)}"
