"""The last runs of a dataset as a page shows them: the value of every metric in each, and what became of it."""

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

SHOWN_RUNS = 30  # runs before the one that is told about
_LEAST_SPREAD = 1e-9


class RunMark(StrEnum):
    """What became of a run, as a page tells it apart."""

    GOOD = "good"
    HELD = "held"
    OPEN = "open"  # let through by a person or a gate that observes, though it did not pass

    @classmethod
    def of(cls, revision: Revision) -> RunMark:
        if revision.decision in TRUSTED:
            return cls.GOOD
        if revision.decision in STOPPED:
            return cls.HELD
        return cls.GOOD if revision.status is Status.PASS and revision.decision is None else cls.OPEN


MARK_WORDS = {RunMark.GOOD: "good", RunMark.HELD: "held", RunMark.OPEN: "failed, not held"}


class RunSeries:
    """Runs in the order of their partitions; the last one is what the page is about."""

    def __init__(self, series: Series, schema: Schema) -> None:
        self.series = series
        self.revisions = series.revisions
        self.marks = tuple(map(RunMark.of, series.revisions))
        self._kinds = {each.label: each.kind for each in schema.columns}
        self._places = {key: at for at, key in enumerate(series.metrics)}

    @classmethod
    def read(cls, store: HistoryStore, revisions: Sequence[Revision], schema: Schema) -> RunSeries:
        return cls(store.series(revisions), schema)

    def __len__(self) -> int:
        return len(self.revisions)

    def __contains__(self, key: MetricKey) -> bool:
        return key in self._places

    @property
    def partitions(self) -> tuple[str, ...]:
        return self.series.partitions

    def values(self, key: MetricKey) -> npt.NDArray[np.float64]:
        found: npt.NDArray[np.float64] = self.series.values[:, self._places[key]]
        return found

    def plain_values(self, key: MetricKey) -> npt.NDArray[np.float64]:
        """The values as people ask for them: of completeness, how much is missing."""
        return 1 - self.values(key) if tells_missing(self.traits(key)) else self.values(key)

    def traits(self, key: MetricKey) -> MetricTraits | None:
        """How a metric behaves; None for one that this version does not know."""
        return traits_of(key, self._kinds.get(key.columns[0]) if key.columns else None) if is_known(key) else None

    @cached_property
    def columns(self) -> dict[str, list[MetricKey]]:
        """The metrics of each column ("" for the table) that a series can be drawn of."""
        found: dict[str, list[MetricKey]] = {}
        for key in self.series.metrics:
            traits = self.traits(key)
            if traits is not None and traits.is_plain:
                found.setdefault(traits.column, []).append(key)
        return found

    @cached_property
    def moves(self) -> npt.NDArray[np.float64]:
        """How far each metric's last value lies from its good ones, in the deviation of those; 0 where unknown."""
        good = np.array([mark is RunMark.GOOD for mark in self.marks[:-1]], np.bool_)
        if not good.any():
            return np.zeros(len(self.series.metrics))
        with np.errstate(all="ignore"):  # numbers near the largest there are
            return self._measure_moves(self.series.values[:-1][good], self.series.values[-1])

    @staticmethod
    def _measure_moves(before: npt.NDArray[np.float64], now: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        there = np.isfinite(before)
        rows = np.maximum(there.sum(axis=0), 1)
        middle = np.where(there, before, 0.0).sum(axis=0) / rows
        spread = np.sqrt(np.where(there, (before - middle) ** 2, 0.0).sum(axis=0) / rows)
        least = np.maximum(np.abs(middle), 1.0) * _LEAST_SPREAD
        gap = np.abs(now - middle) / np.maximum(spread, least)
        return np.where(np.isfinite(gap) & there.any(axis=0), gap, 0.0)

    def move_of(self, key: MetricKey) -> float:
        """How far the metric's last value lies from its good ones."""
        return float(self.moves[self._places[key]])

    def rank_metrics(self, column: str) -> list[MetricKey]:
        """The metrics of a column, those that moved the most first."""
        return sorted(self.columns.get(column, ()), key=self.rank)

    def rank(self, key: MetricKey) -> tuple[float, int]:
        """Sorts metrics of which a series is drawn: what a person should see comes first."""
        traits = self.traits(key)
        assert traits is not None  # `columns` names only what is known
        return by_surprise(traits, self.move_of(key))

    def last_good(self, key: MetricKey) -> tuple[str, float] | None:
        """The newest good run before the last that has a value, and the value."""
        values = self.values(key)
        for at in range(len(self) - 2, -1, -1):
            if self.marks[at] is RunMark.GOOD and np.isfinite(values[at]):
                return self.partitions[at], float(values[at])
        return None
