"""What each issue would do to the metrics of a table: issues are injected into likenesses, never into the batch."""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from headgate.inject.increased_nulls import IncreasedNulls
from headgate.inject.issue import Issue, standard
from headgate.inject.volume_change import VolumeChange
from headgate.learn.metric_traits import Measure
from headgate.learn.past import Past, newest
from headgate.learn.synthetic_column import likeness
from headgate.metrics.base.arrow import kind_of
from headgate.metrics.base.batch import ColumnBatch
from headgate.metrics.base.metric import ColumnMetric
from headgate.metrics.base.registry import metric_named, metrics
from headgate.metrics.distances.registry import distances
from headgate.metrics.states.frequencies import Frequencies
from headgate.values.key import MetricKey
from headgate.values.outcome import Distribution, Measured
from headgate.values.proposal import IssueId
from headgate.values.schema import Column, Kind
from headgate.values.state import State

Floats = npt.NDArray[np.float64]
_NULLS = (0.01, 0.5, 1.0)
MILDER = (1.0, 0.3, 0.1)
"""How severe an issue may be beside the injected one: learners reckon with milder forms of it."""
STALE = "stale"
"""The issue of a column that was not renewed; it needs two batches, so it is not among those that are injected."""
_WEIGHT = 16
OFTEN = 3
"""How often nulls count as an issue: of the dated incidents of real feeds, every sixth is a jump of them."""


@dataclass(frozen=True, slots=True)
class Damage:
    """Issues that may befall one column, or the whole table (column ""), and what they do to its measures.

    `clean` is what each measure is in the sample, `broken` what it is after each issue (a row for each). That tells how
    a measure moves, whatever the batch: so it serves for every later run whose column is of the same kind.
    """

    column: str
    kind: Kind | None
    issues: tuple[str, ...]
    measures: tuple[Measure, ...]
    clean: Floats
    broken: Floats

    def to(self, newest: Floats) -> Floats:
        """What a batch would measure after each issue, given what it measures without."""
        additive = np.array([each.additive for each in self.measures])
        least = np.array([-np.inf if each.signed else 0.0 for each in self.measures])
        most = np.array([each.most for each in self.measures])
        with np.errstate(invalid="ignore", divide="ignore"):
            grown = np.where(self.clean != 0, newest * self.broken / self.clean, newest + self.broken)
            moved = newest + (self.broken - self.clean)
        found: Floats = np.where(additive, grown, np.clip(moved, least, most))
        return found


class Damaged(NamedTuple):
    """Issues and what the measures at these places of a past would be after each, NaN where there is no value.

    A change of volume befalls every column of the table (up to 16, which is weight enough).
    """

    column: str
    issues: tuple[str, ...]
    places: npt.NDArray[np.intp]
    values: Floats
    columns: tuple[str, ...] = ()

    @property
    def ids(self) -> list[tuple[IssueId, ...]]:
        """For each issue, the columns that it befalls; nulls count several times, as they befall columns most often."""
        often = [OFTEN if issue.startswith(IncreasedNulls.name) else 1 for issue in self.issues]
        return [
            tuple(
                (column, issue if not time else f"{issue}, again {time}")
                for column in self.columns or (self.column,)
                for time in range(times)
            )
            for issue, times in zip(self.issues, often, strict=True)
        ]


def damages(past: Past, sample: Mapping[str, pa.Array] | None = None) -> list[Damage]:
    """The damage to every column, and of changes of volume to the table.

    The issues are injected into a likeness of each column's newest states; into `sample`, columns of a bounded sample
    of a good batch, where it is given. What is counted by rows is scaled back to the batch. A metric of several
    columns, of some rows only or with parameters is not in a likeness: nothing is proposed about it.
    """
    of_column: dict[str, list[Measure]] = {}
    for measure in past.measures:
        if measure.plain and _is_of_column(measure):
            of_column.setdefault(measure.column, []).append(measure)
    given = dict(sample or {})
    made = {column.label: given.get(column.label, likeness(column, past.states)) for column in past.schema.columns}
    samples = {label: values for label, values in made.items() if values is not None}
    found = [_volume(past)]
    for column in past.schema.columns:
        if column.label in samples and column.label in of_column:
            found.append(_damage(past, column, tuple(of_column[column.label]), samples))
    return found


def applied(damage: Sequence[Damage], past: Past) -> list[Damaged]:
    """The damage to the newest run of a past: of columns that are still there and of the same kind."""
    places = {measure.key: at for at, measure in enumerate(past.measures)}
    kinds = {column.label: column.kind for column in past.schema.columns}
    latest = newest(past.values)
    found = []
    for each in damage:
        if each.column and kinds.get(each.column) is not each.kind:
            continue
        there = np.array([places.get(measure.key, -1) for measure in each.measures], np.intp)
        there[[bool(measure.column) and measure.column not in kinds for measure in each.measures]] = -1
        values = each.to(np.where(there >= 0, latest[there], np.nan))
        columns = () if each.column else past.schema.labels[:_WEIGHT]
        found.append(Damaged(each.column, each.issues, there[there >= 0], values[:, there >= 0], columns))
    return found


def _volume(past: Past) -> Damage:
    """More rows or fewer: every measure that adds up grows or shrinks alike."""
    measures = tuple(each for each in past.measures if each.plain and each.key.name in ("size", "sum"))
    factors = np.array([each.factor for each in VolumeChange.variants()])
    issues = tuple(str(each) for each in VolumeChange.variants())
    return Damage("", None, issues, measures, np.ones(len(measures)), np.repeat(factors[:, None], len(measures), 1))


def _damage(past: Past, column: Column, measures: tuple[Measure, ...], samples: Mapping[str, pa.Array]) -> Damage:
    whole = samples[column.label]
    neighbour = _neighbour(past, column, samples)
    rng = np.random.default_rng(zlib.crc32(column.label.encode("utf-8", "surrogatepass")))
    issues = [each for each in issues_of(column.kind) if neighbour is not None or not each[1].needs_neighbour]
    broken = [(name, each.broken(whole, rng, neighbour)) for name, each in issues]
    readings = [_reading(each) for each in measures]
    before = _states(whole, readings)
    clean = np.array(_measured(readings, before, before))
    found = np.array([_measured(readings, _states(each, readings), before) for _, each in broken])
    found = found.reshape(len(broken), -1) * np.array([_heard(past, each) for each in measures])
    empties = np.array([isinstance(each, IncreasedNulls) and each.value == "null" for _, each in issues])
    share = np.array([each.key.name == "completeness" for each in measures])
    found = np.where(empties[:, None] & ~share, clean, found)  # what is left of the values may look as before
    names = (*(name for name, _ in broken), STALE)
    rows = np.vstack([found, _stale(measures, clean)])
    return Damage(column.label, column.kind, names, measures, clean, rows)


def _stale(measures: Sequence[Measure], clean: Floats) -> Floats:
    """The column holds what it held in the run before: all is as it was."""
    return np.where([each.key.name == "unchanged" for each in measures], clean + 1.0, clean)


@cache
def issues_of(kind: Kind) -> tuple[tuple[str, Issue], ...]:
    """The issues that a column is trained on: those of the paper, and real nulls beside its blanks and zeros."""
    nulls = (IncreasedNulls(share=share, value="null") for share in _NULLS)
    every = dict.fromkeys((*standard(kind), *(each for each in nulls if kind in each.accepts)))
    return tuple((str(each), each) for each in every if not each.of_rows)


def _neighbour(past: Past, column: Column, samples: Mapping[str, pa.Array]) -> pa.Array | None:
    """The next column of the same kind."""
    alike = [each.label for each in past.schema.columns if each.kind is column.kind and each.label in samples]
    if len(alike) < 2:
        return None
    return samples[alike[(alike.index(column.label) + 1) % len(alike)]]


def _heard(past: Past, measure: Measure) -> float:
    """The share of values that a distance between frequencies tells apart: those too rare to be kept are one to it."""
    if not measure.distance or _reading(measure).folded != "frequent_values":
        return 1.0
    kept = past.states.get(MetricKey("frequent_values", measure.key.columns))
    if not isinstance(kept, Frequencies) or not kept.total:
        return 1.0
    return sum(kept.labels().values()) / kept.total


def _is_of_column(measure: Measure) -> bool:
    return measure.distance or issubclass(metric_named(measure.key.name), ColumnMetric)


class _Reading(NamedTuple):
    """How a measure is read: the name of its state, a metric that folds it, and the metric or distance itself."""

    folded: str
    folds: ColumnMetric[Any]
    metric: Any
    distance: bool


def _reading(measure: Measure) -> _Reading:
    return _reading_of(measure.key.name, measure.distance)


@cache
def _reading_of(name: str, distance: bool) -> _Reading:
    made: Any = distances()[name]("") if distance else metric_named(name)("")  # type: ignore[call-arg]
    folds = next(
        kind("")
        for kind in metrics().values()
        if issubclass(kind, ColumnMetric) and kind.folded == made.folded and not kind.fold_parameters
    )
    return _Reading(made.folded, folds, made, distance)


def _states(values: pa.Array, readings: Sequence[_Reading]) -> dict[str, State]:
    """The states that are read, of one array."""
    batch = ColumnBatch(values, kind_of(values.type))
    folds = {each.folded: each.folds for each in readings}
    return {name: metric.fold(batch) for name, metric in folds.items() if batch.kind in metric.accepts}


def _measured(readings: Sequence[_Reading], now: Mapping[str, State], before: Mapping[str, State]) -> list[float]:
    return [_value(each, now.get(each.folded), before.get(each.folded)) for each in readings]


def _value(reading: _Reading, now: State | None, before: State | None) -> float:
    if now is None or (reading.distance and before is None):
        return np.nan
    found = reading.metric.between(now, before) if reading.distance else reading.metric.measure(now)
    return found.value if isinstance(found, Measured) and not isinstance(found.value, Distribution) else np.nan
