"""The rules as section 3.3 of the paper gives them, to compare with: no Wilson bound, no care for values seen once."""

from __future__ import annotations

import math
from collections.abc import Iterator

from headgate.learn.rules.categorical import MAX_VALUES
from headgate.learn.rules.column import ColumnProfile, is_numeric, likely_type
from headgate.learn.rules.key_names import unique_probability
from headgate.learn.rules.rule import Suggestion, suggestion
from headgate.values.schema import Kind

SKETCH = 0.032  # two standard errors of the sketch of distinct values


def paper_suggestions(column: ColumnProfile, table: str) -> Iterator[Suggestion]:
    name, rows, present = column.label, column.rows, column.present
    if rows and present == rows:
        yield suggestion("complete", "is_complete", name)
    elif present:
        share = present / rows
        low = share - 1.96 * math.sqrt(share * (1 - share) / rows)
        yield suggestion("a normal interval of 95%", "has_completeness", name, at_least=math.floor(low * 100) / 100)
    if not present:
        return
    looks, count = likely_type(column.looks) if column.looks else ("string", 0)
    if looks != "string" and count == present:
        yield suggestion("type", "has_data_type", name, looks)
    if column.distinct >= (1 - SKETCH) * rows and unique_probability(name, _kind(looks, column.kind), table) > 0.5:
        yield suggestion("unique", "is_unique", name)
    yield from _of_values(column, looks in ("integral", "fractional") and count == present)


def _of_values(column: ColumnProfile, numbers: bool) -> Iterator[Suggestion]:
    if column.numbers is not None and column.numbers.low >= 0 and (numbers or is_numeric(column.kind)):
        if numbers:
            yield suggestion("non-negative", "has_text_min", column.label, at_least=0)
        else:
            yield suggestion("non-negative", "is_non_negative", column.label)
    found = column.values
    if found is not None and not found.error and len(found.counts) <= min(MAX_VALUES, 0.1 * found.total):
        if column.kind is Kind.STRING:
            yield suggestion("categorical", "is_contained_in", column.label, sorted(found.counts))
        elif column.kind is Kind.INTEGER:
            yield suggestion("categorical", "is_contained_in", column.label, sorted(map(int, found.counts)))


def _kind(looks: str, kind: Kind) -> Kind:
    return {"integral": Kind.INTEGER, "fractional": Kind.FLOAT}.get(looks, kind)
