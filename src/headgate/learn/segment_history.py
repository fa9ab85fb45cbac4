"""States of segments that are kept with every run, so that a fault of one segment is told from how it always was.

Tested by `tests/gate/test_segment_history.py`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from headgate.engine.analysis import Analysis
from headgate.engine.part import Part
from headgate.engine.plan import KEYS
from headgate.metrics.base.hashing import hash_label
from headgate.metrics.base.metric import Metric
from headgate.metrics.base.sql import quote_name, quote_value
from headgate.metrics.completeness import Completeness
from headgate.metrics.median import Median
from headgate.values.key import MetricKey
from headgate.values.schema import ORDERED, Schema
from headgate.values.state import State

MOST_SEGMENTS = 200
"""Segments of a column whose states are kept: those with the most rows."""

_BEGIN, _EQUALS = "CAST(", " AS STRING) <=> "


def list_segment_metrics(schema: Schema, columns: Iterable[str]) -> list[tuple[tuple[str, ...], Metric[Any]]]:
    """What is measured by these columns: the nulls of all others, and the distributions of numbers and times.

    Columns that a batch does not have, or whose values Spark does not divide rows by, are left out.
    """
    kinds = {each.label: each.kind for each in schema.columns if not each.repeated}
    found: list[tuple[tuple[str, ...], Metric[Any]]] = []
    for by in columns:
        if kinds.get(by) in KEYS:
            others = {label: kind for label, kind in kinds.items() if label != by}
            found += [((by,), Completeness(label)) for label in others]
            found += [((by,), Median(label)) for label, kind in others.items() if kind in ORDERED]
    return found


def name_segment(column: str, value: str | None) -> str:
    """The rows of a segment as the `where` of a key.

    >>> name_segment("carrier", "EV")
    "CAST(`carrier` AS STRING) <=> 'EV'"
    """
    return f"{_BEGIN}{quote_name(column)}{_EQUALS}{'NULL' if value is None else quote_value(value)}"


def name_segment_states(column: str, segments: Mapping[Part, Analysis], secret: bytes | None) -> dict[MetricKey, State]:
    """The states of the largest segments by their keys; a store that hides values gets hashes of their names."""
    counted = {part: _count_rows(analysis) for part, analysis in segments.items()}
    largest = sorted(counted, key=lambda part: (-counted[part], str(part)))[:MOST_SEGMENTS]
    return {
        _add_segment(key, column, _hide_value(part[0], secret)): state
        for part in largest
        for key, state in segments[part].states.items()
        if key.where is None
    }


def merge_segment_states(runs: Sequence[Mapping[MetricKey, State]]) -> dict[MetricKey, State]:
    """The states of segments of runs, those of each segment merged."""
    found: dict[MetricKey, list[State]] = {}
    for run in runs:
        for key, state in run.items():
            if _is_of_segment(key):
                found.setdefault(key, []).append(state)
    return {key: type(states[0]).merge_all(states) for key, states in found.items()}


def _is_of_segment(key: MetricKey) -> bool:
    return key.where is not None and key.where.startswith(_BEGIN) and _EQUALS in key.where


def list_segments(states: Mapping[MetricKey, State]) -> dict[str, dict[MetricKey, State]]:
    """The states of each segment, by the `where` of their keys, under the keys that they have for the whole batch."""
    found: dict[str, dict[MetricKey, State]] = {}
    for key, state in states.items():
        if _is_of_segment(key):
            found.setdefault(str(key.where), {})[MetricKey(key.name, key.columns, key.parameters)] = state
    return found


def find_segment_state(
    kept: Mapping[MetricKey, State], key: MetricKey, column: str, value: str | None, secret: bytes | None
) -> State | None:
    """The state of a segment among those that are kept; None if it is none of them."""
    return kept.get(_add_segment(key, column, _hide_value(value, secret))) if kept else None


def _add_segment(key: MetricKey, column: str, name: str | None) -> MetricKey:
    return MetricKey(key.name, key.columns, key.parameters, name_segment(column, name))


def _hide_value(value: str | None, secret: bytes | None) -> str | None:
    return value if value is None or secret is None else hash_label(value, secret)


def _count_rows(analysis: Analysis) -> int:
    return max((int(getattr(state, "seen", 0)) for state in analysis.states.values()), default=0)
