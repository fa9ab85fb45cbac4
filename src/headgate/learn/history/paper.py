"""The bounds of Auto-Validate-by-History as the paper gives them: Algorithms 3 to 5 and Propositions 1 to 3."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from headgate.learn.issue_effects import Damaged
from headgate.learn.metric_traits import Measure
from headgate.learn.past import Past
from headgate.stats.stationarity import Transform, make_stationary
from headgate.stats.tails import cantelli, chebyshev, normal
from headgate.values.expectation import Expectation, Source
from headgate.values.predicate import Between
from headgate.values.proposal import IssueId, Proposal

Floats = npt.NDArray[np.float64]

REACHES = np.arange(1.0, 40.5, 0.5)  # in deviations: beta from sigma on; Chebyshev says 1 in 1,000 at 31.6
FEWEST = 4  # values that a transformed series needs for a mean and a deviation

_LATER = frozenset({"new_values", "new_patterns", "unchanged"})  # distances that the paper does not have


class Paper:
    """Estimated mean and deviation in bounds that hold for known ones; a constant history costs nothing.

    `stationary=False` leaves Algorithm 4 out, `distances=False` all two-distribution metrics: the paper's ablations.
    """

    def __init__(self, *, stationary: bool = True, distances: bool = True) -> None:
        self.stationary = stationary
        self.distances = distances

    def proposals(self, past: Past, damage: Sequence[Damaged]) -> Iterator[Proposal]:
        """Every metric that is or can be made stationary, with a band at each beta that catches something more."""
        caught = _caught(damage)
        for at, transform in enumerate(self._transforms(past)):
            measure = past.measures[at]
            if transform is not None and at in caught and self._knows(measure):
                yield from _of_measure(measure, past.values[:, at], transform, caught[at])

    def _knows(self, measure: Measure) -> bool:
        return not measure.distance or (self.distances and measure.key.name not in _LATER)

    def _transforms(self, past: Past) -> list[Transform | None]:
        """Of series with a value in every run (a distance has none in the first); others are left out."""
        found: list[Transform | None] = [None] * len(past.measures)
        if not found:
            return found
        for first in (0, 1):
            series = past.values[first:].T
            usable = np.isfinite(series).all(axis=1) & np.array(
                [each.distance == bool(first) for each in past.measures]
            )
            places = np.flatnonzero(usable)
            if not len(places):
                continue
            made = make_stationary(series[places]) if self.stationary else [Transform()] * len(places)
            for at, transform in zip(places.tolist(), made, strict=True):
                found[at] = transform
        return found


def _caught(damage: Sequence[Damaged]) -> dict[int, list[tuple[IssueId, float]]]:
    found: dict[int, list[tuple[IssueId, float]]] = {}
    for each in damage:
        for place, column in zip(each.places.tolist(), each.values.T.tolist(), strict=True):
            pairs = zip(each.ids, column, strict=True)
            found.setdefault(place, []).extend((issue, value) for befallen, value in pairs for issue in befallen)
    return found


def _of_measure(
    measure: Measure, series: Floats, transform: Transform, damaged: Sequence[tuple[IssueId, float]]
) -> Iterator[Proposal]:
    values = series[np.isfinite(series)]
    with np.errstate(over="ignore", invalid="ignore"):
        moved = transform.applied(values)
    moved = moved[np.isfinite(moved)]
    if len(moved) < FEWEST:
        return
    with np.errstate(over="ignore", invalid="ignore"):
        yield from _bands(measure, values, moved, transform, damaged)


def _bands(
    measure: Measure, values: Floats, moved: Floats, transform: Transform, damaged: Sequence[tuple[IssueId, float]]
) -> Iterator[Proposal]:
    steady = moved.max() == moved.min()
    mean, deviation = float(moved[0] if steady else moved.mean()), 0.0 if steady else float(moved.std(ddof=1))
    if not math.isfinite(mean) or not math.isfinite(deviation):
        return
    seen = np.array([value for _, value in damaged])
    last = 0
    for reach in REACHES[::-1].tolist() if deviation > 0 else (1.0,):
        ends = transform.restored((mean - reach * deviation, mean + reach * deviation), values)
        low, high = -math.inf if measure.distance else float(ends[0]), float(ends[1])
        out = (seen < low) | (seen > high)
        count = int(np.count_nonzero(out))
        if count > last and not math.isnan(low) and not math.isnan(high):
            last = count
            rate = float(_bound(measure, reach * deviation, deviation))
            predicate = Between(None if math.isinf(low) else low, None if math.isinf(high) else high, measure.moment)
            issues = frozenset(damaged[at][0] for at in np.flatnonzero(out).tolist())
            expected = Expectation(measure.key, predicate, Source.HISTORY, false_alarm=rate)
            yield Proposal(expected, issues, _note(transform, len(values)))


def _bound(measure: Measure, reach: float, deviation: float) -> Floats:
    """Proposition 2 for distances, 3 for what is a sum over rows, 1 for the rest."""
    if deviation == 0:
        return np.zeros(())
    if measure.distance:
        return cantelli(reach, deviation)
    return normal(reach, deviation) if measure.averaged else chebyshev(reach, deviation)


def _note(transform: Transform, runs: int) -> str:
    return str(transform) or f"{runs} runs"
