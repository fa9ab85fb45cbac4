"""Notice what moves slowly: compare a batch with runs of long ago instead of the last thirty.

A range moves along with the runs that it is learned from. So a price that rises by a twentieth every day is always
where it is expected. Its anchor is the level of the oldest known runs since a person last accepted a surprise.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from headgate.learn.history.program import Clause
from headgate.learn.past import Past, numeric_values
from headgate.learn.scope import LearningScope
from headgate.learn.surprises import AcceptedSurprises
from headgate.values.account import Drift
from headgate.values.expectation import Expectation, Source
from headgate.values.key import MetricKey
from headgate.values.outcome import Measured, Outcome, Undefined
from headgate.values.predicate import Between, Predicate
from headgate.values.run import Run, partition_sort_key
from headgate.values.schema import TEMPORAL, Kind, Schema

RunT = TypeVar("RunT")

ANCHOR_SPAN = 120
"""Runs, the newest, of which the oldest are the anchor."""
ANCHOR_RUNS, MIN_ANCHOR_RUNS = 7, 3
MIN_APART = 14
"""Runs between the anchor and a batch, at least."""
NOTICE_FACTOR, NOTICE_POINTS = 2.0, 0.1
"""A level that doubled or halved is noticed, and a share of values that fell by ten points; and so on, once each."""
HOLD_FACTOR, HOLD_POINTS = 10.0, 0.5
"""By default, beyond so much a batch is held."""
_MOST_ACCEPTED = 5  # accepted batches, the newest, since which drift is measured
_FOLLOWED = ("size", "median", "completeness")
_SUFFIX = "_drift"
_LEAST_UNIQUE = 0.9  # the ratio of different values above which whole numbers count rows


@dataclass(frozen=True)
class Anchor:
    """The level of each followed metric long ago, with the partition since which it is compared, and its spread."""

    levels: Mapping[MetricKey, float]
    since: Mapping[MetricKey, str]
    spreads: Mapping[MetricKey, float]

    @classmethod
    def of(cls, runs: Sequence[Run], surprises: AcceptedSurprises, scope: LearningScope) -> Anchor:
        """The anchor in runs that are at least `MIN_APART` before a batch, oldest first.

        Args:
            runs: The runs.
            surprises: What a person accepted: what a column was before that is no anchor.
            scope: The columns that are learned from.
        """
        rows = [numeric_values(run.outcomes) for run in runs]
        levels, since, spreads = {}, {}, {}
        for key in dict.fromkeys(key for row in rows for key in row if _is_followed(key)):
            if not all(map(scope.learns_column, key.columns)) or not scope.learns_metric(key):
                continue
            if key.name == "median" and not _is_level(key.columns[0], runs[-1].schema, rows[-1]):
                continue
            after = surprises.find_last(key.columns[0] if key.columns else "")
            found = [(run.partition, row) for run, row in zip(runs, rows, strict=True) if key in row]
            chosen = [
                each for each in found if after is None or partition_sort_key(each[0]) >= partition_sort_key(after)
            ][:ANCHOR_RUNS]
            if len(chosen) >= MIN_ANCHOR_RUNS:
                levels[key] = float(np.median([row[key] for _, row in chosen]))
                since[key] = chosen[0][0]
                spread = MetricKey("stddev", key.columns)
                spreads[key] = float(np.median([row.get(spread, 0.0) for _, row in chosen]))
        return cls(levels, since, spreads)

    def measure(self, past: Past, outcomes: Mapping[MetricKey, Outcome]) -> dict[MetricKey, Outcome]:
        """How far each followed metric is from its anchor by now: a factor, or a difference of shares."""
        now = _find_levels(list(self.levels), past, outcomes)
        return {_name_drift(key): self._measure(key, now.get(key)) for key in self.levels}

    def find_drifts(self, past: Past, outcomes: Mapping[MetricKey, Outcome]) -> tuple[Drift, ...]:
        """What is farther from its anchor by another doubling or ten points than any run of the past was."""
        return tuple(self._find_drifts(past, outcomes))

    def expect_no_drift(self, factor: float) -> list[Clause]:
        """Expect that nothing is farther from its anchor than the limit; nothing is expected if it is 0."""
        return [self._limit(key, factor) for key in self.levels] if factor else []

    def _measure(self, key: MetricKey, now: float | None) -> Outcome:
        before = self.levels[key]
        if now is None:
            return Undefined("no value in this batch")
        if key.name == "completeness":
            return Measured(now - before)
        if not (before > 0 and now > 0):
            return Undefined("a factor needs positive values")
        if abs(now - before) <= self.spreads[key]:
            return Undefined("within the spread of the column")
        return Measured(now / before)

    def _find_drifts(self, past: Past, outcomes: Mapping[MetricKey, Outcome]) -> Iterator[Drift]:
        index_of_metric = {each.key: index for index, each in enumerate(past.metrics)}
        levels = _find_levels(list(self.levels), past, outcomes)
        for key, before in self.levels.items():
            now = self._measure(key, levels.get(key))
            if not isinstance(now, Measured) or key not in index_of_metric:
                continue
            steps = _count_steps(key, float(now.value))  # type: ignore[arg-type]
            series = past.values[:, index_of_metric[key]]
            earlier = [self._measure(key, value) for value in _smooth(series[np.isfinite(series)])]
            known = [_count_steps(key, float(each.value)) for each in earlier if isinstance(each, Measured)]  # type: ignore[arg-type]
            if steps and all(abs(steps) > abs(each) or steps * each < 0 for each in known):
                yield Drift(str(key), self.since[key], before, levels[key])

    def _limit(self, key: MetricKey, factor: float) -> Clause:
        is_share = key.name == "completeness"
        predicate: Predicate = Between(low=-HOLD_POINTS) if is_share else Between(1 / factor, factor)
        expectation = Expectation(_name_drift(key), predicate, Source.HISTORY, false_alarm=0.0)
        return Clause(expectation, f"since {self.since[key]}")


def choose_anchor_runs(runs: Sequence[RunT], by_person: Sequence[bool]) -> list[RunT]:
    """Of the runs before those that are learned from, oldest first: the oldest, and the first since an accepted one.

    Args:
        runs: The runs.
        by_person: Whether a person accepted each of them. The newest few such runs count.
    """
    accepted = [at for at, is_accepted in enumerate(by_person) if is_accepted][-_MOST_ACCEPTED:]
    chosen = {at for start in (0, *accepted) for at in range(start, min(start + ANCHOR_RUNS, len(runs)))}
    return [runs[at] for at in sorted(chosen)]


def find_drift_metric(key: MetricKey) -> MetricKey | None:
    """The metric whose drift this is; None if it is another metric."""
    name = key.name.removesuffix(_SUFFIX)
    return MetricKey(name, key.columns) if name != key.name and name in _FOLLOWED else None


def _find_levels(
    keys: Sequence[MetricKey], past: Past, outcomes: Mapping[MetricKey, Outcome]
) -> dict[MetricKey, float]:
    """The level of metrics by now: the median of the batch and the last two runs, because a single jump is no drift."""
    now = numeric_values({key: outcomes[key] for key in keys if key in outcomes})
    recent = {each.key: past.values[-2:, index] for index, each in enumerate(past.metrics) if each.key in now}
    return {key: float(np.nanmedian([value, *recent.get(key, ())])) for key, value in now.items()}


def _smooth(series: npt.NDArray[np.float64]) -> list[float]:
    """The median of each value and the two before it."""
    windows = (series[max(0, at - 2) : at + 1] for at in range(len(series)))
    return [float(np.median(window)) for window in windows]


def _is_level(column: str, schema: Schema, row: Mapping[MetricKey, float]) -> bool:
    """Whether a column has numbers with a level.

    Time goes on, and so do numbers that rows are counted by. Numbers on both sides of 0, such as temperatures, have no
    factor by which they change.
    """
    kind = next((each.kind for each in schema.columns if each.label == column), Kind.OTHER)
    is_numbering = kind is Kind.INTEGER and row.get(MetricKey("unique_ratio", (column,)), 0.0) > _LEAST_UNIQUE
    return kind not in TEMPORAL and not is_numbering and row.get(MetricKey("min", (column,)), 0.0) >= 0


def _is_followed(key: MetricKey) -> bool:
    return key.name in _FOLLOWED and not key.parameters and key.where is None and len(key.columns) < 2


def _name_drift(key: MetricKey) -> MetricKey:
    return MetricKey(key.name + _SUFFIX, key.columns)


def _count_steps(key: MetricKey, drift: float) -> int:
    """How many doublings, or steps of ten points fewer values, a drift is; negative for halves."""
    if key.name == "completeness":
        return min(0, math.ceil(drift / NOTICE_POINTS - 1e-9))
    return math.trunc(math.log(drift) / math.log(NOTICE_FACTOR) + math.copysign(1e-9, drift - 1))
