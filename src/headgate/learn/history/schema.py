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

RECENT_RUNS = 7
"""Runs in which columns must have been there: a column that came last week is missed when it goes."""
MIN_TYPE_RUNS = 3
"""Runs in which a type must have been the same: of the first batches, whole numbers may come to have fractions."""
MIN_TYPE_VALUES = 10
"""Values of a batch that must show a column's type for it to be expected: of few, chance may show another."""
_NUMBER_PATTERN = re.compile(r"[-+]?9([.,]9)*|9[-/.]9[-/.]9([ T]9:9(:9(\.9)?)?)?Z?")
_IS_TRUE = OneOf((1.0,))


def propose_schema(past: Past) -> Iterator[Proposal]:
    """Columns that each of the last runs had, the most that any of these had, and types that never changed.

    They cost nothing: a batch of another shape is not a good batch until a person accepts it. Columns without a value
    have no type; whole numbers pass for numbers, not the other way round.
    """
    recent = past.schemas[-RECENT_RUNS:]
    max_columns = max(len(schema.columns) for schema in recent)
    yield Proposal(_make_expectation(ColumnCount(), Between(high=max_columns)), note=f"the most in {len(recent)} runs")
    for label in past.schema.labels:
        if all(label in schema.labels for schema in recent):
            yield Proposal(_make_expectation(HasColumn(label), _IS_TRUE), note=f"in the last {len(recent)} runs")
    if len(past) < MIN_TYPE_RUNS:
        return
    note = f"in all {len(past)} runs"
    for label, kinds in _collect_kinds(past).items():
        if _count_typed_values(past, label, kinds) < MIN_TYPE_VALUES:
            continue
        if len(kinds) == 1:
            yield Proposal(_make_expectation(ColumnType(label, type=_type_name(*kinds)), _IS_TRUE), note=note)
        elif kinds <= NUMERIC - {Kind.BOOLEAN}:
            yield Proposal(_make_expectation(ColumnType(label, type="number"), _IS_TRUE), note=note)


def _count_typed_values(past: Past, label: str, kinds: set[Kind]) -> float:
    """How many values of a batch show the column's type: a text column in which all happen to be numbers reads as one.

    So of text, those that cannot be read as a number or a moment, by the patterns of all runs.
    """
    present = _fewest_present(past, label)
    patterns = past.merged.get(MetricKey("frequent_patterns", (label,)))
    if kinds != {Kind.STRING} or not isinstance(patterns, Frequencies) or not patterns.total:
        return present
    as_numbers = sum(count for pattern, count in patterns.labels().items() if _NUMBER_PATTERN.fullmatch(pattern))
    return present * (1 - as_numbers / patterns.total)


def _fewest_present(past: Past, label: str) -> float:
    """Values of the column in the run of the last that had the fewest."""
    index_of_key = {each.key: at for at, each in enumerate(past.metrics)}
    rows, filled = (index_of_key.get(key) for key in (MetricKey("size"), MetricKey("completeness", (label,))))
    if rows is None or filled is None:
        return float(MIN_TYPE_VALUES)
    counts = past.values[-RECENT_RUNS:, rows] * past.values[-RECENT_RUNS:, filled]
    known_counts = counts[np.isfinite(counts)]
    return float(known_counts.min()) if len(known_counts) else float(MIN_TYPE_VALUES)


def _collect_kinds(past: Past) -> dict[str, set[Kind]]:
    """The kinds of each column of the newest run in all runs where it held a value."""
    kinds_by_column: dict[str, set[Kind]] = {label: set() for label in past.schema.labels}
    for schema in past.schemas:
        for column in schema.columns:
            if column.label in kinds_by_column and not column.empty:
                kinds_by_column[column.label].add(column.kind)
    return kinds_by_column


def _type_name(kind: Kind) -> str:
    return "number" if kind in (Kind.FLOAT, Kind.DECIMAL) else kind.value


def _make_expectation(metric: HasColumn | ColumnCount | ColumnType, predicate: OneOf | Between) -> Expectation:
    return Expectation(metric.key, predicate, Source.HISTORY, false_alarm=0.0)
