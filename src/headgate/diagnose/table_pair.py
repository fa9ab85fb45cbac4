"""A batch beside the runs before: its rows, its columns, and which of them changed."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from headgate.diagnose.column_pair import ColumnHistory, ColumnPair
from headgate.diagnose.column_profile import ColumnContents
from headgate.engine.segment_plan import SegmentColumn
from headgate.learn.past import Past
from headgate.learn.segment_history import find_segment_state, list_segments
from headgate.values.key import MetricKey
from headgate.values.outcome import Distribution, Measured, Outcome
from headgate.values.schema import Column, Schema
from headgate.values.state import State

_MOVED = 0.02  # of the differences of a column, beyond what is usual


@dataclass(frozen=True)
class TablePair:
    """A batch and the runs before it. `failed` are the metrics that failed, `copy_of` the run with the same rows."""

    past: Past
    schema: Schema
    states: Mapping[MetricKey, State]
    outcomes: Mapping[MetricKey, Outcome]
    failed: Collection[MetricKey] = ()
    copy_of: str = ""

    def read_number(self, key: MetricKey) -> float | None:
        """The value of a metric of the batch, if it is a number."""
        found = self.outcomes.get(key)
        if isinstance(found, Measured) and not isinstance(found.value, Distribution):
            return float(found.value)
        return None

    def find_segment_state(self, key: MetricKey, column: SegmentColumn, value: str | None) -> State | None:
        """The merged state of a segment in the runs before, where it is kept."""
        if column.kind != "value":
            return None
        return find_segment_state(self.past.segments, key, column.column, value, self.past.secret)

    @cached_property
    def _segments(self) -> list[tuple[Mapping[MetricKey, State], Mapping[MetricKey, State]]]:
        """The states of each segment whose history is kept, in the batch and in all runs before."""
        before = list_segments(self.past.segments)
        return [(now, before[where]) for where, now in list_segments(self.states).items() if where in before]

    def list_segment_pairs(self, label: str) -> list[ColumnPair]:
        """A column in the rows of each segment whose history is kept, beside the same rows of all runs before."""
        old, new = self.old_columns[label], self.new_columns[label]
        return [
            ColumnPair(ColumnContents.of(old, before), ColumnContents.of(new, now), secret=self.past.secret)
            for now, before in self._segments
        ]

    @cached_property
    def rows(self) -> float:
        return self.read_number(MetricKey("size")) or 0.0

    @cached_property
    def usual_rows(self) -> float:
        """About how many rows a batch has: what the newest run has, or the middle of all runs if they vary."""
        key = MetricKey("size")
        series = self.past.series(key) if any(each.key == key for each in self.past.metrics) else np.empty(0)
        series = series[np.isfinite(series)]
        if not len(series):
            return 0.0
        middle, newest = float(np.median(series)), float(series[-1])
        steps = np.abs(np.diff(series))
        # a table that grows is compared with its newest run, one whose rows vary with the middle
        return newest if len(steps) and abs(newest - middle) > 3 * float(np.median(steps)) else middle

    @cached_property
    def old_columns(self) -> dict[str, Column]:
        return {column.label: column for column in self.past.schema.columns}

    @cached_property
    def new_columns(self) -> dict[str, Column]:
        return {column.label: column for column in self.schema.columns}

    @cached_property
    def gone(self) -> tuple[str, ...]:
        return tuple(label for label in self.old_columns if label not in self.new_columns)

    @cached_property
    def added(self) -> tuple[str, ...]:
        return tuple(label for label in self.new_columns if label not in self.old_columns)

    @cached_property
    def pairs(self) -> dict[str, ColumnPair]:
        """Every column that the batch and the newest run have."""
        return {label: self.pair(label) for label in self.new_columns if label in self.old_columns}

    def pair(self, label: str, old: str | None = None) -> ColumnPair:
        """A column beside the same one of the newest run, or beside another."""
        now = self.profile(label)
        if old in self._made:
            return self._made[old].hold(now)
        made = self._made[old or label] = ColumnPair.of(now, self.old_columns[old or label], self._history)
        return made

    @cached_property
    def _made(self) -> dict[str | None, ColumnPair]:
        return {}

    @cached_property
    def _history(self) -> ColumnHistory:
        return ColumnHistory(self.past)

    def profile(self, label: str) -> ColumnContents:
        """A column of the batch."""
        if label not in self._profiles:
            self._profiles[label] = ColumnContents.of(self.new_columns[label], self.states)
        return self._profiles[label]

    @cached_property
    def _profiles(self) -> dict[str, ColumnContents]:
        return {}

    @cached_property
    def moved(self) -> tuple[str, ...]:
        """The columns that are unlike those of the newest run, the most unlike first."""
        found = {label: pair.total for label, pair in self.pairs.items() if pair.total > _MOVED}
        return tuple(sorted(found, key=lambda label: -found[label]))

    @cached_property
    def failed_columns(self) -> tuple[str, ...]:
        """The columns with a metric that failed, as they stand in the schema; those that are gone come last."""
        failed = {key.columns[0] for key in self.failed if key.columns}
        known = [label for label in dict.fromkeys((*self.new_columns, *self.old_columns)) if label in failed]
        return (*known, *sorted(failed - set(known)))

    @cached_property
    def moved_or_failed(self) -> frozenset[str]:
        return frozenset((*self.moved, *self.failed_columns))
