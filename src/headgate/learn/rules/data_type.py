"""Texts that look like numbers, dates, timestamps or truth values."""

from __future__ import annotations

from collections.abc import Iterator

from headgate.learn.rules.column import ColumnProfile, format_percent, likely_type
from headgate.learn.rules.rule import LEAST, MANY, Suggestion, floor_of, suggestion, suggests

MOST = 0.9  # of the values must look so


@suggests()
def data_type(column: ColumnProfile, table: str) -> Iterator[Suggestion]:
    """`has_data_type` of all values, if all of many look like one type; of a share of them, if nine tenths do."""
    if not column.looks or column.present < LEAST:
        return
    name, count = likely_type(column.looks)
    if name == "string":
        return
    if count == column.present >= MANY:
        yield suggestion(f"all {count:,} values look {name}", "has_data_type", column.label, name)
    elif (least := floor_of(count, column.present)) >= MOST:
        why = f"{count:,} of {column.present:,} values look {name} ({format_percent(count, column.present)})"
        yield suggestion(why, "has_data_type", column.label, name, share=least)
