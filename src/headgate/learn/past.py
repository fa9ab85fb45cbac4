"""The last accepted runs of a table as series of numbers, with the states of the newest of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from headgate.engine.analysis import Analysis
from headgate.learn.metric_traits import MetricTraits, is_distance, is_known, traits_of
from headgate.metrics.distances.distance import NONE_BEFORE, NONE_NOW
from headgate.metrics.distances.registry import distances, distances_for
from headgate.store.port import HistoryStore
from headgate.values.errors import MisuseError
from headgate.values.key import MetricKey
from headgate.values.outcome import Distribution, Measured, Outcome, Undefined
from headgate.values.run import TRUSTED, Run
from headgate.values.schema import Schema
from headgate.values.state import State

Floats = npt.NDArray[np.float64]
DEFAULT_RUNS = 30
_ATTEMPT_PREFIX = 12  # characters of an attempt that tell it from others
MIN_REFERENCE_RUNS = 5
"""Runs below which nothing is called new: nearly everything would be."""
DEFAULT_DISTANCES = ("ks_dist", "cohen_d", "value_l1", "pattern_l1", "new_values", "new_patterns", "unchanged")
"""The distances that are followed unless told otherwise; the others say nearly the same (docs/methods/history.md)."""


@dataclass(frozen=True, slots=True)
class Past:
    """Runs in order, oldest first: `values` has a row for each and a column for each measure, NaN where none is.

    A distance is that of a run from the one before it, or from all before it where it is one of that kind. `schemas`
    are those of the runs, `states` those of the newest run, `merged` those of all of them merged, as far as distances
    read them; where these are of a store that hides values, `secret` is what hides a new batch's in the same way.
    """

    partitions: tuple[str, ...]
    metrics: tuple[MetricTraits, ...]
    values: Floats
    schemas: tuple[Schema, ...]
    states: Mapping[MetricKey, State]
    secret: bytes | None = None
    merged: Mapping[MetricKey, State] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        analyses: Sequence[Analysis],
        partitions: Sequence[str] | None = None,
        distances: Sequence[str] = DEFAULT_DISTANCES,
        trusted: Sequence[bool] | None = None,
    ) -> Past:
        """Of analyses, oldest first. No distance is taken from one that is not `trusted`.

        >>> import pyarrow as pa, headgate as hg
        >>> past = Past.of([hg.analyze(pa.table({"price": [1.0, 2.0 + run]})) for run in range(3)])
        >>> past.series("max(price)")
        array([2., 3., 4.])
        """
        if not analyses:
            raise MisuseError("there is no past run.", hint="Give the analyses of accepted batches, oldest first.")
        rows = [numeric_values(each.outcomes) for each in analyses]
        held = [each.states for each in analyses]
        for at, now in enumerate(analyses[1:], 1):
            before = [each for each in range(at) if trusted is None or trusted[each]][-DEFAULT_RUNS:]
            if before:
                earlier = [held[each] for each in before]
                rows[at] |= numeric_values(measure_distances(now.schema, held[at], earlier, distances))
        names = tuple(partitions or map(str, range(len(analyses))))
        return cls._from_rows(names, rows, tuple(each.schema for each in analyses), held)

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
        """The last runs of a dataset that were published or accepted; with `before`, those before that partition.

        A run that is held, rejected or not decided is never among them, and of a partition only the newest revision
        that is trusted.
        """
        revisions = store.last(dataset, runs, before=before, as_of=as_of, only=TRUSTED)
        if not revisions:
            raise MisuseError(f"{dataset} has no accepted run.", hint='Record one with store.decide(..., "accepted").')
        return cls.of_runs([store.run(each) for each in revisions], distances=distances, secret=store.secret)

    @classmethod
    def of_runs(
        cls, runs: Sequence[Run], *, distances: Sequence[str] = DEFAULT_DISTANCES, secret: bytes | None = None
    ) -> Past:
        """Of runs that were read from a store, oldest first.

        The distances that a run was recorded with are read if they were taken from these very runs; if not, because one
        of them was rejected, replaced or filled in later, they are taken anew.
        """
        rows = [numeric_values(each.outcomes) for each in runs]
        held = [each.states for each in runs]
        for at, now in enumerate(runs):
            if at and not _was_compared_with(now, runs[:at]):
                rows[at] = {key: value for key, value in rows[at].items() if not is_distance(key)}
                rows[at] |= numeric_values(measure_distances(now.schema, held[at], held[:at], distances))
        names = tuple(each.partition for each in runs)
        return cls._from_rows(names, rows, tuple(each.schema for each in runs), held, secret)

    @classmethod
    def _from_rows(
        cls,
        partitions: tuple[str, ...],
        rows: Sequence[Mapping[MetricKey, float]],
        schemas: tuple[Schema, ...],
        states: Sequence[Mapping[MetricKey, State]],
        secret: bytes | None = None,
    ) -> Past:
        kinds = {column.label: column.kind for schema in schemas for column in schema.columns}
        keys = dict.fromkeys(key for row in reversed(rows) for key in row)
        values = np.array([[row.get(key, np.nan) for key in keys] for row in rows], np.float64)
        metrics = tuple(traits_of(key, kinds.get(key.columns[0]) if key.columns else None) for key in keys)
        table, merged = values.reshape(len(rows), len(keys)), merge_states(schemas[-1], states)
        return cls(partitions, metrics, table, schemas, dict(states[-1]), secret, merged)

    @property
    def schema(self) -> Schema:
        """Of the newest run."""
        return self.schemas[-1]

    def __len__(self) -> int:
        return len(self.partitions)

    def series(self, metric: MetricKey | str) -> Floats:
        """The values of one metric, oldest first."""
        key = MetricKey.parse(metric) if isinstance(metric, str) else metric
        found = [at for at, each in enumerate(self.metrics) if each.key == key]
        if not found:
            raise KeyError(f"{key} was never measured in these runs")
        return self.values[:, found[0]]

    def outcomes(self, batch: Analysis) -> dict[MetricKey, Outcome]:
        """What a new batch is judged by: its own outcomes, and its distances from the newest run and from all."""
        return {**batch.outcomes, **self.distances(batch.schema, batch.states)}

    def distances(self, schema: Schema, states: Mapping[MetricKey, State]) -> dict[MetricKey, Outcome]:
        """The distances of a batch from these runs."""
        wanted = sorted({each.key.name for each in self.metrics if each.is_distance} | set(DEFAULT_DISTANCES))
        merged = self.merged if len(self) >= MIN_REFERENCE_RUNS else {}
        return _measure_distances(schema, states, self.states, merged, wanted, self.secret)


def attempt_prefixes(runs: Sequence[Run]) -> tuple[str, ...]:
    """Which runs a batch is compared with, so that it can be told later whether they are still the ones before it."""
    return tuple(each.attempt[:_ATTEMPT_PREFIX] for each in runs[-DEFAULT_RUNS:])


def _was_compared_with(run: Run, before: Sequence[Run]) -> bool:
    """Whether a run was recorded with its distances from these; of earlier ones nothing is asked any more."""
    then, now = () if run.account is None else run.account.after, attempt_prefixes(before)
    return len(then) >= len(now) and then[-len(now) :] == now


@cache
def distances_from_all() -> tuple[str, ...]:
    """The followed distances that are from all earlier runs."""
    return tuple(name for name in DEFAULT_DISTANCES if distances()[name].of_all)


def merge_states(schema: Schema, runs: Sequence[Mapping[MetricKey, State]]) -> dict[MetricKey, State]:
    """The states of runs, oldest first, merged as far as some distance is from all of them."""
    found: dict[MetricKey, State] = {}
    for column in schema.columns:
        for kind in distances_for(column.kind):
            key = kind(column.label).state_key
            states = [run[key] for run in runs if key in run] if kind.of_all else []
            if states:
                found[key] = type(states[0]).merge_all(states)
    return found


def measure_distances(
    schema: Schema, now: Mapping[MetricKey, State], before: Sequence[Mapping[MetricKey, State]], names: Sequence[str]
) -> dict[MetricKey, Outcome]:
    """The distances of a batch from earlier ones, oldest first, column by column."""
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
    found: dict[MetricKey, Outcome] = {}
    for column in schema.columns:
        for kind in distances_for(column.kind):
            distance: Any = kind(column.label)
            key = distance.state_key
            state_now, state_before = now.get(key), (merged if kind.of_all else before).get(key)
            if kind.name not in names:
                continue
            if state_now is None and state_before is not None and not now:
                found[distance.key] = Undefined(NONE_NOW)  # of a batch without rows there is no state at all
            elif state_now is not None and state_before is None and not before:
                found[distance.key] = Undefined(NONE_BEFORE)
            elif state_now is not None and state_before is not None:
                if key not in hidden_states:
                    hidden_states[key] = state_now if secret is None else state_now.hide_values(secret)
                found[distance.key] = distance.between(hidden_states[key], state_before)
    return found


def numeric_values(outcomes: Mapping[MetricKey, Outcome]) -> dict[MetricKey, float]:
    """The outcomes that are numbers, of metrics that are known here: a store may hold those of a plug-in."""
    return {
        key: float(outcome.value)
        for key, outcome in outcomes.items()
        if isinstance(outcome, Measured) and not isinstance(outcome.value, Distribution) and is_known(key)
    }


def latest_values(values: Floats) -> Floats:
    """The last value of each series that is there."""
    present = np.isfinite(values)
    last_row = len(values) - 1 - np.argmax(present[::-1], axis=0)
    return np.where(present.any(axis=0), values[last_row, np.arange(values.shape[1])], np.nan)
