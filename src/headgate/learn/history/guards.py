"""Bands that every table has, whatever else the budget buys: of its rows, nulls, keys, times and finite numbers.

What they cost is stated for the table, not for each band: how often, in good runs of other tables, the band that is
left the farthest is left by so much. So a table of many columns does not pay for each of them. A table that has too few
runs for ranges has coarse limits, and later those that are narrower than its ranges.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from headgate.learn.history.coarse import LEAST_FACTOR, CoarseLimits
from headgate.learn.history.forecast import Forecast
from headgate.learn.history.guarded_metrics import Guard, Indices, find_guarded
from headgate.learn.metric_traits import MetricTraits
from headgate.learn.pooled_rates import PooledRates
from headgate.values.expectation import Expectation, Source
from headgate.values.key import MetricKey
from headgate.values.predicate import OneOf, Predicate
from headgate.values.proposal import IssueId, Proposal

Floats = npt.NDArray[np.float64]

LEAST_KEY_CHANGE = 0.04
"""No guard of keys is narrower: new keys are counted by a sketch, whose error the same keys do not show every day."""
LEAST_PERIOD_CHANGE = 0.003
"""No guard of the period is narrower: a few late rows of a thousand timestamps are usual somewhere."""
COARSE_NOTE = "a coarse limit"
_LEAST_CHANGES = {Guard.KEYS: LEAST_KEY_CHANGE, Guard.PERIOD: LEAST_PERIOD_CHANGE}
_ONE_END = 2.0  # how many times as far from the centre a single end may be as each of two
_COUNT = "approx_count_distinct"
_FINITENESS = "finiteness"
_ALL = OneOf((1.0,))
SHARES = {
    Guard.ROWS: 0.186,
    Guard.NULLS: 0.08,
    Guard.COMPLETE: 0.16,
    Guard.KEYS: 0.035,
    Guard.NEWEST: 0.05,
    Guard.PERIOD: 0.034,
    Guard.COARSE: 0.148,
}
"""The share of the budget that is set aside for each guard."""
GUARD_SHARE = sum(SHARES.values())
"""The share of the budget that is set aside for all guards."""


@dataclass(frozen=True)
class GuardBands:
    """The guards of a table, before a budget says how narrow they may be."""

    forecast: Forecast
    coarse_limits: CoarseLimits
    runs: int
    metrics: Sequence[MetricTraits]
    pooled_rates: PooledRates
    issue_surprises: Mapping[int, Sequence[tuple[IssueId, float]]]
    make_predicate: Callable[[int, tuple[float, float], float], Predicate | None]
    widest: Floats
    make_note: Callable[[int], str]
    is_learned: Callable[[MetricKey], bool] = lambda _: True
    _guarded: tuple[tuple[Guard, Indices], ...] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_guarded", tuple(find_guarded(self.forecast, self.metrics)))

    def choose(self, budget: float) -> list[Proposal]:
        """The narrowest bands that the part of the budget that is set aside pays for."""
        proposals: list[Proposal] = []
        for guard, indices in self._guarded:
            found = self._find_affordable(guard.curve, SHARES[guard] * budget)
            if found is not None:
                believed = self._choose_believed(guard, indices, found[0])
                proposals += [self._propose(*each, found[1], 1 / len(believed)) for each in believed]
        return self._choose_learned([*proposals, *self._propose_finite()])

    def choose_coarse(self, budget: float) -> list[Proposal]:
        """The coarse limits. While there are no other guards they may use all that is set aside."""
        share = SHARES[Guard.COARSE] if self._guarded else GUARD_SHARE
        found = self._find_affordable(Guard.COARSE.curve, share * budget, LEAST_FACTOR)
        return [] if found is None else self._choose_learned(self._propose_coarse(*found))

    def _choose_learned(self, proposals: Iterable[Proposal]) -> list[Proposal]:
        return [each for each in proposals if self.is_learned(each.expectation.metric)]

    def _find_affordable(self, curve: str, budget: float, least: float = 0.0) -> tuple[float, float] | None:
        """The smallest reach that the budget pays for, and its rate."""
        rates = self.pooled_rates.table_rates(curve, self.runs)
        for reach, rate in zip(self.pooled_rates.grid, rates.tolist(), strict=True):
            if reach >= least and rate <= budget:
                return reach, rate
        return None

    def _choose_believed(self, guard: Guard, indices: Indices, reach: float) -> list[tuple[int, float, Predicate]]:
        """The metrics of a guard, each with its reach and its range.

        The range of nulls has one end, and there is none if it were wider than a reader believes: other expectations
        notice that a column is empty. Other guards are there however wide they are.
        """
        believed = []
        for index in indices.tolist():
            own_reach = max(reach, _LEAST_CHANGES.get(guard, 0.0) / float(self.forecast.scale[0, index]))
            low, high = self.forecast.band_of(index, own_reach)
            if guard is Guard.NULLS:
                if own_reach > _ONE_END * self.widest[index]:
                    continue
                high = math.inf
            predicate = self.make_predicate(index, (low, high), own_reach)
            if predicate is not None:
                believed.append((index, own_reach, predicate))
        return believed

    def _propose(self, index: int, reach: float, predicate: Predicate, rate: float, weight: float) -> Proposal:
        """A guard of one metric. All of them cost together what one of them states: the rate is that of the table."""
        caught = frozenset(issue for issue, value in self.issue_surprises.get(index, ()) if value > reach)
        expectation = Expectation(self.metrics[index].key, predicate, Source.HISTORY, false_alarm=rate)
        return Proposal(expectation, caught, self.make_note(index), weight=weight)

    def _propose_finite(self) -> Iterator[Proposal]:
        """Expect that no number is NaN or infinite, of columns in which none ever was.

        It is not counted in the budget: after 28 runs or more without one, none of 15,258 values of real feeds was the
        first (docs/methods/evidence.md).
        """
        for index, traits in enumerate(self.metrics):
            if traits.is_plain and traits.key.name == _FINITENESS and self._was_always_one(index):
                expectation = Expectation(traits.key, _ALL, Source.HISTORY, false_alarm=0.0)
                yield Proposal(expectation, note=f"finite in {self.forecast.runs[index]} runs")

    def _was_always_one(self, index: int) -> bool:
        return bool(self.forecast.constant[index]) and float(self.forecast.centre[0, index]) == 1.0

    def _is_of_numbered_rows(self, index: int) -> bool:
        """Whether it is the mean of whole numbers that are unique: rows are numbered, and the numbers grow."""
        traits = self.metrics[index]
        if traits.key.name != "mean":
            return False
        of_column = {each.key.name: at for at, each in enumerate(self.metrics) if each.column == traits.column}
        is_unique = "unique_ratio" in of_column and of_column["unique_ratio"] in self.coarse_limits.indices
        return is_unique and _FINITENESS not in of_column

    def _propose_coarse(self, factor: float, rate: float) -> Iterator[Proposal]:
        indices = self.coarse_limits.indices
        note = f"{COARSE_NOTE}: {factor:,.0f} times less or more than in {self.runs} run{'s' * (self.runs > 1)}"
        for index in indices:
            low, high = self.coarse_limits.band_of(index, factor)
            if self.metrics[index].key.name == _COUNT and low <= 1:
                continue  # every column with a value has one
            if math.isfinite(self.widest[index]):
                continue  # there are enough runs to say what is sensible, and it is narrower
            if self._is_of_numbered_rows(index):
                continue  # a new number of another order of magnitude is no fault
            predicate = self.make_predicate(index, (low, high), factor)
            if predicate is not None:
                expectation = Expectation(self.metrics[index].key, predicate, Source.HISTORY, false_alarm=rate)
                yield Proposal(expectation, note=note, weight=1 / len(indices))
