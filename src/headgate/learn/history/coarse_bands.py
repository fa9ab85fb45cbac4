"""Propose coarse limits while a table has few runs or few rows, and that numbers stay finite.

What coarse limits cost is stated for the table, not for each: how often, in good runs of other tables, the one that is
left the farthest is left by so much.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import msgspec
import numpy as np
import numpy.typing as npt

from headgate.learn.history.coarse import LEAST_FACTOR, CoarseLimits
from headgate.learn.history.forecast import MIN_RUNS, Forecast, forecast_past
from headgate.learn.history.noise import find_rows
from headgate.learn.history.ranges import FEW_ROWS, FEW_RUNS, find_never_negative, make_range
from headgate.learn.past import Past
from headgate.learn.pooled_rates import COARSE, PooledRates
from headgate.values.expectation import Expectation, Source
from headgate.values.key import MetricKey
from headgate.values.predicate import Between, OneOf
from headgate.values.proposal import Proposal

Flags = npt.NDArray[np.bool_]

COARSE_NOTE = "a coarse limit"
_COUNT = "approx_count_distinct"
_FINITENESS = "finiteness"
_ALL = OneOf((1.0,))


@dataclass(frozen=True)
class CoarseBands:
    """The coarse limits of a table, before a budget says how narrow they may be."""

    past: Past
    limits: CoarseLimits
    forecast: Forecast
    few: Flags
    never_negative: Flags
    pooled_rates: PooledRates
    is_learned: Callable[[MetricKey], bool] = lambda _: True

    @classmethod
    def of(
        cls, past: Past, pooled_rates: PooledRates, is_learned: Callable[[MetricKey], bool] = lambda _: True
    ) -> CoarseBands:
        """The limits of what the newest run has; the schema tells of columns that are gone.

        Args:
            past: The runs.
            pooled_rates: How often something is so many times less or more than before.
            is_learned: Whether a metric counts.
        """
        values = np.where(np.isfinite(past.values[-1]), past.values, np.nan)
        few = (len(past) < FEW_RUNS) | (find_rows(values, past.metrics) < FEW_ROWS)
        return cls(
            past,
            CoarseLimits.of(values, past.metrics),
            forecast_past(replace(past, values=values)),
            few,
            find_never_negative(values, past.metrics),
            pooled_rates,
            is_learned,
        )

    def choose(self, budget: float) -> list[Proposal]:
        """The narrowest limits that the budget pays for."""
        rates = self.pooled_rates.table_rates(COARSE, len(self.past)).tolist()
        for factor, rate in zip(self.pooled_rates.grid, rates, strict=True):
            if factor >= LEAST_FACTOR and rate <= budget:
                return self._choose_learned(self._propose(factor, rate))
        return []

    def propose_finite(self) -> list[Proposal]:
        """Expect that no number is NaN or infinite, of columns in which none ever was.

        It is not counted in the budget: after 28 runs or more without one, none of 15,258 values of real feeds was the
        first (docs/methods/evidence.md).
        """
        finite = [
            Proposal(
                Expectation(traits.key, _ALL, Source.HISTORY, false_alarm=0.0),
                note=f"finite in {self.forecast.runs[index]} runs",
            )
            for index, traits in enumerate(self.past.metrics)
            if traits.is_plain and traits.key.name == _FINITENESS and self._was_always_one(index)
        ]
        return self._choose_learned(finite) if len(self.past) >= MIN_RUNS else []

    def _choose_learned(self, proposals: Iterable[Proposal]) -> list[Proposal]:
        return [each for each in proposals if self.is_learned(each.expectation.metric)]

    def _was_always_one(self, index: int) -> bool:
        return bool(self.forecast.constant[index]) and float(self.forecast.centre[0, index]) == 1.0

    def _is_of_numbered_rows(self, index: int) -> bool:
        """Whether it is the mean of whole numbers that are unique: rows are numbered, and the numbers grow."""
        traits = self.past.metrics[index]
        if traits.key.name != "mean":
            return False
        of_column = {each.key.name: at for at, each in enumerate(self.past.metrics) if each.column == traits.column}
        is_unique = "unique_ratio" in of_column and of_column["unique_ratio"] in self.limits.indices
        return is_unique and _FINITENESS not in of_column

    def _propose(self, factor: float, rate: float) -> Iterator[Proposal]:
        indices, runs = self.limits.indices, len(self.past)
        note = f"{COARSE_NOTE}: {factor:,.0f} times less or more than in {runs} run{'s' * (runs > 1)}"
        for index in indices:
            low, high = self.limits.band_of(index, factor)
            if self.past.metrics[index].key.name == _COUNT and low <= 1:
                continue  # every column with a value has one
            if not self.few[index]:
                continue  # there are enough runs to say what is usual, and it is narrower
            if self._is_of_numbered_rows(index):
                continue  # a new number of another order of magnitude is no fault
            predicate = make_range(self.past.metrics[index], low, high, never_negative=bool(self.never_negative[index]))
            if predicate is not None:
                expectation = Expectation(self.past.metrics[index].key, predicate, Source.HISTORY, false_alarm=rate)
                yield Proposal(expectation, note=note, weight=1 / len(indices))


def narrow_by_coarse(chosen: Sequence[Proposal], limits: Sequence[Proposal]) -> list[Proposal]:
    """The chosen proposals and the coarse limits; of a metric that has both, what is within both."""
    narrowed = {each.family: each for each in chosen}
    for limit in limits:
        band = narrowed.get(limit.family)
        narrowed[limit.family] = limit if band is None else _narrow_band(band, limit)
    return list(narrowed.values())


def _narrow_band(band: Proposal, limit: Proposal) -> Proposal:
    """The band without what is beyond the limit."""
    inner, outer = band.expectation.predicate, limit.expectation.predicate
    if not isinstance(inner, Between) or not isinstance(outer, Between):
        return band
    lows, highs = ([end for end in ends if end is not None] for ends in zip(_ends(inner), _ends(outer), strict=True))
    low, high = max(lows, default=None), min(highs, default=None)
    if (low, high) == _ends(inner) or (low is not None and high is not None and low > high):
        return band
    rate = (band.cost + limit.cost) / band.weight
    expectation = msgspec.structs.replace(
        band.expectation, predicate=Between(low, high, inner.moments), false_alarm=rate
    )
    return msgspec.structs.replace(band, expectation=expectation)


def _ends(range_: Between) -> tuple[float | None, float | None]:
    return range_.low, range_.high
