"""Propose expectations about the schema: which columns exist, how many, and what types they have."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from headgate.learn.column_kinds import MIN_TYPE_VALUES, collect_kinds, count_key, recall_kinds
from headgate.learn.past import Past
from headgate.metrics.column_count import ColumnCount
from headgate.metrics.column_type import ColumnType
from headgate.metrics.has_column import HasColumn
from headgate.values.expectation import Expectation, Source
from headgate.values.key import MetricKey
from headgate.values.predicate import Between, OneOf
from headgate.values.proposal import Proposal
from headgate.values.schema import NUMERIC, Kind

RECENT_RUNS = 7
"""A column is expected if all of this many newest runs have it, so a column added a week ago counts."""
MIN_TYPE_RUNS = 3
"""Fewest runs from which a type is expected: a column of whole numbers may get its first fraction in a later run."""
_IS_TRUE = OneOf((1.0,))


def propose_schema(past: Past) -> Iterator[Proposal]:
    """Expect the columns that all recent runs have, at most as many columns as they had, and types that never changed.

    These proposals cost nothing: a batch with another schema is not a good batch until a person accepts it. A column
    without values has no type. Where a number is expected a whole number passes, but not the other way round. A type
    that the column had in any accepted run, however long ago, counts.
    """
    recent = past.schemas[-RECENT_RUNS:]
    max_columns = max(len(schema.top_labels) for schema in recent)
    yield Proposal(_make_expectation(ColumnCount(), Between(high=max_columns)), note=f"the most in {len(recent)} runs")
    for label in past.schema.labels:
        if all(label in schema.labels for schema in recent):
            yield Proposal(_make_expectation(HasColumn(label), _IS_TRUE), note=f"in the last {len(recent)} runs")
    if len(past) < MIN_TYPE_RUNS:
        return
    note = f"in all {len(past)} runs"
    for label, kinds in _collect_kinds(past).items():
        share = past.text_shares.get(label, 1.0) if kinds == {Kind.STRING} else 1.0
        if share * _fewest_present(past, label) < MIN_TYPE_VALUES:
            continue
        if len(kinds) == 1:
            yield Proposal(_make_expectation(ColumnType(label, type=_type_name(*kinds)), _IS_TRUE), note=note)
        elif kinds and kinds <= NUMERIC - {Kind.BOOLEAN}:
            yield Proposal(_make_expectation(ColumnType(label, type="number"), _IS_TRUE), note=note)


def _fewest_present(past: Past, label: str) -> float:
    """The smallest number of values that the column had in a recent run; `MIN_TYPE_VALUES` if it is not known."""
    index_of_key = {traits.key: index for index, traits in enumerate(past.metrics)}
    size = index_of_key.get(count_key(label), index_of_key.get(MetricKey("size")))
    completeness = index_of_key.get(MetricKey("completeness", (label,)))
    if size is None or completeness is None:
        return float(MIN_TYPE_VALUES)
    counts = np.rint(past.values[-RECENT_RUNS:, size] * past.values[-RECENT_RUNS:, completeness])
    known_counts = counts[np.isfinite(counts)]
    return float(known_counts.min()) if len(known_counts) else float(MIN_TYPE_VALUES)


def _collect_kinds(past: Past) -> dict[str, set[Kind]]:
    """For each column of the newest run, the kinds that it had in the runs where it had values."""
    keys = {each.key: index for index, each in enumerate(past.metrics)}
    rows = [{key: float(run[index]) for key, index in keys.items() if np.isfinite(run[index])} for run in past.values]
    kinds = collect_kinds(past.schemas, rows)
    return {label: kinds[label] | recall_kinds(past.memory, label) for label in past.schema.labels}


def _type_name(kind: Kind) -> str:
    return "number" if kind in (Kind.FLOAT, Kind.DECIMAL) else kind.value


def _make_expectation(metric: HasColumn | ColumnCount | ColumnType, predicate: OneOf | Between) -> Expectation:
    return Expectation(metric.key, predicate, Source.HISTORY, false_alarm=0.0)
