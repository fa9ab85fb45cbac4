"""Propose bands around the forecast of every metric, each with its stated false alarm rate."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
import numpy.typing as npt

from headgate.learn.history.coarse import CoarseLimits
from headgate.learn.history.forecast import Forecast, forecast_past
from headgate.learn.history.guards import GuardBands
from headgate.learn.history.noise import natural_scale
from headgate.learn.history.ranges import find_never_negative, find_widest_reaches, is_exact, make_range
from headgate.learn.history.rates import false_alarm_rates, find_record_rates
from headgate.learn.issue_effects import SEVERITIES, AppliedEffect
from headgate.learn.metric_traits import MetricTraits
from headgate.learn.past import Past
from headgate.learn.pooled_rates import PooledRates
from headgate.values.expectation import Expectation, Source
from headgate.values.predicate import Predicate
from headgate.values.proposal import IssueId, Proposal

Floats = npt.NDArray[np.float64]
BAND_WEIGHT = 0.3
"""The weight of a band's rate in the budget: metrics of a table leave their bands together (docs/decisions/0026)."""
CONSTANT_BAND_WEIGHT = 2.5
"""The weight of narrow bands around a constant.

Their stated rates are low, so the selection prefers them, and those that it chooses fail more often than stated."""
CLEAR_CHANGE = 0.1  # of the natural scale: a larger change of a constant is not by chance
_UNCHANGED = "unchanged"  # by chance, two runs may be equal in a column of few values or of numbers counted from 1


class Bounds(Protocol):
    """A way to propose bands for the metrics of a past."""

    def propose_bands(self, past: Past, effects: Sequence[AppliedEffect]) -> Iterator[Proposal]: ...

    def make_guards(self, past: Past, effects: Sequence[AppliedEffect]) -> GuardBands | None:
        """The bands that a table has whatever else the budget buys; None if there are none."""


class FiniteSampleBounds:
    """Bands from a forecast, the default; `false_alarm_rates` states their rates.

    No band is proposed that costs more than `max_cost`, which is the budget: it could not be chosen.
    """

    def __init__(self, pooled_rates: PooledRates, max_cost: float = 1.0) -> None:
        self.pooled_rates = pooled_rates
        self.max_cost = max_cost

    def propose_bands(self, past: Past, effects: Sequence[AppliedEffect]) -> Iterator[Proposal]:
        """For each metric, the widest band for every set of issues that one of its bands catches."""
        forecast = forecast_past(past)
        ranges = _Ranges.of(forecast, past.values, past.metrics)
        rates = false_alarm_rates(forecast, past.metrics, self.pooled_rates)
        rates = np.fmax(rates, find_record_rates(past.values, past.metrics)[:, None])
        for index, issue_surprises in _surprises_by_metric(forecast, len(past.metrics), effects):
            yield from self._propose_for_metric(ranges, index, rates[index], issue_surprises)

    def make_guards(self, past: Past, effects: Sequence[AppliedEffect]) -> GuardBands | None:
        """Guards of what the newest run has; the schema tells of columns that are gone."""
        values = np.where(np.isfinite(past.values[-1]), past.values, np.nan)
        forecast = forecast_past(replace(past, values=values))

        ranges = _Ranges.of(forecast, values, past.metrics)
        return GuardBands(
            forecast,
            CoarseLimits.of(values, past.metrics),
            len(past),
            past.metrics,
            self.pooled_rates,
            dict(_surprises_by_metric(forecast, len(past.metrics), effects)),
            ranges.make_range,
            ranges.widest,
            lambda index: _format_note(forecast, index),
        )

    def _propose_for_metric(
        self, ranges: _Ranges, index: int, rates: Floats, issue_surprises: Sequence[tuple[IssueId, float]]
    ) -> Iterator[Proposal]:
        """The bands of one metric, from the widest to the narrowest, each catching more issues than the one before."""
        most_caught = 0
        forecast, traits = ranges.forecast, ranges.metrics[index]
        surprises = np.sort([surprise for _, surprise in issue_surprises])
        counts_beyond = len(surprises) - np.searchsorted(surprises, self.pooled_rates.grid, side="right")
        for grid_index in range(len(counts_beyond) - 1, -1, -1):  # the widest band first
            reach, rate = self.pooled_rates.grid[grid_index], float(rates[grid_index])
            if reach > ranges.widest[index]:
                continue  # no reader believes so wide a range
            weight = CONSTANT_BAND_WEIGHT if ranges.is_near_constant(index, reach) else BAND_WEIGHT
            if rate >= 1 or weight * rate > self.max_cost:
                break  # narrower bands cost at least as much
            if counts_beyond[grid_index] == most_caught:
                continue  # it catches what the band before caught, at a higher cost
            predicate = ranges.make_range(index, forecast.band_of(index, reach), reach)
            # Rounding widened the band, so an issue just beyond the reach may now lie inside.
            rounded_reach = (
                reach if predicate is None else max(reach, forecast.reach_of(index, predicate.floor, predicate.ceiling))
            )
            issues = frozenset(issue for issue, surprise in issue_surprises if surprise > rounded_reach)
            if predicate is not None and len(issues) > most_caught:
                most_caught = len(issues)
                expectation = Expectation(traits.key, predicate, Source.HISTORY, false_alarm=rate)
                yield Proposal(expectation, issues, _format_note(forecast, index), weight=weight)


@dataclass(frozen=True)
class _Ranges:
    """What makes ranges of the bands of a forecast."""

    forecast: Forecast
    metrics: Sequence[MetricTraits]
    widest: Floats
    clear_change: Floats
    never_negative: npt.NDArray[np.bool_]

    @classmethod
    def of(cls, forecast: Forecast, values: Floats, metrics: Sequence[MetricTraits]) -> _Ranges:
        return cls(
            forecast,
            metrics,
            find_widest_reaches(forecast, values, metrics),
            CLEAR_CHANGE * natural_scale(values, metrics),
            find_never_negative(values, metrics),
        )

    def is_near_constant(self, index: int, reach: float) -> bool:
        """Whether the band is a narrow one around a constant."""
        if not self.forecast.constant[index]:
            return False
        change = reach * self.forecast.scale[0, index]
        return bool(change < self.clear_change[index] or self.metrics[index].key.name == _UNCHANGED)

    def make_range(self, index: int, band: tuple[float, float], reach: float) -> Predicate | None:
        return make_range(
            self.metrics[index],
            *band,
            exact=is_exact(bool(self.forecast.constant[index]), reach),
            never_negative=bool(self.never_negative[index]),
        )


def _surprises_by_metric(
    forecast: Forecast, metric_count: int, effects: Sequence[AppliedEffect]
) -> Iterator[tuple[int, list[tuple[IssueId, float]]]]:
    """For the index of each metric that issues move, these issues with the surprise of the value after each."""
    by_metric: dict[int, list[tuple[IssueId, float]]] = {}
    for effect in effects:
        values = np.full((len(effect.issues), metric_count), np.nan)
        values[:, effect.metric_indices] = effect.values
        surprise = forecast.surprise(values)[:, effect.metric_indices]
        for severity in SEVERITIES:
            ids_by_issue = effect.issue_ids_at(severity)
            scaled = (severity * surprise).T.tolist()
            for index, surprises in zip(effect.metric_indices.tolist(), scaled, strict=True):
                by_metric.setdefault(index, []).extend(
                    (issue_id, value)
                    for issue_ids, value in zip(ids_by_issue, surprises, strict=True)
                    if value > 0
                    for issue_id in issue_ids
                )
    yield from by_metric.items()


def _format_note(forecast: Forecast, index: int) -> str:
    if forecast.constant[index]:
        return f"equal in {forecast.runs[index]} runs"
    if season := int(forecast.season[index]):
        return forecast.phase_names[season - 1]
    return "trend" if forecast.trend[index] else f"{forecast.runs[index]} runs"
