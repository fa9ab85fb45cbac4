"""The last accepted runs of a table as series of numbers, with the states of the newest of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from headgate.engine.analysis import Analysis
from headgate.learn.metric_traits import Measure, is_distance, is_known, measure_of
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
RUNS = 30
_TOLD = 12  # characters of an attempt that tell it from others
REFERENCE = 5
"""Runs below which nothing is called new: nearly everything would be."""
DISTANCES = ("ks_dist", "cohen_d", "value_l1", "pattern_l1", "new_values", "new_patterns", "unchanged")
"""The distances that are followed unless told otherwise; the others say nearly the same (docs/methods/history.md)."""


@dataclass(frozen=True, slots=True)
class Past:
    """Runs in order, oldest first: `values` has a row for each and a column for each measure, NaN where none is.

    A distance is that of a run from the one before it, or from all before it where it is one of that kind. `schemas`
    are those of the runs, `states` those of the newest run, `merged` those of all of them merged, as far as distances
    read them; where these are of a store that hides values, `secret` is what hides a new batch's in the same way.
    """

    partitions: tuple[str, ...]
    measures: tuple[Measure, ...]
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
        distances: Sequence[str] = DISTANCES,
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
        rows = [numbers(each.outcomes) for each in analyses]
        held = [each.states for each in analyses]
        for at, now in enumerate(analyses[1:], 1):
            before = [each for each in range(at) if trusted is None or trusted[each]][-RUNS:]
            if before:
                earlier = [held[each] for each in before]
                rows[at] |= numbers(distances_between(now.schema, held[at], earlier, distances))
        names = tuple(partitions or map(str, range(len(analyses))))
        return cls._tabled(names, rows, tuple(each.schema for each in analyses), held)

    @classmethod
    def read(
        cls,
        store: HistoryStore,
        dataset: str,
        *,
        runs: int = RUNS,
        before: str | None = None,
        as_of: int | None = None,
        distances: Sequence[str] = DISTANCES,
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
    def of_runs(cls, runs: Sequence[Run], *, distances: Sequence[str] = DISTANCES, secret: bytes | None = None) -> Past:
        """Of runs that were read from a store, oldest first.

        The distances that a run was recorded with are read if they were taken from these very runs; if not, because one
        of them was rejected, replaced or filled in later, they are taken anew.
        """
        rows = [numbers(each.outcomes) for each in runs]
        held = [each.states for each in runs]
        for at, now in enumerate(runs):
            if at and not _compared_with(now, runs[:at]):
                rows[at] = {key: value for key, value in rows[at].items() if not is_distance(key)}
                rows[at] |= numbers(distances_between(now.schema, held[at], held[:at], distances))
        names = tuple(each.partition for each in runs)
        return cls._tabled(names, rows, tuple(each.schema for each in runs), held, secret)

    @classmethod
    def _tabled(
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
        measures = tuple(measure_of(key, kinds.get(key.columns[0]) if key.columns else None) for key in keys)
        table, merged = values.reshape(len(rows), len(keys)), merged_states(schemas[-1], states)
        return cls(partitions, measures, table, schemas, dict(states[-1]), secret, merged)

    @property
    def schema(self) -> Schema:
        """Of the newest run."""
        return self.schemas[-1]

    def __len__(self) -> int:
        return len(self.partitions)

    def series(self, metric: MetricKey | str) -> Floats:
        """The values of one metric, oldest first."""
        key = MetricKey.parse(metric) if isinstance(metric, str) else metric
        found = [at for at, each in enumerate(self.measures) if each.key == key]
        if not found:
            raise KeyError(f"{key} was never measured in these runs")
        return self.values[:, found[0]]

    def outcomes(self, batch: Analysis) -> dict[MetricKey, Outcome]:
        """What a new batch is judged by: its own outcomes, and its distances from the newest run and from all."""
        return {**batch.outcomes, **self.distances(batch.schema, batch.states)}

    def distances(self, schema: Schema, states: Mapping[MetricKey, State]) -> dict[MetricKey, Outcome]:
        """The distances of a batch from these runs."""
        wanted = sorted({each.key.name for each in self.measures if each.distance} | set(DISTANCES))
        merged = self.merged if len(self) >= REFERENCE else {}
        return _between(schema, states, self.states, merged, wanted, self.secret)


def after(runs: Sequence[Run]) -> tuple[str, ...]:
    """Which runs a batch is compared with, so that it can be told later whether they are still the ones before it."""
    return tuple(each.attempt[:_TOLD] for each in runs[-RUNS:])


def _compared_with(run: Run, before: Sequence[Run]) -> bool:
    """Whether a run was recorded with its distances from these; of earlier ones nothing is asked any more."""
    then, now = () if run.account is None else run.account.after, after(before)
    return len(then) >= len(now) and then[-len(now) :] == now


@cache
def of_all() -> tuple[str, ...]:
    """The followed distances that are from all earlier runs."""
    return tuple(name for name in DISTANCES if distances()[name].of_all)


def merged_states(schema: Schema, runs: Sequence[Mapping[MetricKey, State]]) -> dict[MetricKey, State]:
    """The states of runs, oldest first, merged as far as some distance is from all of them."""
    found: dict[MetricKey, State] = {}
    for column in schema.columns:
        for kind in distances_for(column.kind):
            key = kind(column.label).state_key
            held = [run[key] for run in runs if key in run] if kind.of_all else []
            if held:
                found[key] = type(held[0]).merged(held)
    return found


def distances_between(
    schema: Schema, now: Mapping[MetricKey, State], before: Sequence[Mapping[MetricKey, State]], names: Sequence[str]
) -> dict[MetricKey, Outcome]:
    """The distances of a batch from earlier ones, oldest first, column by column."""
    merged = merged_states(schema, before) if len(before) >= REFERENCE and set(names) & set(of_all()) else {}
    return _between(schema, now, before[-1], merged, names)


def _between(
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
    hidden: dict[MetricKey, State] = {}
    found: dict[MetricKey, Outcome] = {}
    for column in schema.columns:
        for kind in distances_for(column.kind):
            made: Any = kind(column.label)
            key = made.state_key
            one, other = now.get(key), (merged if kind.of_all else before).get(key)
            if kind.name not in names:
                continue
            if one is None and other is not None and not now:
                found[made.key] = Undefined(NONE_NOW)  # of a batch without rows there is no state at all
            elif one is not None and other is None and not before:
                found[made.key] = Undefined(NONE_BEFORE)
            elif one is not None and other is not None:
                if key not in hidden:
                    hidden[key] = one if secret is None else one.hidden(secret)
                found[made.key] = made.between(hidden[key], other)
    return found


def numbers(outcomes: Mapping[MetricKey, Outcome]) -> dict[MetricKey, float]:
    """The outcomes that are numbers, of metrics that are known here: a store may hold those of a plug-in."""
    return {
        key: float(outcome.value)
        for key, outcome in outcomes.items()
        if isinstance(outcome, Measured) and not isinstance(outcome.value, Distribution) and is_known(key)
    }


def newest(values: Floats) -> Floats:
    """The last value of each series that is there."""
    there = np.isfinite(values)
    at = len(values) - 1 - np.argmax(there[::-1], axis=0)
    return np.where(there.any(axis=0), values[at, np.arange(values.shape[1])], np.nan)
