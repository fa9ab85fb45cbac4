"""A column of a batch as numbers: its metrics, the number of rows, and its distances from the run before."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

import headgate as hg
from benchmarks.values_mode import hide_states
from headgate.metrics.distances.registry import distances_for
from headgate.values.key import MetricKey
from headgate.values.outcome import Measured, Outcome
from headgate.values.schema import Kind
from headgate.values.state import State

Floats = npt.NDArray[np.float64]
States = Mapping[MetricKey, State]

NUMERIC, CATEGORICAL = "numeric", "categorical"
SIZE = "size"
_GROUPS = {Kind.INTEGER: NUMERIC, Kind.FLOAT: NUMERIC, Kind.DECIMAL: NUMERIC, Kind.STRING: CATEGORICAL}


def group_of(kind: Kind) -> str:
    """The group that figures are given for: numeric, categorical, or the kind itself.

    >>> group_of(Kind.INTEGER), group_of(Kind.STRING), group_of(Kind.TIMESTAMP)
    ('numeric', 'categorical', 'timestamp')
    """
    return _GROUPS.get(kind, kind.value)


def groups(analysis: hg.Analysis) -> dict[str, str]:
    """The group of every column."""
    return {column.label: group_of(column.kind) for column in analysis.schema.columns}


def metrics_by_column(analysis: hg.Analysis) -> dict[str, dict[str, float]]:
    """Every metric that is one number, by column and name; the number of rows is in all of them."""
    found: dict[str, dict[str, float]] = {column.label: {} for column in analysis.schema.columns}
    whole = {key.name: number_of(outcome) for key, outcome in analysis.outcomes.items() if not key.columns}
    for key, outcome in analysis.outcomes.items():
        if len(key.columns) == 1 and not _is_distribution(outcome):
            found[key.columns[0]][_name(key)] = number_of(outcome)
    return {column: {SIZE: whole[SIZE], **measured} for column, measured in found.items()}


def metrics_of(analysis: hg.Analysis, column: str) -> dict[str, float]:
    """The same of one column; no other is measured."""
    asked = tuple(each for each in analysis.metrics if not each.key.columns or each.key.columns == (column,))
    alone = hg.Analysis(analysis.schema, asked, analysis.states, analysis.failed)
    return metrics_by_column(alone)[column]


def distances_of(column: str, now: hg.Analysis, before: hg.Analysis) -> dict[str, float]:
    """Every distance of a column from the run before."""
    kind = now.schema.columns[now.schema.positions()[column]].kind
    return distances_to(kind, column, now.states, before.states)


def distances_to(kind: Kind, column: str, now: States, before: States) -> dict[str, float]:
    """The same from states, by name; NaN where there is none. Labels are compared as a store keeps them."""
    found = {}
    every = [each(column) for each in distances_for(kind)]
    both = [
        hide_states({each.state_key: states[each.state_key] for each in every if each.state_key in states})
        for states in (now, before)
    ]
    for distance in every:
        one, other = (states.get(distance.state_key) for states in both)
        found[distance.name] = math.nan if one is None or other is None else number_of(distance.between(one, other))
    return found


def features(column: str, now: hg.Analysis, before: hg.Analysis) -> dict[str, float]:
    """All that methods see of a column of one batch, given the one before."""
    return metrics_of(now, column) | distances_of(column, now, before)


def vector(names: Sequence[str], found: Mapping[str, float]) -> Floats:
    """The numbers under these names, NaN where one is missing.

    >>> vector(["mean", "emd"], {"emd": 2.0, "size": 9.0})
    array([nan,  2.])
    """
    return np.array([found.get(name, math.nan) for name in names])


def number_of(outcome: Outcome) -> float:
    """The finite number that was measured, or NaN."""
    if isinstance(outcome, Measured) and isinstance(outcome.value, (int, float)) and math.isfinite(outcome.value):
        return float(outcome.value)
    return math.nan


def _is_distribution(outcome: Outcome) -> bool:
    return isinstance(outcome, Measured) and isinstance(outcome.value, hg.Distribution)


def _name(key: MetricKey) -> str:
    return str(MetricKey(key.name, (), key.parameters)).removesuffix("()")
