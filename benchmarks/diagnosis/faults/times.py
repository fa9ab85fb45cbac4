"""Faults of dates and times."""

from __future__ import annotations

import datetime
from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from benchmarks.diagnosis.faults.fault import ColumnChange, ColumnFault, choose, is_text, is_time

HOURS = (1.0, 2.0, 5.0, 5.5, 6.0, 8.0, 12.0)
FORMATS = (
    *("%Y-%m-%d", "%Y/%m/%d", "%d/%m/%Y", "%m/%d/%Y", "%d.%m.%Y", "%Y%m%d", "%d-%b-%Y", "%B %d, %Y"),
    *("%Y-%m-%d %H:%M:%S", "%m/%d/%Y %I:%M:%S %p", "%m/%d/%Y %H:%M", "%d/%m/%Y %H:%M", "%Y-%m-%dT%H:%M:%S"),
)


def is_moment(values: pa.Array) -> bool:
    return bool(pa.types.is_timestamp(values.type)) and values.null_count < len(values)


def is_date(values: pa.Array) -> bool:
    return is_time(values) and values.null_count < len(values)


def find_format(values: pa.Array) -> str | None:
    """The format in which all texts of a column are dates."""
    if not is_text(values) or not (texts := values.drop_null().unique().to_pylist()):
        return None
    return next((form for form in FORMATS if all(_parse(text, form) is not None for text in texts)), None)


def is_text_date(values: pa.Array) -> bool:
    return find_format(values) is not None


def is_any_date(values: pa.Array) -> bool:
    return is_date(values) or is_text_date(values)


def _parse(text: str, form: str) -> datetime.datetime | None:
    try:
        return datetime.datetime.strptime(text, form)
    except ValueError:
        return None


def rewrite(values: pa.Array, chance: np.random.Generator) -> ColumnChange | None:
    """Dates as text in another format; those of a column of times become text."""
    now = find_format(values) if is_text(values) else None
    moments = [None if text is None else _read(text, now) for text in values.to_pylist()]
    has_hours = any(each is not None and (each.hour or each.minute) for each in moments)
    first = FORMATS[:2] if now is None else (now,)
    forms = [form for form in FORMATS if ("%M" in form) == has_hours and form not in first]
    form = str(choose(chance, forms))
    texts = pa.array([None if each is None else each.strftime(form) for each in moments], pa.string())
    return ColumnChange(texts, {"to": form})


def _read(value: object, form: str | None) -> datetime.datetime | None:
    if isinstance(value, datetime.datetime):
        return value
    if isinstance(value, datetime.date):
        return datetime.datetime(value.year, value.month, value.day)
    return None if form is None else _parse(str(value), form)


def _change_dates(values: pa.Array, change: Callable[[datetime.datetime], datetime.datetime]) -> pa.Array:
    form = find_format(values) if is_text(values) else None
    moments = [None if value is None else _read(value, form) for value in values.to_pylist()]
    changed = [None if each is None else change(each) for each in moments]
    if form is not None:
        return pa.array([None if each is None else each.strftime(form) for each in changed], pa.string())
    return pa.array(changed, pa.timestamp("us")).cast(values.type, safe=False)


def swap_day_and_month(values: pa.Array, _: np.random.Generator) -> ColumnChange | None:
    """The 3rd of April becomes the 4th of March. Dates after the 12th stay."""
    swapped = _change_dates(
        values, lambda each: each.replace(day=each.month, month=each.day) if each.day <= 12 else each
    )
    return ColumnChange(swapped)


def shift_hours(values: pa.Array, chance: np.random.Generator) -> ColumnChange | None:
    hours = float(choose(chance, HOURS)) * (1 if chance.random() < 0.5 else -1)
    moved = pc.add(values, pa.scalar(datetime.timedelta(hours=hours)).cast(pa.duration(values.type.unit)))
    return ColumnChange(moved, {"seconds": 3600 * hours})


TIME_FAULTS = (
    ColumnFault("dates in another format", "date_format", is_any_date, rewrite, fits_segments=False),
    ColumnFault("text dates in another format", "date_format", is_text_date, rewrite),
    ColumnFault("day and month swapped", "day_month_swapped", is_any_date, swap_day_and_month),
    ColumnFault("times shifted", "time_shifted", is_moment, shift_hours),
)
