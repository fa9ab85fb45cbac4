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
from headgate.learn.metric_traits import MetricTraits
from headgate.learn.past import Past, latest_values
from headgate.learn.synthetic_column import synthesize
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
_NULL_SHARES = (0.01, 0.5, 1.0)
SEVERITIES = (1.0, 0.3, 0.1)
"""How severe an issue may be beside the injected one: learners reckon with milder forms of it."""
STALE = "stale"
"""The issue of a column that was not renewed; it needs two batches, so it is not among those that are injected."""
_MAX_VOLUME_COLUMNS = 16
NULL_ISSUE_WEIGHT = 3
"""How often nulls count as an issue: of the dated incidents of real feeds, every sixth is a jump of them."""


@dataclass(frozen=True, slots=True)
class IssueEffect:
    """Issues that may befall one column, or the whole table (column ""), and what they do to its measures.

    `clean` is what each measure is in the sample, `broken` what it is after each issue (a row for each). That tells how
    a measure moves, whatever the batch: so it serves for every later run whose column is of the same kind.
    """

    column: str
    kind: Kind | None
    issues: tuple[str, ...]
    metrics: tuple[MetricTraits, ...]
    clean: Floats
    broken: Floats

    def apply_to(self, latest: Floats) -> Floats:
        """What a batch would measure after each issue, given what it measures without."""
        additive = np.array([each.additive for each in self.metrics])
        lowest = np.array([-np.inf if each.signed else 0.0 for each in self.metrics])
        highest = np.array([each.max_value for each in self.metrics])
        with np.errstate(invalid="ignore", divide="ignore"):
            scaled = np.where(self.clean != 0, latest * self.broken / self.clean, latest + self.broken)
            shifted = latest + (self.broken - self.clean)
        found: Floats = np.where(additive, scaled, np.clip(shifted, lowest, highest))
        return found


class AppliedEffect(NamedTuple):
    """Issues and what the measures at these places of a past would be after each, NaN where there is no value.

    A change of volume befalls every column of the table (up to 16, which is weight enough).
    """

    column: str
    issues: tuple[str, ...]
    metric_indices: npt.NDArray[np.intp]
    values: Floats
    columns: tuple[str, ...] = ()

    @property
    def issue_ids(self) -> list[tuple[IssueId, ...]]:
        """For each issue, the columns that it befalls; nulls count several times, as they befall columns most often."""
        weights = [NULL_ISSUE_WEIGHT if issue.startswith(IncreasedNulls.name) else 1 for issue in self.issues]
        return [
            tuple(
                (column, issue if not time else f"{issue}, again {time}")
                for column in self.columns or (self.column,)
                for time in range(times)
            )
            for issue, times in zip(self.issues, weights, strict=True)
        ]


def measure_effects(past: Past, sample: Mapping[str, pa.Array] | None = None) -> list[IssueEffect]:
    """The damage to every column, and of changes of volume to the table.

    The issues are injected into a likeness of each column's newest states; into `sample`, columns of a bounded sample
    of a good batch, where it is given. What is counted by rows is scaled back to the batch. A metric of several
    columns, of some rows only or with parameters is not in a likeness: nothing is proposed about it.
    """
    metrics_of_column: dict[str, list[MetricTraits]] = {}
    for measure in past.metrics:
        if measure.is_plain and _is_column_metric(measure):
            metrics_of_column.setdefault(measure.column, []).append(measure)
    given_samples = dict(sample or {})
    made = {
        column.label: given_samples.get(column.label, synthesize(column, past.states)) for column in past.schema.columns
    }
    samples = {label: values for label, values in made.items() if values is not None}
    effects = [_volume_effect(past)]
    for column in past.schema.columns:
        if column.label in samples and column.label in metrics_of_column:
            effects.append(_column_effect(past, column, tuple(metrics_of_column[column.label]), samples))
    return effects


def apply_to_latest(effects: Sequence[IssueEffect], past: Past) -> list[AppliedEffect]:
    """The damage to the newest run of a past: of columns that are still there and of the same kind."""
    index_of_key = {measure.key: at for at, measure in enumerate(past.metrics)}
    kinds = {column.label: column.kind for column in past.schema.columns}
    latest = latest_values(past.values)
    applied_effects = []
    for each in effects:
        if each.column and kinds.get(each.column) is not each.kind:
            continue
        indices = np.array([index_of_key.get(measure.key, -1) for measure in each.metrics], np.intp)
        indices[[bool(measure.column) and measure.column not in kinds for measure in each.metrics]] = -1
        values = each.apply_to(np.where(indices >= 0, latest[indices], np.nan))
        columns = () if each.column else past.schema.labels[:_MAX_VOLUME_COLUMNS]
        applied_effects.append(
            AppliedEffect(each.column, each.issues, indices[indices >= 0], values[:, indices >= 0], columns)
        )
    return applied_effects


def _volume_effect(past: Past) -> IssueEffect:
    """More rows or fewer: every measure that adds up grows or shrinks alike."""
    metrics = tuple(each for each in past.metrics if each.is_plain and each.key.name in ("size", "sum"))
    factors = np.array([each.factor for each in VolumeChange.variants()])
    issues = tuple(str(each) for each in VolumeChange.variants())
    return IssueEffect("", None, issues, metrics, np.ones(len(metrics)), np.repeat(factors[:, None], len(metrics), 1))


def _column_effect(
    past: Past, column: Column, metrics: tuple[MetricTraits, ...], samples: Mapping[str, pa.Array]
) -> IssueEffect:
    clean_sample = samples[column.label]
    neighbour = _find_neighbour(past, column, samples)
    rng = np.random.default_rng(zlib.crc32(column.label.encode("utf-8", "surrogatepass")))
    issues = [each for each in issues_of(column.kind) if neighbour is not None or not each[1].needs_neighbour]
    broken = [(name, each.apply_to(clean_sample, rng, neighbour)) for name, each in issues]
    evaluators = [_evaluator_of(each) for each in metrics]
    clean_states = _fold_states(clean_sample, evaluators)
    clean = np.array(_evaluate_all(evaluators, clean_states, clean_states))
    broken_values = np.array(
        [_evaluate_all(evaluators, _fold_states(each, evaluators), clean_states) for _, each in broken]
    )
    broken_values = broken_values.reshape(len(broken), -1) * np.array([_visible_share(past, each) for each in metrics])
    adds_nulls = np.array([isinstance(each, IncreasedNulls) and each.value == "null" for _, each in issues])
    is_completeness = np.array([each.key.name == "completeness" for each in metrics])
    broken_values = np.where(
        adds_nulls[:, None] & ~is_completeness, clean, broken_values
    )  # what is left of the values may look as before
    names = (*(name for name, _ in broken), STALE)
    rows = np.vstack([broken_values, _stale_values(metrics, clean)])
    return IssueEffect(column.label, column.kind, names, metrics, clean, rows)


def _stale_values(metrics: Sequence[MetricTraits], clean: Floats) -> Floats:
    """The column holds what it held in the run before: all is as it was."""
    return np.where([each.key.name == "unchanged" for each in metrics], clean + 1.0, clean)


@cache
def issues_of(kind: Kind) -> tuple[tuple[str, Issue], ...]:
    """The issues that a column is trained on: those of the paper, and real nulls beside its blanks and zeros."""
    nulls = (IncreasedNulls(share=share, value="null") for share in _NULL_SHARES)
    every = dict.fromkeys((*standard(kind), *(each for each in nulls if kind in each.accepts)))
    return tuple((str(each), each) for each in every if not each.of_rows)


def _find_neighbour(past: Past, column: Column, samples: Mapping[str, pa.Array]) -> pa.Array | None:
    """The next column of the same kind."""
    alike = [each.label for each in past.schema.columns if each.kind is column.kind and each.label in samples]
    if len(alike) < 2:
        return None
    return samples[alike[(alike.index(column.label) + 1) % len(alike)]]


def _visible_share(past: Past, traits: MetricTraits) -> float:
    """The share of values that a distance between frequencies tells apart: those too rare to be kept are one to it."""
    if not traits.is_distance or _evaluator_of(traits).state_name != "frequent_values":
        return 1.0
    frequencies = past.states.get(MetricKey("frequent_values", traits.key.columns))
    if not isinstance(frequencies, Frequencies) or not frequencies.total:
        return 1.0
    return sum(frequencies.labels().values()) / frequencies.total


def _is_column_metric(traits: MetricTraits) -> bool:
    return traits.is_distance or issubclass(metric_named(traits.key.name), ColumnMetric)


class _Evaluator(NamedTuple):
    """How a measure is read: the name of its state, a metric that folds it, and the metric or distance itself."""

    state_name: str
    folding_metric: ColumnMetric[Any]
    metric: Any
    is_distance: bool


def _evaluator_of(traits: MetricTraits) -> _Evaluator:
    return _make_evaluator(traits.key.name, traits.is_distance)


@cache
def _make_evaluator(name: str, is_distance: bool) -> _Evaluator:
    metric: Any = distances()[name]("") if is_distance else metric_named(name)("")  # type: ignore[call-arg]
    folding_metric = next(
        kind("")
        for kind in metrics().values()
        if issubclass(kind, ColumnMetric) and kind.folded == metric.folded and not kind.fold_parameters
    )
    return _Evaluator(metric.folded, folding_metric, metric, is_distance)


def _fold_states(values: pa.Array, evaluators: Sequence[_Evaluator]) -> dict[str, State]:
    """The states that are read, of one array."""
    batch = ColumnBatch(values, kind_of(values.type))
    folding_metrics = {each.state_name: each.folding_metric for each in evaluators}
    return {name: metric.fold(batch) for name, metric in folding_metrics.items() if batch.kind in metric.accepts}


def _evaluate_all(
    evaluators: Sequence[_Evaluator], now: Mapping[str, State], before: Mapping[str, State]
) -> list[float]:
    return [_evaluate_metric(each, now.get(each.state_name), before.get(each.state_name)) for each in evaluators]


def _evaluate_metric(evaluator: _Evaluator, now: State | None, before: State | None) -> float:
    if now is None or (evaluator.is_distance and before is None):
        return np.nan
    outcome = evaluator.metric.between(now, before) if evaluator.is_distance else evaluator.metric.measure(now)
    return outcome.value if isinstance(outcome, Measured) and not isinstance(outcome.value, Distribution) else np.nan
