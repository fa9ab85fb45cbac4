"""Measure what each issue would do to the metrics of a table, by injecting it into samples, never into a batch."""

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
from headgate.learn.metric_traits import OUTSIDE_PERIOD, MetricTraits
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
STALE = "stale"
"""The issue of a column that holds the same values as in the run before. It has no injector: it needs two batches."""
OTHER_DAYS = "other_days"
"""The issue of a batch some of whose rows are of other days. It has no injector either."""
OTHER_DAYS_SHARE = 0.1
_MAX_VOLUME_COLUMNS = 16  # so that a change of the row count does not outweigh all other issues of a wide table


@dataclass(frozen=True, slots=True)
class IssueEffect:
    """What issues of one column, or of the whole table (column ""), do to its metrics.

    `clean` holds the value of each metric of a sample, `broken` the values after each issue (one row per issue). The
    difference applies to every later run in which the column has the same kind.
    """

    column: str
    kind: Kind | None
    issues: tuple[str, ...]
    metrics: tuple[MetricTraits, ...]
    clean: Floats
    broken: Floats

    def apply_to(self, latest: Floats) -> Floats:
        """The values after each issue (rows), for a batch with the values `latest` before.

        A value that grows with the number of rows is multiplied; any other is shifted, within its limits.
        """
        additive = np.array([each.additive for each in self.metrics])
        lowest = np.array([-np.inf if each.signed else 0.0 for each in self.metrics])
        highest = np.array([each.max_value for each in self.metrics])
        with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
            scaled = np.where(self.clean != 0, latest * self.broken / self.clean, latest + self.broken)
            shifted = latest + (self.broken - self.clean)
        values: Floats = np.where(additive, scaled, np.clip(shifted, lowest, highest))
        return values


class AppliedEffect(NamedTuple):
    """Issues, and the values after each of the metrics at `metric_indices` of a past; NaN where there is no value.

    `columns` are the columns for which an issue of the whole table counts; at most 16.
    """

    column: str
    issues: tuple[str, ...]
    metric_indices: npt.NDArray[np.intp]
    values: Floats
    columns: tuple[str, ...] = ()

    @property
    def issue_ids(self) -> list[tuple[IssueId, ...]]:
        """The ids of each issue, one for each column that it counts for."""
        return [tuple((column, issue) for column in self.columns or (self.column,)) for issue in self.issues]


def measure_effects(past: Past, sample: Mapping[str, pa.Array] | None = None) -> list[IssueEffect]:
    """The effects of issues on each column, and of changes of the row count on the table.

    The issues are injected into `sample`, columns of a sample of a good batch, where it is given. A column without one
    is synthesized from its states in the newest run. A metric of several columns, of a part of the rows or with
    parameters cannot be measured on such a sample, so no band is proposed for it.
    """
    metrics_of_column: dict[str, list[MetricTraits]] = {}
    for traits in past.metrics:
        if traits.is_plain and _is_column_metric(traits):
            metrics_of_column.setdefault(traits.column, []).append(traits)
    given_samples = dict(sample or {})
    optional_samples = {
        column.label: given_samples[column.label] if column.label in given_samples else synthesize(column, past.states)
        for column in past.schema.columns
    }
    samples = {label: values for label, values in optional_samples.items() if values is not None}
    effects = [_volume_effect(past)]
    for column in past.schema.columns:
        if column.label in samples and column.label in metrics_of_column:
            effects.append(_column_effect(past, column, tuple(metrics_of_column[column.label]), samples))
    return [*effects, *_other_days_effects(past)]


def apply_to_latest(effects: Sequence[IssueEffect], past: Past) -> list[AppliedEffect]:
    """The effects as values of the newest run of a past, for columns that it still has and of the same kind."""
    index_of_key = {traits.key: index for index, traits in enumerate(past.metrics)}
    kinds = {column.label: column.kind for column in past.schema.columns}
    latest = latest_values(past.values)
    applied_effects = []
    for effect in effects:
        if effect.column and kinds.get(effect.column) is not effect.kind:
            continue
        indices = np.array([index_of_key.get(traits.key, -1) for traits in effect.metrics], np.intp)
        indices[[bool(traits.column) and traits.column not in kinds for traits in effect.metrics]] = -1
        values = effect.apply_to(np.where(indices >= 0, latest[indices], np.nan))
        columns = () if effect.column else past.schema.labels[:_MAX_VOLUME_COLUMNS]
        applied_effects.append(
            AppliedEffect(effect.column, effect.issues, indices[indices >= 0], values[:, indices >= 0], columns)
        )
    return applied_effects


def _volume_effect(past: Past) -> IssueEffect:
    """The effect of more or fewer rows: the row count and all sums change by the same factor."""
    metrics = tuple(each for each in past.metrics if each.is_plain and each.key.name in ("size", "sum"))
    factors = np.array([each.factor for each in VolumeChange.variants()])
    issues = tuple(str(each) for each in VolumeChange.variants())
    return IssueEffect("", None, issues, metrics, np.ones(len(metrics)), np.repeat(factors[:, None], len(metrics), 1))


def _other_days_effects(past: Past) -> list[IssueEffect]:
    """The effects of rows of other days: they show in the share of timestamps outside of the period."""
    kinds = {column.label: column.kind for column in past.schema.columns}
    outside = [each for each in past.metrics if each.key.name == OUTSIDE_PERIOD and each.column in kinds]
    return [
        IssueEffect(
            each.column, kinds[each.column], (OTHER_DAYS,), (each,), np.zeros(1), np.array([[OTHER_DAYS_SHARE]])
        )
        for each in outside
    ]


def _column_effect(
    past: Past, column: Column, metrics: tuple[MetricTraits, ...], samples: Mapping[str, pa.Array]
) -> IssueEffect:
    """Inject each issue into the sample of a column, and measure the column before and after."""
    clean_sample = samples[column.label]
    neighbour = _find_neighbour(past, column, samples)
    # Seeded by the label, so that the same past always gives the same program.
    rng = np.random.default_rng(zlib.crc32(column.label.encode("utf-8", "surrogatepass")))
    issues = [each for each in issues_of(column.kind) if neighbour is not None or not each[1].needs_neighbour]
    broken_samples = [issue.apply_to(clean_sample, rng, neighbour) for _, issue in issues]
    evaluators = [_evaluator_of(each) for each in metrics]
    clean_states = _fold_states(clean_sample, evaluators)
    clean = np.array(_evaluate_all(evaluators, clean_states, clean_states))
    broken_values = np.array(
        [_evaluate_all(evaluators, _fold_states(each, evaluators), clean_states) for each in broken_samples]
    )
    visible_shares = np.array([_visible_share(past, each) for each in metrics])
    broken_values = broken_values.reshape(len(broken_samples), -1) * visible_shares
    adds_nulls = np.array([isinstance(each, IncreasedNulls) and each.value == "null" for _, each in issues])
    is_completeness = np.array([each.key.name == "completeness" for each in metrics])
    # The values that real nulls leave over may look as before, so only completeness is sure to catch nulls.
    broken_values = np.where(adds_nulls[:, None] & ~is_completeness, clean, broken_values)
    names = (*(name for name, _ in issues), STALE)
    rows = np.vstack([broken_values, _stale_values(metrics, clean)])
    return IssueEffect(column.label, column.kind, names, metrics, clean, rows)


def _stale_values(metrics: Sequence[MetricTraits], clean: Floats) -> Floats:
    """The values if the column is the same as in the run before: only `unchanged` moves."""
    return np.where([each.key.name == "unchanged" for each in metrics], clean + 1.0, clean)


@cache
def issues_of(kind: Kind) -> tuple[tuple[str, Issue], ...]:
    """The issues to inject into a column, by name: those of the paper, which adds blanks and zeros, and real nulls."""
    nulls = (IncreasedNulls(share=share, value="null") for share in _NULL_SHARES)
    issues = dict.fromkeys((*standard(kind), *(each for each in nulls if kind in each.accepts)))
    return tuple((str(each), each) for each in issues if not each.of_rows)


def _find_neighbour(past: Past, column: Column, samples: Mapping[str, pa.Array]) -> pa.Array | None:
    """The sample of the next column of the same kind, after the last one the first; None if there is no other."""
    same_kind = [each.label for each in past.schema.columns if each.kind is column.kind and each.label in samples]
    if len(same_kind) < 2:
        return None
    return samples[same_kind[(same_kind.index(column.label) + 1) % len(same_kind)]]


def _visible_share(past: Past, traits: MetricTraits) -> float:
    """The share of rows whose value a distance between frequencies can see.

    Frequencies keep only frequent values. A sample of few rows keeps all of them, so a distance measured on it is too
    large by this factor.
    """
    if not traits.is_distance or _evaluator_of(traits).state_name != "frequent_values":
        return 1.0
    frequencies = past.states.get(MetricKey("frequent_values", traits.key.columns))
    if not isinstance(frequencies, Frequencies) or not frequencies.total:
        return 1.0
    return sum(frequencies.labels().values()) / frequencies.total


def _is_column_metric(traits: MetricTraits) -> bool:
    if traits.key.name == OUTSIDE_PERIOD:  # a sample of one batch does not tell it
        return False
    return traits.is_distance or issubclass(metric_named(traits.key.name), ColumnMetric)


class _Evaluator(NamedTuple):
    """What it takes to measure a metric or distance on a sample: its state, and a metric that folds that state."""

    state_name: str
    folding_metric: ColumnMetric[Any]
    metric: Any
    is_distance: bool


def _evaluator_of(traits: MetricTraits) -> _Evaluator:
    return _make_evaluator(traits.key.name, traits.is_distance)


@cache
def _make_evaluator(name: str, is_distance: bool) -> _Evaluator:
    metric: Any = distances()[name]("") if is_distance else metric_named(name)("")  # type: ignore[call-arg]
    # A distance cannot fold its state, but some metric folds the same one.
    folding_metric = next(
        metric_class("")
        for metric_class in metrics().values()
        if issubclass(metric_class, ColumnMetric)
        and metric_class.folded == metric.folded
        and not metric_class.fold_parameters
    )
    return _Evaluator(metric.folded, folding_metric, metric, is_distance)


def _fold_states(values: pa.Array, evaluators: Sequence[_Evaluator]) -> dict[str, State]:
    """The states of a sample that the evaluators read, by name."""
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
