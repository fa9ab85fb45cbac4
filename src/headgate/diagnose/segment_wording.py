"""The rows of a segment in words."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime, timedelta

from headgate.engine.segment_plan import SegmentColumn

_HOUR = "%Y-%m-%d %H:%M"


def describe_rows(
    column: SegmentColumn, values: Sequence[str | None], every: Collection[str | None] = (), hidden: bool = False
) -> str:
    """The rows that have one of some values, in words that follow "all rows".

    >>> describe_rows(SegmentColumn("carrier"), ["EV", None])
    'where carrier is EV or null'
    >>> describe_rows(SegmentColumn("at", "hour"), ["2026-11-14 22:00", "2026-11-14 23:00"], ["2026-11-14 21:00"])
    'with at since 2026-11-14 22:00'

    Args:
        column: What tells the rows apart.
        values: The values of the segment, as they are recorded.
        every: All values of the batch, by which the last hour is known.
        hidden: Whether values are recorded as hashes.
    """
    match column.kind:
        case "hour":
            return f"with {column.column} {_describe_hours(values, every)}"
        case "file":
            names = [_show(None if value is None else value.rpartition("/")[2], hidden) for value in values]
            return f"of the source file{'s' * (len(names) > 1)} {_list(names, 'and')}"
        case "task":
            return f"of the Spark partition{'s' * (len(values) > 1)} {_list([str(value) for value in values], 'and')}"
    return f"where {column.column} is {_list([_show(value, hidden) for value in values], 'or')}"


def _describe_hours(values: Sequence[str | None], every: Collection[str | None]) -> str:
    """Consecutive hours as a time since when, if they are the last, or as a range; others one by one."""
    hours = sorted(value for value in values if value is not None)
    if len(hours) < len(values) or not hours:
        return _list([value or "null" for value in values], "or")
    starts = [datetime.strptime(hour, _HOUR) for hour in hours]
    between = [each for each in every if each is not None and hours[0] <= each <= hours[-1] and each not in hours]
    if between:
        return f"in the hours from {_list(hours, 'and')}"
    if hours[-1] >= max((each for each in every if each is not None), default=hours[-1]):
        return f"since {hours[0]}"
    return f"from {hours[0]} to {(starts[-1] + timedelta(hours=1)).strftime(_HOUR)}"


def _show(value: str | None, hidden: bool) -> str:
    if value is None:
        return "null"
    return f"(hidden: {value[:8]})" if hidden else f'"{value}"' if not value or value != value.strip() else value


def _list(names: Sequence[str], last: str) -> str:
    return f" {last} ".join(filter(None, [", ".join(names[:-1]), names[-1]]))
