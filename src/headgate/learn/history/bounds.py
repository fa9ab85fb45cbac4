"""Bands around the forecast of every measure, each with the rate of false alarms that is stated for it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Protocol

import numpy as np
import numpy.typing as npt

from headgate.learn.history.forecast import Forecast, forecast
from headgate.learn.history.rates import costs
from headgate.learn.issue_effects import MILDER, Damaged
from headgate.learn.metric_traits import Measure
from headgate.learn.past import Past
from headgate.learn.pooled_rates import Tails
from headgate.values.expectation import Expectation, Source
from headgate.values.predicate import Between, OneOf, Predicate
from headgate.values.proposal import IssueId, Proposal

Floats = npt.NDArray[np.float64]
TOGETHER = 0.3
"""Of the rate of a band, what counts in the sum: series of a table leave theirs together (docs/decisions/0026)."""
ACCIDENT = 2.5
"""The same for bands close around a constant: those that are bought, being cheap, are left more often than others."""
FAR = 10.0  # grains, a tenth of what is natural: beyond, a change of a constant is no accident
_CHANCE = "unchanged"  # two days may be equal by chance, in a column of few values or of numbers from 1 on
_EXACT = 1e-5  # scales below which a band is meant as equality
_DIGITS = 3  # of a band's width, beyond which its ends are rounded outwards


class Bounds(Protocol):
    """A way to turn a history into bands."""

    def proposals(self, past: Past, damage: Sequence[Damaged]) -> Iterator[Proposal]: ...


class FiniteSample:
    """The default: predictive bands whose rate is the larger of a heavy tail's and of what many real series did.

    Bands that cost more than `dearest` are not proposed: no budget that is not larger can buy them.
    """

    def __init__(self, tails: Tails, dearest: float = 1.0) -> None:
        self.tails = tails
        self.dearest = dearest

    def proposals(self, past: Past, damage: Sequence[Damaged]) -> Iterator[Proposal]:
        """For each measure, the cheapest band for every set of issues that one of its bands catches."""
        made = forecast(past.values, past.measures)
        rates = costs(made, past.measures, self.tails)
        for at, caught in _surprises(made, len(past.measures), damage):
            yield from self._of_measure(past.measures[at], made, at, rates[at], caught)

    def _of_measure(
        self, measure: Measure, made: Forecast, at: int, rates: Floats, caught: Sequence[tuple[IssueId, float]]
    ) -> Iterator[Proposal]:
        last = 0
        note = _note(made, at)
        surprises = np.sort([surprise for _, surprise in caught])
        beyond = len(surprises) - np.searchsorted(surprises, self.tails.grid, side="right")
        for place in range(len(beyond) - 1, -1, -1):  # the widest first
            reach, rate = self.tails.grid[place], float(rates[place])
            accident = made.constant[at] and (reach < FAR or measure.key.name == _CHANCE)
            weight = ACCIDENT if accident else TOGETHER
            if rate >= 1 or weight * rate > self.dearest:
                break  # narrower ones cost no less
            if beyond[place] == last:
                continue
            predicate = _predicate(measure, *made.one(at, reach), bool(made.constant[at]), reach)
            wide = reach if predicate is None else max(reach, made.reach(at, predicate.floor, predicate.ceiling))
            issues = frozenset(issue for issue, surprise in caught if surprise > wide)
            if predicate is not None and len(issues) > last:
                last = len(issues)
                expectation = Expectation(measure.key, predicate, Source.HISTORY, false_alarm=rate)
                yield Proposal(expectation, issues, note, weight=weight)


def _surprises(
    made: Forecast, count: int, damage: Sequence[Damaged]
) -> Iterator[tuple[int, list[tuple[IssueId, float]]]]:
    """For each measure that has a forecast, the issues that touch it and by how much they surprise."""
    found: dict[int, list[tuple[IssueId, float]]] = {}
    for each in damage:
        values = np.full((len(each.issues), count), np.nan)
        values[:, each.places] = each.values
        surprise = made.surprise(values)[:, each.places]
        for share in MILDER:
            ids = each.ids if share == 1 else [_milder(share, befallen) for befallen in each.ids]
            for place, column in zip(each.places.tolist(), (share * surprise).T.tolist(), strict=True):
                found.setdefault(place, []).extend(
                    (issue, value)
                    for befallen, value in zip(ids, column, strict=True)
                    if value > 0
                    for issue in befallen
                )
    yield from found.items()


def _milder(share: float, befallen: tuple[IssueId, ...]) -> tuple[IssueId, ...]:
    return tuple((column, f"{share:g} x {issue}") for column, issue in befallen)


def _predicate(measure: Measure, low: float, high: float, constant: bool, reach: float) -> Predicate | None:
    """The band as people read it: rounded outwards, open where nothing can lie beyond; None if nothing can at all."""
    centre = (low + high) / 2
    if constant and reach < _EXACT and math.isfinite(centre) and centre == round(centre):
        return OneOf((float(round(centre)),), measure.moment)
    least = -math.inf if measure.signed else 0.0
    if high < least or low > measure.most:  # a trend that leads where no value can be says nothing
        return None
    low, high = rounded(low, high)
    bottom = low if math.isfinite(low) and low > least else None
    top = high if math.isfinite(high) and high < measure.most else None
    return None if bottom is None and top is None else Between(bottom, top, measure.moment)


def rounded(low: float, high: float) -> tuple[float, float]:
    """The ends of a band rounded outwards to three digits of its width.

    >>> rounded(979.314, 1040.228)
    (979.3, 1040.3)
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
