"""Propose bands as the paper Auto-Validate-by-History (AVH) does: Algorithms 3 to 5 and Propositions 1 to 3."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from headgate.learn.issue_effects import AppliedEffect
from headgate.learn.metric_traits import MetricTraits
from headgate.learn.past import Past
from headgate.stats.stationarity import Transform, make_stationary
from headgate.stats.tails import cantelli, chebyshev, normal
from headgate.values.expectation import Expectation, Source
from headgate.values.predicate import Between
from headgate.values.proposal import IssueId, Proposal

Floats = npt.NDArray[np.float64]

REACHES = np.arange(1.0, 40.5, 0.5)  # the paper's beta, in standard deviations; Chebyshev's bound is 0.001 at 31.6
MIN_VALUES = 4  # values of a transformed series below which it gets no band

_NOT_IN_PAPER = frozenset({"new_values", "new_patterns", "unchanged"})


class PaperBounds:
    """Bands from estimates of mean and deviation, with the rates that bounds give for known mean and deviation.

    The band of a constant series costs nothing. `stationary=False` leaves out Algorithm 4 and `distances=False` leaves
    out all metrics of two distributions, as in the paper's ablations.
    """

    def __init__(self, *, stationary: bool = True, distances: bool = True) -> None:
        self.stationary = stationary
        self.distances = distances

    def propose_bands(self, past: Past, effects: Sequence[AppliedEffect]) -> Iterator[Proposal]:
        """For each metric that a transform makes stationary, a band at each beta that catches more than wider ones."""
        values_by_metric = _issue_values_by_metric(effects)
        for index, transform in enumerate(self._find_transforms(past)):
            traits = past.metrics[index]
            if transform is not None and index in values_by_metric and self._has_metric(traits):
                yield from _propose_for_metric(traits, past.values[:, index], transform, values_by_metric[index])

    def _has_metric(self, traits: MetricTraits) -> bool:
        return not traits.is_distance or (self.distances and traits.key.name not in _NOT_IN_PAPER)

    def _find_transforms(self, past: Past) -> list[Transform | None]:
        """For each metric the transform that makes its series stationary; None if there is none or a value is missing.

        A distance compares a run with earlier ones, so its series starts at the second run.
        """
        found_transforms: list[Transform | None] = [None] * len(past.metrics)
        if not found_transforms:
            return found_transforms
        for first in (0, 1):
            series = past.values[first:].T
            usable = np.isfinite(series).all(axis=1) & np.array(
                [each.is_distance == bool(first) for each in past.metrics]
            )
            indices = np.flatnonzero(usable)
            if not len(indices):
                continue
            transforms = make_stationary(series[indices]) if self.stationary else [Transform()] * len(indices)
            for index, transform in zip(indices.tolist(), transforms, strict=True):
                found_transforms[index] = transform
        return found_transforms


def _issue_values_by_metric(effects: Sequence[AppliedEffect]) -> dict[int, list[tuple[IssueId, float]]]:
    """For the index of each metric that issues move, these issues with the value after each."""
    by_metric: dict[int, list[tuple[IssueId, float]]] = {}
    for effect in effects:
        for index, values in zip(effect.metric_indices.tolist(), effect.values.T.tolist(), strict=True):
            pairs = zip(effect.issue_ids, values, strict=True)
            by_metric.setdefault(index, []).extend((issue, value) for issue_ids, value in pairs for issue in issue_ids)
    return by_metric


def _propose_for_metric(
    traits: MetricTraits, series: Floats, transform: Transform, issue_values: Sequence[tuple[IssueId, float]]
) -> Iterator[Proposal]:
    values = series[np.isfinite(series)]
    with np.errstate(over="ignore", invalid="ignore"):
        transformed = transform.apply(values)
    transformed = transformed[np.isfinite(transformed)]
    if len(transformed) < MIN_VALUES:
        return
    with np.errstate(over="ignore", invalid="ignore"):
        yield from _propose_bands(traits, values, transformed, transform, issue_values)


def _propose_bands(
    traits: MetricTraits,
    values: Floats,
    transformed: Floats,
    transform: Transform,
    issue_values: Sequence[tuple[IssueId, float]],
) -> Iterator[Proposal]:
    is_constant = transformed.max() == transformed.min()
    # Of a constant series, rounding errors could give another mean than its value and a deviation above 0.
    mean = float(transformed[0] if is_constant else transformed.mean())
    deviation = 0.0 if is_constant else float(transformed.std(ddof=1))
    if not math.isfinite(mean) or not math.isfinite(deviation):
        return
    broken_values = np.array([value for _, value in issue_values])
    most_caught = 0
    for reach in REACHES[::-1].tolist() if deviation > 0 else (1.0,):  # the widest band first
        ends = transform.invert_range((mean - reach * deviation, mean + reach * deviation), values)
        low, high = -math.inf if traits.is_distance else float(ends[0]), float(ends[1])
        is_outside = (broken_values < low) | (broken_values > high)
        count = int(np.count_nonzero(is_outside))
        if count > most_caught and not math.isnan(low) and not math.isnan(high):
            most_caught = count
            rate = float(_false_alarm_bound(traits, reach * deviation, deviation))
            predicate = Between(
                None if math.isinf(low) else low, None if math.isinf(high) else high, traits.is_timestamp
            )
            issues = frozenset(issue_values[index][0] for index in np.flatnonzero(is_outside).tolist())
            expectation = Expectation(traits.key, predicate, Source.HISTORY, false_alarm=rate)
            yield Proposal(expectation, issues, _format_note(transform, len(values)))


def _false_alarm_bound(traits: MetricTraits, reach: float, deviation: float) -> Floats:
    """Proposition 2 for distances, Proposition 3 for sums and means over rows, Proposition 1 for the rest."""
    if deviation == 0:
        return np.zeros(())
    if traits.is_distance:
        return cantelli(reach, deviation)
    return normal(reach, deviation) if traits.averaged else chebyshev(reach, deviation)


def _format_note(transform: Transform, runs: int) -> str:
    return str(transform) or f"{runs} runs"
