"""What the columns of a table have in common over its runs: which there are, how many, and of what type."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np

from headgate.learn.past import Past
from headgate.metrics.column_count import ColumnCount
from headgate.metrics.column_type import ColumnType
from headgate.metrics.has_column import HasColumn
from headgate.metrics.states.frequencies import Frequencies
from headgate.values.expectation import Expectation, Source
from headgate.values.key import MetricKey
from headgate.values.predicate import Between, OneOf
from headgate.values.proposal import Proposal
from headgate.values.schema import NUMERIC, Kind

RECENT = 7
"""Runs in which columns must have been there: a column that came last week is missed when it goes."""
SETTLED = 3
"""Runs in which a type must have been the same: of the first batches, whole numbers may come to have fractions."""
ENOUGH = 10
"""Values of a batch that must show a column's type for it to be expected: of few, chance may show another."""
_AS_NUMBER = re.compile(r"[-+]?9([.,]9)*|9[-/.]9[-/.]9([ T]9:9(:9(\.9)?)?)?Z?")
_PRESENT = OneOf((1.0,))


def schema_proposals(past: Past) -> Iterator[Proposal]:
    """Columns that each of the last runs had, the most that any of these had, and types that never changed.

    They cost nothing: a batch of another shape is not a good batch until a person accepts it. Columns without a value
    have no type; whole numbers pass for numbers, not the other way round.
    """
    recent = past.schemas[-RECENT:]
    most = max(len(schema.columns) for schema in recent)
    yield Proposal(_law(ColumnCount(), Between(high=most)), note=f"the most in {len(recent)} runs")
    for label in past.schema.labels:
        if all(label in schema.labels for schema in recent):
            yield Proposal(_law(HasColumn(label), _PRESENT), note=f"in the last {len(recent)} runs")
    if len(past) < SETTLED:
        return
    runs = f"in all {len(past)} runs"
    for label, kinds in _kinds(past).items():
        if _telling(past, label, kinds) < ENOUGH:
            continue
        if len(kinds) == 1:
            yield Proposal(_law(ColumnType(label, type=_word(*kinds)), _PRESENT), note=runs)
        elif kinds <= NUMERIC - {Kind.BOOLEAN}:
            yield Proposal(_law(ColumnType(label, type="number"), _PRESENT), note=runs)


def _telling(past: Past, label: str, kinds: set[Kind]) -> float:
    """How many values of a batch show the column's type: a text column in which all happen to be numbers reads as one.

    So of text, those that cannot be read as a number or a moment, by the patterns of all runs.
    """
    present = _present(past, label)
    patterns = past.merged.get(MetricKey("frequent_patterns", (label,)))
    if kinds != {Kind.STRING} or not isinstance(patterns, Frequencies) or not patterns.total:
        return present
    plain = sum(count for pattern, count in patterns.labels().items() if _AS_NUMBER.fullmatch(pattern))
    return present * (1 - plain / patterns.total)


def _present(past: Past, label: str) -> float:
    """Values of the column in the run of the last that had the fewest."""
    places = {each.key: at for at, each in enumerate(past.measures)}
    rows, filled = (places.get(key) for key in (MetricKey("size"), MetricKey("completeness", (label,))))
    if rows is None or filled is None:
        return float(ENOUGH)
    found = past.values[-RECENT:, rows] * past.values[-RECENT:, filled]
    there = found[np.isfinite(found)]
    return float(there.min()) if len(there) else float(ENOUGH)


def _kinds(past: Past) -> dict[str, set[Kind]]:
    """The kinds of each column of the newest run in all runs where it held a value."""
    found: dict[str, set[Kind]] = {label: set() for label in past.schema.labels}
    for schema in past.schemas:
        for column in schema.columns:
            if column.label in found and not column.empty:
                found[column.label].add(column.kind)
    return found


def _word(kind: Kind) -> str:
    return "number" if kind in (Kind.FLOAT, Kind.DECIMAL) else kind.value


def _law(metric: HasColumn | ColumnCount | ColumnType, predicate: OneOf | Between) -> Expectation:
    return Expectation(metric.key, predicate, Source.HISTORY, false_alarm=0.0)
