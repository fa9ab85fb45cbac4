"""Remember what was accepted though it was surprising, however long ago: a batch that is like it is not held again.

What was accepted once does not become the baseline either. A single value far away counts no more than one at the
edge of what was expected, until later runs confirm it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import msgspec
import numpy as np
import numpy.typing as npt

from headgate.learn.copies import COPIES
from headgate.learn.history.program import SCHEMA_METRICS
from headgate.learn.history.rarity import is_rarity
from headgate.learn.metric_traits import is_distance
from headgate.learn.past import Past, numeric_values
from headgate.metrics.approx_count_distinct import ApproxCountDistinct
from headgate.metrics.base.registry import metrics
from headgate.metrics.size import Size
from headgate.values.expectation import Judgement, Source, Status
from headgate.values.key import MetricKey
from headgate.values.predicate import Between, OneOf, Predicate
from headgate.values.run import Run
from headgate.values.verdict import Verdict

Floats = npt.NDArray[np.float64]

MOST_REMEMBERED = 200
"""Accepted runs that are remembered, the newest."""
NEAREST, FARTHEST = 0.1, 0.25
"""How far a value may be from an accepted one, as shares of that: as far as the range reaches, within these two."""
FARTHER = 1.25
"""How many times as large as one that was accepted a distance may be."""
_EXACT = frozenset({*SCHEMA_METRICS, COPIES.name})  # what is free of ranges: nothing is near it
MIN_BEFORE = 3
"""Runs before a surprising one that tell from what it differs."""


@dataclass(frozen=True)
class SurprisingRun:
    """A run that was accepted though the values of some metrics were surprising."""

    partition: str
    values: Mapping[MetricKey, float]
    metrics: frozenset[MetricKey]
    expected: Mapping[MetricKey, Predicate] = field(default_factory=dict)
    """What was expected of each: the level at which its value was surprising."""

    @classmethod
    def of(cls, run: Run) -> SurprisingRun:
        """What was surprising in a run."""
        surprising = [each for each in run.verdict.judgements if _is_surprising(each)]
        expected = {each.expectation.metric: each.expectation.predicate for each in surprising}
        judged = {each.expectation.metric: each.value for each in surprising if each.value is not None}
        return cls(run.partition, {**numeric_values(run.outcomes), **judged}, frozenset(expected), expected)

    @property
    def columns(self) -> frozenset[str]:
        """The columns that were surprising; empty text for the table."""
        return frozenset(map(_column_of, self.metrics))


@dataclass(frozen=True)
class AcceptedSurprises:
    """The surprising runs of a dataset that a person accepted, oldest first."""

    runs: tuple[SurprisingRun, ...] = ()

    @classmethod
    def of(cls, runs: Iterable[Run]) -> AcceptedSurprises:
        """The surprising ones of accepted runs."""
        return cls(tuple(found for found in map(SurprisingRun.of, runs) if found.metrics))

    def find_last(self, column: str) -> str | None:
        """The partition of the newest surprise of a column that was accepted; of the table if it is empty."""
        return next((run.partition for run in reversed(self.runs) if column in run.columns), None)

    def excuse(self, verdict: Verdict) -> Verdict:
        """The verdict without the failures that an accepted run had alike.

        The newest such run counts that was surprising in all columns in which the batch fails, with values near those
        of the batch. What was not surprising in it counts only where it would be by now.
        """
        failures = [each for each in verdict.failures if each.expectation.source is Source.HISTORY]
        alike = next((run for run in reversed(self.runs) if _is_like(run, failures)), None) if failures else None
        if alike is None:
            return verdict
        excused = [_excuse(each, alike) if _is_learned_failure(each) else each for each in verdict.judgements]
        return Verdict(tuple(excused))


NOTHING_ACCEPTED = AcceptedSurprises()


def find_surprises(run: Run) -> frozenset[MetricKey]:
    """The metrics of a run whose values were outside of their learned ranges, also if that was excused."""
    return frozenset(each.expectation.metric for each in run.verdict.judgements if _is_surprising(each))


def find_excused(judgements: Iterable[Judgement]) -> list[Judgement]:
    """The judgements that passed because an accepted batch was alike: their values are outside of the ranges."""
    return [each for each in judgements if each.status is Status.PASS and _is_surprising(each)]


def _is_surprising(judgement: Judgement) -> bool:
    """Whether a value was outside of its range, also if that was excused, or skipped because rows explained it."""
    is_skipped = judgement.status is Status.SKIP and is_rarity(judgement.expectation.metric)
    is_judged = judgement.value is not None and (is_skipped or judgement.status in (Status.FAIL, Status.PASS))
    is_learned = judgement.expectation.source is Source.HISTORY and judgement.expectation.metric.name not in _EXACT
    return is_learned and is_judged and not judgement.expectation.predicate.holds(float(judgement.value or 0.0))


def bound_surprises(past: Past, runs: Sequence[Run]) -> Past:
    """The past in which no value of a surprising run is far from the runs before it.

    A batch that was accepted by mistake does not widen what is expected beyond belief: its values count as at most as
    far from those before as these lie apart. That goes for all metrics of the columns that were surprising, and for all
    metrics if the number of rows was. A value that the run after it confirms is a new level, and stays as it is.

    Args:
        past: The past of the runs.
        runs: The runs, oldest first.
    """
    bounded = past.values.copy()
    free = past.free_ranges
    for row, run in enumerate(runs):
        columns = {_column_of(metric) for metric in find_surprises(run)}
        for index, traits in enumerate(past.metrics) if columns else ():
            is_surprising = "" in columns or traits.column in columns
            is_comparable = traits.key in past.shifted or not traits.is_timestamp
            if is_surprising and is_comparable and index not in free:
                bounded[row, index] = _bound_value(bounded[:, index], row)
    return replace(past, values=bounded)


def find_usual_run(runs: Sequence[Run]) -> Run | None:
    """The newest run that was not surprising, if the newest run was: the next batch may be like either."""
    if not runs or not find_surprises(runs[-1]):
        return None
    return next((each for each in reversed(runs[:-1]) if not find_surprises(each)), None)


def _is_like(run: SurprisingRun, failures: Sequence[Judgement]) -> bool:
    rows = next((each for each in failures if each.expectation.metric == Size().key), None)
    return all(
        (_column_of(each.expectation.metric) in run.columns and _has_alike(run, each)) or _follows_rows(each, rows)
        for each in failures
    )


def _follows_rows(failure: Judgement, rows: Judgement | None) -> bool:
    """Whether another number of rows, which failed, explains the value of a metric.

    A sum or a number of different values moves as the rows do, or less far. What depends on the rows and does not grow
    with them, such as the share of values that occur once, moves less than half as far. Rows that were loaded twice
    move it farther.
    """
    if rows is None or rows is failure:
        return False
    kind, move, rows_move = metrics().get(failure.expectation.metric.name), _find_move(failure), _find_move(rows)
    if kind is None or move is None or rows_move is None:
        return False
    if kind.additive or kind is ApproxCountDistinct:
        tolerances = (_find_tolerance(each.expectation.predicate) for each in (failure, rows))
        slack = math.log1p(_limit_tolerance(max(tolerances)))
        return move * rows_move >= 0 and abs(move) <= abs(rows_move) + slack
    return kind.moves_with_rows and abs(move) <= abs(rows_move) / 2


def _find_move(failure: Judgement) -> float | None:
    """How far a value is from the middle of its range, or from its one end, as the logarithm of a factor.

    None if no factor tells it, or if the range is a single value.
    """
    ends = [each for each in (failure.expectation.predicate.floor, failure.expectation.predicate.ceiling) if each]
    if not failure.value or failure.value < 0 or not ends or min(ends) <= 0 or len({*ends}) < len(ends):
        return None
    return math.log(failure.value * len(ends) / sum(ends))


def _has_alike(run: SurprisingRun, failure: Judgement) -> bool:
    """Whether the run was or would be surprising as well, with a value near that of the batch.

    A table that grows has month ends that grow along. So a value is near, too, if it is as many times what is expected
    now as the accepted one was of what was expected then. A timestamp is never near.
    """
    metric, predicate = failure.expectation.metric, failure.expectation.predicate
    accepted = run.values.get(metric)
    if accepted is None or failure.value is None or _is_of_time(predicate):
        return False
    if metric not in run.metrics and predicate.holds(accepted):
        return False
    if is_distance(metric):
        return failure.value <= FARTHER * accepted
    if abs(failure.value - accepted) <= _limit_tolerance(_find_tolerance(predicate)) * abs(accepted):
        return True
    return metric in run.expected and _is_in_proportion(failure.value, predicate, accepted, run.expected[metric])


def _is_in_proportion(value: float, now: Predicate, accepted: float, then: Predicate) -> bool:
    """Whether two values are about as many times the middles of two ranges, as exactly as the wider one tells."""
    if not (_is_above_zero(now) and _is_above_zero(then)):
        return False
    ratio, accepted_ratio = value / _find_middle(now), accepted / _find_middle(then)
    tolerance = _limit_tolerance(max(_find_tolerance(now), _find_tolerance(then)))
    return abs(ratio - accepted_ratio) <= tolerance * accepted_ratio


def _is_above_zero(predicate: Predicate) -> bool:
    """Whether a range has two ends, both above zero."""
    return predicate.floor is not None and predicate.ceiling is not None and predicate.floor > 0


def _find_middle(predicate: Predicate) -> float:
    return ((predicate.floor or 0.0) + (predicate.ceiling or 0.0)) / 2


def _find_tolerance(predicate: Predicate) -> float:
    """How far a range reaches from its middle, as a share of that: values of another level vary in proportion."""
    low, high = predicate.floor, predicate.ceiling
    if low is None or high is None or not low + high:
        return 0.0
    return (high - low) / abs(low + high)


def _limit_tolerance(tolerance: float) -> float:
    return min(max(tolerance, NEAREST), FARTHEST)


def _is_of_time(predicate: Predicate) -> bool:
    return isinstance(predicate, Between | OneOf) and predicate.moments


def _is_learned_failure(judgement: Judgement) -> bool:
    return judgement.status is Status.FAIL and judgement.expectation.source in (Source.HISTORY, Source.NOVELTY)


def _excuse(judgement: Judgement, alike: SurprisingRun) -> Judgement:
    reason = f"{judgement.reason}; as in {alike.partition}, which was accepted"
    return msgspec.structs.replace(judgement, status=Status.PASS, reason=reason)


def _column_of(metric: MetricKey) -> str:
    return metric.columns[0] if metric.columns else ""


def _bound_value(series: Floats, row: int) -> float:
    """The value of a run, moved towards those before unless the next one confirms it, or few are before."""
    value, before, after = float(series[row]), _known(series[:row]), _known(series[row + 1 :])
    if len(before) < MIN_BEFORE or not math.isfinite(value):
        return value
    if len(after) and abs(after[0] - value) < abs(after[0] - np.median(before)):
        return value
    low, high = float(before.min()), float(before.max())
    return min(max(value, 2 * low - high), 2 * high - low)


def _known(values: Floats) -> Floats:
    return values[np.isfinite(values)]
