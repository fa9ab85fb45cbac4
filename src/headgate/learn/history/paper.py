"""The bounds of Auto-Validate-by-History as the paper gives them: Algorithms 3 to 5 and Propositions 1 to 3."""

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

REACHES = np.arange(1.0, 40.5, 0.5)  # in deviations: beta from sigma on; Chebyshev says 1 in 1,000 at 31.6
MIN_VALUES = 4  # values that a transformed series needs for a mean and a deviation

_NOT_IN_PAPER = frozenset({"new_values", "new_patterns", "unchanged"})  # distances that the paper does not have


class PaperBounds:
    """Estimated mean and deviation in bounds that hold for known ones; a constant history costs nothing.

    `stationary=False` leaves Algorithm 4 out, `distances=False` all two-distribution metrics: the paper's ablations.
    """

    def __init__(self, *, stationary: bool = True, distances: bool = True) -> None:
        self.stationary = stationary
        self.distances = distances

    def propose_bands(self, past: Past, effects: Sequence[AppliedEffect]) -> Iterator[Proposal]:
        """Every metric that is or can be made stationary, with a band at each beta that catches something more."""
        values_by_metric = _issue_values_by_metric(effects)
        for at, transform in enumerate(self._find_transforms(past)):
            measure = past.metrics[at]
            if transform is not None and at in values_by_metric and self._has_metric(measure):
                yield from _propose_for_metric(measure, past.values[:, at], transform, values_by_metric[at])

    def _has_metric(self, traits: MetricTraits) -> bool:
        return not traits.is_distance or (self.distances and traits.key.name not in _NOT_IN_PAPER)

    def _find_transforms(self, past: Past) -> list[Transform | None]:
        """Of series with a value in every run (a distance has none in the first); others are left out."""
        found: list[Transform | None] = [None] * len(past.metrics)
        if not found:
            return found
        for first in (0, 1):
            series = past.values[first:].T
            usable = np.isfinite(series).all(axis=1) & np.array(
                [each.is_distance == bool(first) for each in past.metrics]
            )
            indices = np.flatnonzero(usable)
            if not len(indices):
                continue
            transforms = make_stationary(series[indices]) if self.stationary else [Transform()] * len(indices)
            for at, transform in zip(indices.tolist(), transforms, strict=True):
                found[at] = transform
        return found


def _issue_values_by_metric(effects: Sequence[AppliedEffect]) -> dict[int, list[tuple[IssueId, float]]]:
    found: dict[int, list[tuple[IssueId, float]]] = {}
    for each in effects:
        for place, column in zip(each.metric_indices.tolist(), each.values.T.tolist(), strict=True):
            pairs = zip(each.issue_ids, column, strict=True)
            found.setdefault(place, []).extend((issue, value) for befallen, value in pairs for issue in befallen)
    return found


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
    mean, deviation = (
        float(transformed[0] if is_constant else transformed.mean()),
        0.0 if is_constant else float(transformed.std(ddof=1)),
    )
    if not math.isfinite(mean) or not math.isfinite(deviation):
        return
    broken_values = np.array([value for _, value in issue_values])
    most_caught = 0
    for reach in REACHES[::-1].tolist() if deviation > 0 else (1.0,):
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
            issues = frozenset(issue_values[at][0] for at in np.flatnonzero(is_outside).tolist())
            expected = Expectation(traits.key, predicate, Source.HISTORY, false_alarm=rate)
            yield Proposal(expected, issues, _format_note(transform, len(values)))


def _false_alarm_bound(traits: MetricTraits, reach: float, deviation: float) -> Floats:
    """Proposition 2 for distances, 3 for what is a sum over rows, 1 for the rest."""
    if deviation == 0:
        return np.zeros(())
    if traits.is_distance:
        return cantelli(reach, deviation)
    return normal(reach, deviation) if traits.averaged else chebyshev(reach, deviation)


def _format_note(transform: Transform, runs: int) -> str:
    return str(transform) or f"{runs} runs"
