"""Recognise columns that have one value in each batch, such as the month, a holiday flag or the date of a snapshot.

Such a column says something about the date of the batch. Its next value follows from the date or is free, so the
metrics that tell its value are not learned as series.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from headgate.learn.calendar import Calendar
from headgate.learn.column_kinds import count_key
from headgate.learn.date_functions import find_functions, find_moments, tabulate
from headgate.learn.metric_traits import MetricTraits
from headgate.metrics.states.frequencies import Frequencies
from headgate.values.account import ColumnMemory
from headgate.values.key import MetricKey
from headgate.values.schema import NUMERIC, TEMPORAL, TEXT, Column, Kind, Schema
from headgate.values.state import State

Floats = npt.NDArray[np.float64]
Row = Mapping[MetricKey, float]

MIN_DATED_RUNS = 7
"""Runs in which a column must have one value, in at least `MIN_BATCH_VALUES` rows, so that this is not by chance."""
MIN_BATCH_VALUES = 10
MIN_CONFIRMED = 3
"""Different values by which a function of the date is known: a label may have changed at the turn of a month once."""
MIN_CONFIRMED_LARGE = 2
"""The same for values such as 2026 or 20261114, which a label has not by chance."""
MAX_VALUES = 24
"""Values of a column that are remembered, the newest ones: a column with more of them is no label."""
ENDS = ("min", "max")
"""The metrics by which the value of a column is expected."""
_LARGE = 1_000
_FLAG = frozenset({0.0, 1.0})
_FLAG_KINDS = frozenset({Kind.BOOLEAN, Kind.INTEGER})


@dataclass(frozen=True)
class DatedColumn:
    """A column with one value in each batch.

    `expected` are the values of which the next one must be, if a function of the date is known. Otherwise `low` and
    `high` are the ends of what is as normal as the newest value; None for a text. `function` names what was recognised.
    """

    label: str
    expected: tuple[float, ...] = ()
    low: float | None = None
    high: float | None = None
    function: str = ""


@dataclass(frozen=True)
class DatedColumns:
    """The columns that are recognised, by label, and what later runs have to know of columns with one value."""

    columns: Mapping[str, DatedColumn]
    memory: Mapping[str, ColumnMemory]

    @classmethod
    def of(
        cls,
        rows: Sequence[Row],
        schema: Schema,
        states: Sequence[Mapping[MetricKey, State]],
        calendar: Calendar,
        memories: Sequence[Mapping[str, ColumnMemory]] = (),
    ) -> DatedColumns:
        """The dated columns of runs, oldest first.

        Args:
            rows: The values of the metrics of each run.
            schema: The columns of the newest run.
            states: The states of each run.
            calendar: When the runs and the next batch are.
            memories: What was known of columns before each run, as recorded with it.
        """
        series = {column: _values_of(column, rows, states) for column in schema.columns}
        constant = {column: values for column, values in series.items() if values is not None}
        if not constant:
            return cls({}, {})
        recognizer = _Recognizer(calendar, memories)
        found = {column.label: recognizer.recognize(column, values) for column, values in constant.items()}
        return cls(
            {label: dated for label, (dated, _) in found.items() if dated is not None},
            {label: memory for label, (_, memory) in found.items() if _is_worth_keeping(memory)},
        )

    def is_series(self, traits: MetricTraits) -> bool:
        """Whether the values of a metric are learned as a series: not if they tell the value of a dated column."""
        column = self.columns.get(traits.column) if len(traits.key.columns) == 1 else None
        if column is None or not traits.tells_values:
            return True
        return column.low is not None and traits.key.name in ENDS


def _is_worth_keeping(memory: ColumnMemory) -> bool:
    """Not of a column that never changed, and not of one that always does."""
    return bool(memory.functions) or 1 < len(memory.values) < MAX_VALUES


class _Recognizer:
    """Recognises what columns with one value in each batch are."""

    def __init__(self, calendar: Calendar, memories: Sequence[Mapping[str, ColumnMemory]]) -> None:
        self.periods = [each for each in calendar.periods if each is not None]
        self.table = tabulate(self.periods) if self.periods else {}
        self.memories = memories

    def recognize(self, column: Column, values: Floats) -> tuple[DatedColumn | None, ColumnMemory]:
        known = values[np.isfinite(values)]
        memories = [each[column.label] for each in self.memories if column.label in each]
        remembered = dict.fromkeys(value for memory in memories for value in memory.values)
        seen = tuple(dict.fromkeys([*remembered, *known.tolist()]))[-MAX_VALUES:]
        if column.kind in TEMPORAL:
            moments = find_moments(values, self.periods) if self.periods else {}
            return _as_dated(column, moments) if len(set(known)) > 1 else None, ColumnMemory()
        if column.kind in TEXT:
            return DatedColumn(column.label) if len(seen) > 1 else None, ColumnMemory(seen)
        if not all(map(float.is_integer, seen)):
            return None, ColumnMemory()
        is_flag = column.kind in _FLAG_KINDS and _FLAG.issuperset(seen)
        fitting = find_functions(values, self.table)
        earlier = memories[-1].functions if memories else ()
        functions = {name: value for name, value in fitting.items() if name in earlier} or fitting
        memory = ColumnMemory(seen[-MIN_CONFIRMED:] if functions else seen, tuple(functions))
        varied = len(seen) if set(functions) & set(earlier) else len(set(known))
        if not is_flag and functions and varied >= _confirming(known):
            return _as_dated(column, functions), memory
        predicted = [*functions.values(), *(_FLAG if is_flag else ())]
        return _as_label(column, seen, predicted, known), memory


def _confirming(known: Floats) -> int:
    return MIN_CONFIRMED_LARGE if np.abs(known).min() >= _LARGE else MIN_CONFIRMED


def _as_dated(column: Column, functions: Mapping[str, float]) -> DatedColumn | None:
    """A column whose next value is that of a function; None if there is no such function."""
    expected = tuple(sorted(set(functions.values())))
    return DatedColumn(column.label, expected, function=next(iter(functions))) if functions else None


def _as_label(column: Column, seen: Sequence[float], predicted: Sequence[float], known: Floats) -> DatedColumn | None:
    """A column with few values that recur; None if it has many, or if it has one and is not expected to change."""
    allowed = {*seen, *predicted}
    if len(allowed) < 2 or len(set(known)) > max(1, len(known) // 2) or len(seen) == MAX_VALUES:
        return None
    return DatedColumn(column.label, low=min(allowed), high=max(allowed))


def _values_of(column: Column, rows: Sequence[Row], states: Sequence[Mapping[MetricKey, State]]) -> Floats | None:
    """The value of a column in each run, NaN where it has none; None if it has several in a run, or too few rows."""
    distinct, completeness = (MetricKey(name, (column.label,)) for name in ("approx_count_distinct", "completeness"))
    if any(row.get(distinct, 1.0) > 1 for row in rows):
        return None
    count = count_key(column.label)
    present = [row.get(count, row.get(MetricKey("size"), 0.0)) * row.get(completeness, 0.0) for row in rows]
    if sum(count >= MIN_BATCH_VALUES for count in present) < MIN_DATED_RUNS:
        return None
    if column.kind in TEXT:
        return np.array([_label_of(column, each) for each in states])
    if column.kind not in NUMERIC | TEMPORAL:
        return None
    low, high = (MetricKey(name, (column.label,)) for name in ("min", "max"))
    if any(row.get(low) != row.get(high) for row in rows):
        return None
    return np.array([row.get(low, math.nan) for row in rows])


def _label_of(column: Column, states: Mapping[MetricKey, State]) -> float:
    """A number that stands for the only text of a column; NaN if there is none. A store may have hidden the text."""
    frequencies = states.get(MetricKey("frequent_values", (column.label,)))
    labels = list(frequencies.labels()) if isinstance(frequencies, Frequencies) else []
    return float(zlib.crc32(labels[0].encode("utf-8", "surrogatepass"))) if len(labels) == 1 else math.nan
