"""The last accepted runs of a table as series of numbers, with the states of the newest of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from headgate.analyzers.distances.registry import distances, distances_for
from headgate.engine.analysis import Analysis
from headgate.learn.measure import Measure, is_known, measure_of
from headgate.store.port import HistoryStore
from headgate.values.errors import MisuseError
from headgate.values.key import MetricKey
from headgate.values.outcome import Distribution, Measured, Outcome
from headgate.values.run import TRUSTED
from headgate.values.schema import Schema
from headgate.values.state import State

Floats = npt.NDArray[np.float64]
RUNS = 30
DISTANCES = ("ks_dist", "cohen_d", "value_l1", "pattern_l1")
"""The distances that are followed unless told otherwise; the others say nearly the same (docs/methods/history.md)."""


@dataclass(frozen=True, slots=True)
class Past:
    """Runs in order, oldest first: `values` has a row for each and a column for each measure, NaN where none is.

    A distance is that of a run from the one before it. `schemas` are those of the runs, `states` of the newest run;
    where these are of a store that hides values, `secret` is what hides a new batch's in the same way.
    """

    partitions: tuple[str, ...]
    measures: tuple[Measure, ...]
    values: Floats
    schemas: tuple[Schema, ...]
    states: Mapping[MetricKey, State]
    secret: bytes | None = None

    @classmethod
    def of(
        cls,
        analyses: Sequence[Analysis],
        partitions: Sequence[str] | None = None,
        distances: Sequence[str] = DISTANCES,
    ) -> Past:
        """Of analyses, oldest first.

        >>> import pyarrow as pa, headgate as hg
        >>> past = Past.of([hg.analyze(pa.table({"price": [1.0, 2.0 + run]})) for run in range(3)])
        >>> past.series("max(price)")
        array([2., 3., 4.])
        """
        if not analyses:
            raise MisuseError("there is no past run.", hint="Give the analyses of accepted batches, oldest first.")
        rows = [numbers(each.outcomes) for each in analyses]
        for before, now, row in zip(analyses, analyses[1:], rows[1:], strict=False):
            row |= numbers(distances_between(now, before.states, distances))
        names = tuple(partitions or map(str, range(len(analyses))))
        return cls._tabled(names, rows, tuple(each.schema for each in analyses), analyses[-1].states)

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
        read = [store.run(each) for each in revisions]
        rows = [numbers(each.outcomes) for each in read]
        for earlier, now, row in zip(read, read[1:], rows[1:], strict=False):
            row |= numbers(_between(now.schema, now.states, earlier.states, distances))
        names = tuple(each.partition for each in revisions)
        return cls._tabled(names, rows, tuple(each.schema for each in read), read[-1].states, store.secret)

    @classmethod
    def _tabled(
        cls,
        partitions: tuple[str, ...],
        rows: Sequence[Mapping[MetricKey, float]],
        schemas: tuple[Schema, ...],
        states: Mapping[MetricKey, State],
        secret: bytes | None = None,
    ) -> Past:
        kinds = {column.label: column.kind for schema in schemas for column in schema.columns}
        keys = dict.fromkeys(key for row in reversed(rows) for key in row)
        values = np.array([[row.get(key, np.nan) for key in keys] for row in rows], np.float64)
        measures = tuple(measure_of(key, kinds.get(key.columns[0]) if key.columns else None) for key in keys)
        return cls(partitions, measures, values.reshape(len(rows), len(keys)), schemas, dict(states), secret)

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
        """What a new batch is judged by: its own outcomes, and its distances from the newest run."""
        wanted = sorted({each.key.name for each in self.measures if each.distance})
        return {**batch.outcomes, **_between(batch.schema, batch.states, self.states, wanted, self.secret)}


def distances_between(
    now: Analysis, before: Mapping[MetricKey, State], names: Sequence[str]
) -> dict[MetricKey, Outcome]:
    """The distances of a batch from an earlier one, column by column."""
    return _between(now.schema, now.states, before, names)


def _between(
    schema: Schema,
    now: Mapping[MetricKey, State],
    before: Mapping[MetricKey, State],
    names: Sequence[str],
    secret: bytes | None = None,
) -> dict[MetricKey, Outcome]:
    unknown = set(names) - set(distances())
    if unknown:
        raise MisuseError(f"no distance is named {sorted(unknown)[0]!r}.", hint=f"There are {', '.join(distances())}.")
    found: dict[MetricKey, Outcome] = {}
    for column in schema.columns:
        for kind in distances_for(column.kind):
            made: Any = kind(column.label)
            one, other = now.get(made.state_key), before.get(made.state_key)
            if kind.name in names and one is not None and other is not None:
                found[made.key] = made.between(one if secret is None else one.hidden(secret), other)
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
