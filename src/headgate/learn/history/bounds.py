"""Bands around the forecast of every measure, each with the rate of false alarms that is stated for it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Protocol

import numpy as np
import numpy.typing as npt

from headgate.learn.history.forecast import Forecast, forecast_next
from headgate.learn.history.rates import false_alarm_rates
from headgate.learn.issue_effects import SEVERITIES, AppliedEffect
from headgate.learn.metric_traits import MetricTraits
from headgate.learn.past import Past
from headgate.learn.pooled_rates import PooledRates
from headgate.values.expectation import Expectation, Source
from headgate.values.predicate import Between, OneOf, Predicate
from headgate.values.proposal import IssueId, Proposal

Floats = npt.NDArray[np.float64]
BAND_WEIGHT = 0.3
"""Of the rate of a band, what counts in the sum: series of a table leave theirs together (docs/decisions/0026)."""
CONSTANT_BAND_WEIGHT = 2.5
"""The same for bands close around a constant: those that are bought, being cheap, are left more often than others."""
CLEAR_CHANGE = 10.0  # grains, a tenth of what is natural: beyond, a change of a constant is no accident
_UNCHANGED = "unchanged"  # two days may be equal by chance, in a column of few values or of numbers from 1 on
_EXACT_REACH = 1e-5  # scales below which a band is meant as equality
_WIDTH_DIGITS = 3  # of a band's width, beyond which its ends are rounded outwards


class Bounds(Protocol):
    """A way to turn a history into bands."""

    def propose_bands(self, past: Past, effects: Sequence[AppliedEffect]) -> Iterator[Proposal]: ...


class FiniteSampleBounds:
    """The default: predictive bands whose rate is the larger of a heavy tail's and of what many real series did.

    Bands that cost more than `dearest` are not proposed: no budget that is not larger can buy them.
    """

    def __init__(self, pooled_rates: PooledRates, max_cost: float = 1.0) -> None:
        self.pooled_rates = pooled_rates
        self.max_cost = max_cost

    def propose_bands(self, past: Past, effects: Sequence[AppliedEffect]) -> Iterator[Proposal]:
        """For each measure, the cheapest band for every set of issues that one of its bands catches."""
        forecast = forecast_next(past.values, past.metrics)
        rates = false_alarm_rates(forecast, past.metrics, self.pooled_rates)
        for at, caught in _surprises_by_metric(forecast, len(past.metrics), effects):
            yield from self._propose_for_metric(past.metrics[at], forecast, at, rates[at], caught)

    def _propose_for_metric(
        self,
        traits: MetricTraits,
        forecast: Forecast,
        index: int,
        rates: Floats,
        issue_surprises: Sequence[tuple[IssueId, float]],
    ) -> Iterator[Proposal]:
        most_caught = 0
        note = _format_note(forecast, index)
        surprises = np.sort([surprise for _, surprise in issue_surprises])
        counts_beyond = len(surprises) - np.searchsorted(surprises, self.pooled_rates.grid, side="right")
        for place in range(len(counts_beyond) - 1, -1, -1):  # the widest first
            reach, rate = self.pooled_rates.grid[place], float(rates[place])
            near_constant = forecast.constant[index] and (reach < CLEAR_CHANGE or traits.key.name == _UNCHANGED)
            weight = CONSTANT_BAND_WEIGHT if near_constant else BAND_WEIGHT
            if rate >= 1 or weight * rate > self.max_cost:
                break  # narrower ones cost no less
            if counts_beyond[place] == most_caught:
                continue
            predicate = _make_predicate(traits, *forecast.band_of(index, reach), bool(forecast.constant[index]), reach)
            rounded_reach = (
                reach if predicate is None else max(reach, forecast.reach_of(index, predicate.floor, predicate.ceiling))
            )
            issues = frozenset(issue for issue, surprise in issue_surprises if surprise > rounded_reach)
            if predicate is not None and len(issues) > most_caught:
                most_caught = len(issues)
                expectation = Expectation(traits.key, predicate, Source.HISTORY, false_alarm=rate)
                yield Proposal(expectation, issues, note, weight=weight)


def _surprises_by_metric(
    forecast: Forecast, metric_count: int, effects: Sequence[AppliedEffect]
) -> Iterator[tuple[int, list[tuple[IssueId, float]]]]:
    """For each measure that has a forecast, the issues that touch it and by how much they surprise."""
    found: dict[int, list[tuple[IssueId, float]]] = {}
    for each in effects:
        values = np.full((len(each.issues), metric_count), np.nan)
        values[:, each.metric_indices] = each.values
        surprise = forecast.surprise(values)[:, each.metric_indices]
        for share in SEVERITIES:
            issue_ids = (
                each.issue_ids if share == 1 else [_milder_issue_ids(share, befallen) for befallen in each.issue_ids]
            )
            for place, column in zip(each.metric_indices.tolist(), (share * surprise).T.tolist(), strict=True):
                found.setdefault(place, []).extend(
                    (issue, value)
                    for befallen, value in zip(issue_ids, column, strict=True)
                    if value > 0
                    for issue in befallen
                )
    yield from found.items()


def _milder_issue_ids(severity: float, issue_ids: tuple[IssueId, ...]) -> tuple[IssueId, ...]:
    return tuple((column, f"{severity:g} x {issue}") for column, issue in issue_ids)


def _make_predicate(traits: MetricTraits, low: float, high: float, constant: bool, reach: float) -> Predicate | None:
    """The band as people read it: rounded outwards, open where nothing can lie beyond; None if nothing can at all."""
    centre = (low + high) / 2
    if constant and reach < _EXACT_REACH and math.isfinite(centre) and centre == round(centre):
        return OneOf((float(round(centre)),), traits.is_timestamp)
    lowest = -math.inf if traits.signed else 0.0
    if high < lowest or low > traits.max_value:  # a trend that leads where no value can be says nothing
        return None
    low, high = round_outwards(low, high)
    bottom = low if math.isfinite(low) and low > lowest else None
    top = high if math.isfinite(high) and high < traits.max_value else None
    return None if bottom is None and top is None else Between(bottom, top, traits.is_timestamp)


def round_outwards(low: float, high: float) -> tuple[float, float]:
    """The ends of a band rounded outwards to three digits of its width.

    >>> round_outwards(979.314, 1040.228)
    (979.3, 1040.3)
    """
    width = high - low if math.isfinite(high - low) else abs(high if math.isfinite(high) else low)
    if not math.isfinite(width) or width <= 0:
        return low, high
    digits = _WIDTH_DIGITS - 1 - math.floor(math.log10(width))
    if abs(digits) > 300:
        return low, high
    step = 10.0**-digits
    down = low if not math.isfinite(low) else round(math.floor(low / step) * step, max(digits, 0))
    up = high if not math.isfinite(high) else round(math.ceil(high / step) * step, max(digits, 0))
    return min(down, low), max(up, high)


def _format_note(forecast: Forecast, index: int) -> str:
    if forecast.constant[index]:
        return f"equal in {forecast.runs[index]} runs"
    lag = int(forecast.lag[index])
    if lag == 0:
        return f"{forecast.runs[index]} runs"
    return "trend" if lag == 1 else f"{'weekly lag' if lag == 7 else 'lag'} {lag}"
