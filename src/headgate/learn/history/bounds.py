"""Bands around the forecast of every measure, each with the rate of false alarms that is stated for it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Protocol

import numpy as np
import numpy.typing as npt

from headgate.learn.history.damage import Damaged
from headgate.learn.history.forecast import Forecast, forecast
from headgate.learn.history.measure import Measure
from headgate.learn.history.past import Past
from headgate.learn.history.tails import Tails, costs
from headgate.values.expectation import Expectation, Source
from headgate.values.predicate import Between, OneOf, Predicate
from headgate.values.proposal import IssueId, Proposal

Floats = npt.NDArray[np.float64]
_EXACT = 1e-5  # scales below which a band is meant as equality
_DIGITS = 2  # of a band's width, beyond which its ends are rounded outwards


class Bounds(Protocol):
    """A way to turn a history into bands."""

    def proposals(self, past: Past, damage: Sequence[Damaged]) -> Iterator[Proposal]: ...


class FiniteSample:
    """The default: predictive bands whose rate is the larger of a heavy tail's and of what many real series did."""

    def __init__(self, tails: Tails) -> None:
        self.tails = tails

    def proposals(self, past: Past, damage: Sequence[Damaged]) -> Iterator[Proposal]:
        """For each measure, the cheapest band for every set of issues that one of its bands catches."""
        made = forecast(past.values, past.measures)
        rates = costs(made, past.measures, self.tails)
        for at, caught in _surprises(made, len(past.measures), damage):
            yield from self._of_measure(past.measures[at], made, at, rates[at], caught)

    def _of_measure(
        self, measure: Measure, made: Forecast, at: int, rates: Floats, caught: Sequence[tuple[IssueId, float]]
    ) -> Iterator[Proposal]:
        last = frozenset[IssueId]()
        for reach, rate in zip(self.tails.grid[::-1], rates[::-1], strict=True):  # the widest first
            issues = frozenset(issue for issue, surprise in caught if surprise > reach)
            if len(issues) == len(last) or rate >= 1:
                continue
            last = issues
            low, high = made.band(reach)
            predicate = _predicate(measure, float(low[at]), float(high[at]), bool(made.constant[at]), reach)
            if predicate is not None:
                expected = Expectation(measure.key, predicate, Source.HISTORY, false_alarm=float(rate))
                yield Proposal(expected, issues, _note(made, at))


def _surprises(
    made: Forecast, count: int, damage: Sequence[Damaged]
) -> Iterator[tuple[int, list[tuple[IssueId, float]]]]:
    """For each measure that has a forecast, the issues that touch it and by how much they surprise."""
    found: dict[int, list[tuple[IssueId, float]]] = {}
    for each in damage:
        values = np.full((len(each.issues), count), np.nan)
        values[:, each.places] = each.values
        surprise = made.surprise(values)[:, each.places]
        ids = [(each.column, issue) for issue in each.issues]
        for place, column in zip(each.places.tolist(), surprise.T.tolist(), strict=True):
            found.setdefault(place, []).extend(
                (issue, value) for issue, value in zip(ids, column, strict=True) if value > 0
            )
    yield from found.items()


def _predicate(measure: Measure, low: float, high: float, constant: bool, reach: float) -> Predicate | None:
    """The band as people read it: rounded outwards, open where nothing can lie beyond; None if nothing can at all."""
    centre = (low + high) / 2
    if constant and reach < _EXACT and math.isfinite(centre) and centre == round(centre) and not measure.distance:
        return OneOf((float(round(centre)),), measure.moment)
    least = -math.inf if measure.signed else 0.0
    bottom, top = rounded(low, high)
    bottom_open = measure.distance or bottom <= least
    top_open = not math.isfinite(top) or (measure.share and top >= 1.0)
    if not math.isfinite(bottom):
        bottom_open = True
    if bottom_open and top_open:
        return None
    return Between(None if bottom_open else bottom, None if top_open else top, measure.moment)


def rounded(low: float, high: float) -> tuple[float, float]:
    """The ends of a band rounded outwards to two digits of its width.

    >>> rounded(979.31, 1040.22)
    (979.0, 1041.0)
    """
    width = high - low if math.isfinite(high - low) else abs(high if math.isfinite(high) else low)
    if not math.isfinite(width) or width <= 0:
        return low, high
    digits = _DIGITS - 1 - math.floor(math.log10(width))
    if abs(digits) > 300:
        return low, high
    step = 10.0**-digits
    down = low if not math.isfinite(low) else round(math.floor(low / step) * step, max(digits, 0))
    up = high if not math.isfinite(high) else round(math.ceil(high / step) * step, max(digits, 0))
    return min(down, low), max(up, high)


def _note(made: Forecast, at: int) -> str:
    if made.constant[at]:
        return f"equal in {made.runs[at]} runs"
    lag = int(made.lag[at])
    if lag == 0:
        return f"{made.runs[at]} runs"
    return "trend" if lag == 1 else f"{'weekly lag' if lag == 7 else 'lag'} {lag}"
