"""The last runs of a dataset as pages show them: the value of every metric in each run, and its outcome."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from functools import cached_property

import numpy as np
import numpy.typing as npt

from headgate.explain.column_changes import by_surprise
from headgate.explain.metric_names import tells_missing
from headgate.learn.metric_traits import MetricTraits, is_known, traits_of
from headgate.store.port import HistoryStore, Series
from headgate.values.expectation import Status
from headgate.values.key import MetricKey
from headgate.values.run import STOPPED, TRUSTED, Revision
from headgate.values.schema import Schema

SHOWN_RUNS = 30  # runs before the current one
_LEAST_SPREAD = 1e-9  # relative; keeps the move of a constant metric finite


class RunMark(StrEnum):
    """The outcome of a run, as pages mark it."""

    GOOD = "good"
    HELD = "held"
    OPEN = "open"  # published by a person or an observing gate, though it did not pass

    @classmethod
    def of(cls, revision: Revision) -> RunMark:
        if revision.decision in TRUSTED:
            return cls.GOOD
        if revision.decision in STOPPED:
            return cls.HELD
        return cls.GOOD if revision.status is Status.PASS and revision.decision is None else cls.OPEN


MARK_WORDS = {RunMark.GOOD: "good", RunMark.HELD: "held", RunMark.OPEN: "failed, not held"}


class RunSeries:
    """Runs in the order of their partitions; the page is about the last one."""

    def __init__(self, series: Series, schema: Schema) -> None:
        self.series = series
        self.revisions = series.revisions
        self.marks = tuple(map(RunMark.of, series.revisions))
        self._kinds = {each.label: each.kind for each in schema.columns}
        self._columns = {key: index for index, key in enumerate(series.metrics)}

    @classmethod
    def read(cls, store: HistoryStore, revisions: Sequence[Revision], schema: Schema) -> RunSeries:
        return cls(store.series(revisions), schema)

    def __len__(self) -> int:
        return len(self.revisions)

    def __contains__(self, key: MetricKey) -> bool:
        return key in self._columns

    @property
    def partitions(self) -> tuple[str, ...]:
        return self.series.partitions

    def values(self, key: MetricKey) -> npt.NDArray[np.float64]:
        values: npt.NDArray[np.float64] = self.series.values[:, self._columns[key]]
        return values

    def plain_values(self, key: MetricKey) -> npt.NDArray[np.float64]:
        """The values as pages show them: the null rate instead of completeness."""
        return 1 - self.values(key) if tells_missing(self.traits(key)) else self.values(key)

    def traits(self, key: MetricKey) -> MetricTraits | None:
        """The traits of a metric; None for a metric that this version does not know."""
        return traits_of(key, self._kinds.get(key.columns[0]) if key.columns else None) if is_known(key) else None

    @cached_property
    def columns(self) -> dict[str, list[MetricKey]]:
        """The metrics of each column ("" for the table) whose series can be drawn."""
        columns: dict[str, list[MetricKey]] = {}
        for key in self.series.metrics:
            traits = self.traits(key)
            if traits is not None and traits.is_plain:
                columns.setdefault(traits.column, []).append(key)
        return columns

    @cached_property
    def moves(self) -> npt.NDArray[np.float64]:
        """How far the last value of each metric lies from its good values, in standard deviations; 0 if unknown."""
        good = np.array([mark is RunMark.GOOD for mark in self.marks[:-1]], np.bool_)
        if not good.any():
            return np.zeros(len(self.series.metrics))
        with np.errstate(all="ignore"):  # values near the largest double overflow
            return self._measure_moves(self.series.values[:-1][good], self.series.values[-1])

    @staticmethod
    def _measure_moves(before: npt.NDArray[np.float64], now: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        finite = np.isfinite(before)
        counts = np.maximum(finite.sum(axis=0), 1)
        mean = np.where(finite, before, 0.0).sum(axis=0) / counts
        spread = np.sqrt(np.where(finite, (before - mean) ** 2, 0.0).sum(axis=0) / counts)
        least = np.maximum(np.abs(mean), 1.0) * _LEAST_SPREAD
        gap = np.abs(now - mean) / np.maximum(spread, least)
        return np.where(np.isfinite(gap) & finite.any(axis=0), gap, 0.0)

    def move_of(self, key: MetricKey) -> float:
        """How far the last value of the metric lies from its good values, in standard deviations."""
        return float(self.moves[self._columns[key]])

    def rank_metrics(self, column: str) -> list[MetricKey]:
        """The metrics of a column, the ones that moved the most first."""
        return sorted(self.columns.get(column, ()), key=self.rank)

    def rank(self, key: MetricKey) -> tuple[float, int]:
        """Sort key of metrics that can be drawn: the most surprising come first."""
        traits = self.traits(key)
        assert traits is not None  # `columns` holds only known metrics
        return by_surprise(traits, self.move_of(key))

    def last_good(self, key: MetricKey) -> tuple[str, float] | None:
        """The partition and value of the newest good run before the last that has a value."""
        values = self.values(key)
        for index in range(len(self) - 2, -1, -1):
            if self.marks[index] is RunMark.GOOD and np.isfinite(values[index]):
                return self.partitions[index], float(values[index])
        return None
