"""Read the last accepted runs of a table as a series of numbers for each metric."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from headgate.engine.analysis import Analysis
from headgate.learn.calendar import Calendar
from headgate.learn.column_kinds import find_text_shares, remember_kinds
from headgate.learn.dated_columns import DatedColumn, DatedColumns
from headgate.learn.metric_traits import OUTSIDE_PERIOD, MetricTraits, is_distance, is_known, traits_of
from headgate.learn.outside_period import Window, find_windows, measure_outside
from headgate.learn.scope import LearningScope
from headgate.learn.segment_history import merge_segment_states
from headgate.metrics.checksum import Checksum, RowChecksum
from headgate.metrics.distances.distance import NONE_BEFORE, NONE_NOW
from headgate.metrics.distances.registry import distances, distances_for
from headgate.store.port import HistoryStore
from headgate.values.account import ColumnMemory
from headgate.values.errors import MisuseError
from headgate.values.key import MetricKey
from headgate.values.outcome import Distribution, Measured, Outcome, Undefined
from headgate.values.period import Period, parse_period
from headgate.values.run import TRUSTED, Run
from headgate.values.schema import Schema
from headgate.values.state import State

Floats = npt.NDArray[np.float64]
DEFAULT_RUNS = 30
_ANCHORS = {"min": "start", "max": "end"}  # what of a batch's period a metric of timestamps goes with
_DIGITS = 12  # significant ones of a value that is not an integer
_ATTEMPT_PREFIX = 12  # characters of an attempt's id that are stored to recognise it
MIN_REFERENCE_RUNS = 5
"""Runs below which no distance from all earlier runs is measured: nearly every value would be new."""
DEFAULT_DISTANCES = ("ks_dist", "cohen_d", "value_l1", "pattern_l1", "new_values", "new_patterns", "unchanged")
"""The distances that are measured by default; the others move much like these (docs/methods/history.md)."""


@dataclass(frozen=True, slots=True)
class Past:
    """The runs of a table, oldest first, and their values.

    `values` has a row for each run and a column for each metric of `metrics`; NaN where a run has no value. A distance
    is measured from the run before, or from all runs before if its `of_all` is set. `schemas` has the schema of each
    run. `states` are the states of the newest run. `merged` are the states of all runs, merged, for the distances from
    all runs. `secret` is the key with which a store hides values; a new batch is hidden with it before it is compared.

    `calendar` says when the runs were, and when the next batch is. A timestamp that moves along with the runs, such as
    the newest time of an order, is shifted to the period of the next batch, so that it can be compared with its own.
    `shifted` are the metrics of which that is done. `checksums` are those of the rows of each run.

    `dated` are the columns that have one value in each batch, which says something about its date. The metrics that
    tell the value are left out, but for `min` and `max` where the value is not known from the date. `memory` is what
    later runs have to know of columns. `listed_days` are the values of earlier days of the list that the next batch is
    on, such as holidays; None if it is on an ordinary day. `windows` are the times around the period of a batch in
    which nearly all timestamps of a column lie. `text_shares` are, for each column of texts, the lowest share in a run
    of texts that do not read as numbers or timestamps. `segments` are the merged states of segments that are kept.
    """

    partitions: tuple[str, ...]
    metrics: tuple[MetricTraits, ...]
    values: Floats
    schemas: tuple[Schema, ...]
    states: Mapping[MetricKey, State]
    secret: bytes | None = None
    merged: Mapping[MetricKey, State] = field(default_factory=dict)
    calendar: Calendar | None = None
    shifted: frozenset[MetricKey] = frozenset()
    checksums: tuple[RowChecksum | None, ...] = ()
    dated: Mapping[str, DatedColumn] = field(default_factory=dict)
    memory: Mapping[str, ColumnMemory] = field(default_factory=dict)
    listed_days: Floats | None = None
    windows: Mapping[str, Window] = field(default_factory=dict)
    text_shares: Mapping[str, float] = field(default_factory=dict)
    segments: Mapping[MetricKey, State] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        analyses: Sequence[Analysis],
        partitions: Sequence[str] | None = None,
        distances: Sequence[str] = DEFAULT_DISTANCES,
        trusted: Sequence[bool] | None = None,
        following: str | None = None,
    ) -> Past:
        """A past of analyses.

        Args:
            analyses: The analyses of accepted batches, oldest first.
            partitions: The name of each run. Default: its number.
            distances: The names of the distances to measure between runs.
            trusted: For each run, whether later runs are compared with it. Default: all are.
            following: The name of the next batch. Default: the one that the names of the runs let expect.

        >>> import pyarrow as pa, headgate as hg
        >>> past = Past.of([hg.analyze(pa.table({"price": [1.0, 2.0 + run]})) for run in range(3)])
        >>> past.series("max(price)")
        array([2., 3., 4.])
        """
        if not analyses:
            raise MisuseError("there is no past run.", hint="Give the analyses of accepted batches, oldest first.")
        rows = [numeric_values(each.outcomes) for each in analyses]
        states = [each.states for each in analyses]
        for index, analysis in enumerate(analyses[1:], 1):
            earlier = [before for before in range(index) if trusted is None or trusted[before]][-DEFAULT_RUNS:]
            if earlier:
                earlier_states = [states[before] for before in earlier]
                outcomes = measure_distances(analysis.schema, states[index], earlier_states, distances)
                rows[index] |= numeric_values(outcomes)
        names = tuple(partitions or map(str, range(len(analyses))))
        schemas = tuple(each.schema for each in analyses)
        return cls._from_rows(names, rows, schemas, states, calendar=Calendar.of(names, following))

    @classmethod
    def read(
        cls,
        store: HistoryStore,
        dataset: str,
        *,
        runs: int = DEFAULT_RUNS,
        before: str | None = None,
        as_of: int | None = None,
        distances: Sequence[str] = DEFAULT_DISTANCES,
    ) -> Past:
        """The last published or accepted runs of a dataset.

        Runs that are held, rejected or not decided are left out. Of each partition, the newest trusted revision counts.

        Args:
            store: The history to read.
            dataset: The name of the dataset.
            runs: How many runs to read. Default 30.
            before: Read only runs of partitions before this one.
            as_of: Read the history as it was after the commit with this number.
            distances: The names of the distances to measure again where the recorded ones are from other runs.
        """
        revisions = store.last(dataset, runs, before=before, as_of=as_of, only=TRUSTED)
        if not revisions:
            raise MisuseError(f"{dataset} has no accepted run.", hint='Record one with store.decide(..., "accepted").')
        found = [store.run(each) for each in revisions]
        return cls.of_runs(found, distances=distances, secret=store.secret, following=before)

    @classmethod
    def of_runs(
        cls,
        runs: Sequence[Run],
        *,
        distances: Sequence[str] = DEFAULT_DISTANCES,
        secret: bytes | None = None,
        following: str | None = None,
        period: Period | None = None,
    ) -> Past:
        """A past of runs that were read from a store, oldest first, for the batch of the partition that follows.

        The recorded distances of a run are used if they were measured from these very runs. They are measured again if
        a run before it was since rejected, replaced or added.

        Args:
            runs: The runs.
            distances: The names of the distances to measure again.
            secret: The key with which the store hides values.
            following: The partition of the next batch. Default: the one that the names of the runs let expect.
            period: The period of the next batch, if its name does not tell it.
        """
        rows = [numeric_values(each.outcomes) for each in runs]
        states = [each.states for each in runs]
        for index, run in enumerate(runs):
            if index and not _was_compared_with(run, runs[:index]):
                rows[index] = {key: value for key, value in rows[index].items() if not is_distance(key)}
                earlier = states[max(0, index - DEFAULT_RUNS) : index]
                rows[index] |= numeric_values(measure_distances(run.schema, states[index], earlier, distances))
        names = tuple(each.partition for each in runs)
        schemas = tuple(each.schema for each in runs)
        memories = [{} if each.account is None else each.account.memory for each in runs]
        return cls._from_rows(names, rows, schemas, states, secret, calendar_of(runs, following, period), memories)

    @classmethod
    def _from_rows(
        cls,
        partitions: tuple[str, ...],
        rows: Sequence[Mapping[MetricKey, float]],
        schemas: tuple[Schema, ...],
        states: Sequence[Mapping[MetricKey, State]],
        secret: bytes | None = None,
        calendar: Calendar | None = None,
        memories: Sequence[Mapping[str, ColumnMemory]] = (),
    ) -> Past:
        calendar = calendar or Calendar.of(partitions)
        dated = DatedColumns.of(rows, schemas[-1], states, calendar, memories)
        windows = find_windows(schemas[-1], states, calendar, dated.columns)
        rows = [
            {key: value for key, value in row.items() if key.name != OUTSIDE_PERIOD}
            | numeric_values(measure_outside(windows, run, period))
            for row, run, period in zip(rows, states, calendar.periods, strict=False)
        ]
        kinds = {column.label: column.kind for schema in schemas for column in schema.columns}
        keys = dict.fromkeys(key for row in reversed(rows) for key in row)
        traits = (traits_of(key, kinds.get(key.columns[0]) if key.columns else None) for key in keys)
        metrics = tuple(each for each in traits if dated.is_series(each))
        values = np.array([[row.get(each.key, np.nan) for each in metrics] for row in rows], np.float64)
        table = values.reshape(len(rows), len(metrics))
        shifted = _shift_timestamps(table, metrics, calendar)
        merged = merge_states(schemas[-1], states)
        checksums = tuple(map(_find_checksum, states))
        newest = dict(states[-1])
        return cls(
            *(partitions, metrics, table, schemas, newest, secret, merged, calendar, shifted, checksums),
            dated=dated.columns,
            windows=windows,
            text_shares=find_text_shares(states),
            segments=merge_segment_states(states),
            memory=remember_kinds(dated.memory, schemas, rows, memories),
        )

    @property
    def schema(self) -> Schema:
        """The schema of the newest run."""
        return self.schemas[-1]

    @property
    def free_ranges(self) -> dict[int, tuple[float, float]]:
        """The metrics, by their index, whose next value is expected anywhere between two ends."""
        columns = ((index, self.dated.get(each.column)) for index, each in enumerate(self.metrics) if each.is_plain)
        return {
            index: (column.low, column.high)
            for index, column in columns
            if column is not None and column.low is not None and column.high is not None
            if self.metrics[index].tells_values
        }

    def __len__(self) -> int:
        return len(self.partitions)

    def choose_columns(self, scope: LearningScope) -> Past:
        """The same runs as the learners see them: without the metrics of columns that nothing is learned of."""
        if scope.has_all_columns:
            return self
        indices = [at for at, each in enumerate(self.metrics) if all(map(scope.learns_column, each.key.columns))]
        return replace(
            self,
            metrics=tuple(self.metrics[at] for at in indices),
            values=self.values[:, indices],
            schemas=tuple(map(scope.choose_columns, self.schemas)),
            listed_days=None if self.listed_days is None else self.listed_days[:, indices],
        )

    def series(self, metric: MetricKey | str) -> Floats:
        """The values of one metric, oldest first."""
        key = MetricKey.parse(metric) if isinstance(metric, str) else metric
        indices = [index for index, each in enumerate(self.metrics) if each.key == key]
        if not indices:
            raise KeyError(f"{key} was never measured in these runs")
        return self.values[:, indices[0]]

    def outcomes(self, batch: Analysis) -> dict[MetricKey, Outcome]:
        """The outcomes by which a new batch is judged: its own, and its distances from these runs."""
        return {**batch.outcomes, **self.distances(batch.schema, batch.states)}

    def distances(self, schema: Schema, states: Mapping[MetricKey, State]) -> dict[MetricKey, Outcome]:
        """The distances of a batch from these runs, and the share of its timestamps outside of its period."""
        names = sorted({each.key.name for each in self.metrics if each.is_distance} | set(DEFAULT_DISTANCES))
        merged = self.merged if len(self) >= MIN_REFERENCE_RUNS else {}
        outside = {} if self.calendar is None else measure_outside(self.windows, states, self.calendar.periods[-1])
        return _measure_distances(schema, states, self.states, merged, names, self.secret) | outside


def calendar_of(runs: Sequence[Run], following: str | None = None, period: Period | None = None) -> Calendar:
    """The calendar of runs and of the partition that follows, by the times that were stated or by their names."""
    stated = {each.partition: parse_period(each.account.time) for each in runs if each.account is not None}
    times = {name: time for name, time in stated.items() if time is not None}
    if period is not None and following is not None:
        times[following] = period
    return Calendar.of([each.partition for each in runs], following, times)


def _find_checksum(states: Mapping[MetricKey, State]) -> RowChecksum | None:
    found = states.get(Checksum().state_key)
    return found if isinstance(found, RowChecksum) else None


def _shift_timestamps(values: Floats, metrics: Sequence[MetricTraits], calendar: Calendar) -> frozenset[MetricKey]:
    """Shift the timestamps that move along with the runs to the period of the next batch, in place, and name them.

    A timestamp moves along if it varies less in this way than it does as it is.
    """
    shifted_metrics = set()
    for index, traits in enumerate(metrics):
        if traits.is_timestamp and calendar.cadence.by_time:
            shifted = values[:, index] + calendar.shifts(_ANCHORS.get(traits.key.name, "middle"))
            if _spread_of(shifted) < _spread_of(values[:, index]):
                values[:, index] = shifted
                shifted_metrics.add(traits.key)
    return frozenset(shifted_metrics)


def _spread_of(values: Floats) -> float:
    known = values[np.isfinite(values)]
    return float(known.std()) if len(known) else 0.0


def attempt_prefixes(runs: Sequence[Run]) -> tuple[str, ...]:
    """The ids, shortened, of the runs that a batch is compared with. They are stored with the batch."""
    return tuple(each.attempt[:_ATTEMPT_PREFIX] for each in runs[-DEFAULT_RUNS:])


def _was_compared_with(run: Run, before: Sequence[Run]) -> bool:
    """Whether the recorded distances of a run are from the runs `before`, which may be fewer than at that time."""
    recorded, expected = () if run.account is None else run.account.reference_attempts, attempt_prefixes(before)
    return len(recorded) >= len(expected) and recorded[-len(expected) :] == expected


@cache
def distances_from_all() -> tuple[str, ...]:
    """The default distances that are measured from all earlier runs."""
    return tuple(name for name in DEFAULT_DISTANCES if distances()[name].of_all)


def merge_states(schema: Schema, runs: Sequence[Mapping[MetricKey, State]]) -> dict[MetricKey, State]:
    """The merged states of runs, oldest first, for the distances that are measured from all of them."""
    merged: dict[MetricKey, State] = {}
    for column in schema.columns:
        for distance_class in distances_for(column.kind):
            key = distance_class(column.label).state_key
            states = [run[key] for run in runs if key in run] if distance_class.of_all else []
            if states:
                merged[key] = type(states[0]).merge_all(states)
    return merged


def measure_distances(
    schema: Schema, now: Mapping[MetricKey, State], before: Sequence[Mapping[MetricKey, State]], names: Sequence[str]
) -> dict[MetricKey, Outcome]:
    """The distances between the states of a batch and those of earlier ones (oldest first), for each column."""
    merged = (
        merge_states(schema, before)
        if len(before) >= MIN_REFERENCE_RUNS and set(names) & set(distances_from_all())
        else {}
    )
    return _measure_distances(schema, now, before[-1], merged, names)


def _measure_distances(
    schema: Schema,
    now: Mapping[MetricKey, State],
    before: Mapping[MetricKey, State],
    merged: Mapping[MetricKey, State],
    names: Sequence[str],
    secret: bytes | None = None,
) -> dict[MetricKey, Outcome]:
    unknown = set(names) - set(distances())
    if unknown:
        raise MisuseError(f"no distance is named {sorted(unknown)[0]!r}.", hint=f"There are {', '.join(distances())}.")
    hidden_states: dict[MetricKey, State] = {}
    outcomes: dict[MetricKey, Outcome] = {}
    for column in schema.columns:
        for distance_class in distances_for(column.kind):
            distance: Any = distance_class(column.label)
            key = distance.state_key
            state_now, state_before = now.get(key), (merged if distance_class.of_all else before).get(key)
            if distance_class.name not in names:
                continue
            if state_now is None and state_before is not None and not now:
                outcomes[distance.key] = Undefined(NONE_NOW)  # a batch without rows has no states at all
            elif state_now is not None and state_before is None and not before:
                outcomes[distance.key] = Undefined(NONE_BEFORE)
            elif state_now is not None and state_before is not None:
                if key not in hidden_states:
                    hidden_states[key] = state_now if secret is None else state_now.hide_values(secret)
                outcomes[distance.key] = distance.between(hidden_states[key], state_before)
    return outcomes


def numeric_values(outcomes: Mapping[MetricKey, Outcome]) -> dict[MetricKey, float]:
    """The outcomes that are numbers, of registered metrics: a store may hold some of a plug-in not installed here."""
    return {
        key: _round_off(float(outcome.value))
        for key, outcome in outcomes.items()
        if isinstance(outcome, Measured) and not isinstance(outcome.value, Distribution) and is_known(key)
    }


def _round_off(value: float) -> float:
    """The value without the digits that depend on the order in which parts of the batch were added up."""
    return value if value.is_integer() or not math.isfinite(value) else float(f"{value:.{_DIGITS}g}")


def latest_values(values: Floats) -> Floats:
    """The last value of each series (column) that is not missing; NaN if all are."""
    present = np.isfinite(values)
    last_row = len(values) - 1 - np.argmax(present[::-1], axis=0)
    return np.where(present.any(axis=0), values[last_row, np.arange(values.shape[1])], np.nan)
