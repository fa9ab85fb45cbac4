"""Bands that every table has, whatever else the budget buys: of its rows, nulls, keys and newest times.

What they cost is stated for the table, not for each band: how often, in good runs of other tables, the band that is
left the farthest is left by so much. So a table of many columns does not pay for each of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

import numpy as np
import numpy.typing as npt

from headgate.learn.history.forecast import Forecast
from headgate.learn.metric_traits import MetricTraits
from headgate.learn.pooled_rates import PooledRates
from headgate.values.expectation import Expectation, Source
from headgate.values.predicate import Predicate
from headgate.values.proposal import IssueId, Proposal

Indices = npt.NDArray[np.intp]

GUARD_SHARE = 0.5
"""The share of the budget that is set aside for guards."""
_LEAST_UNIQUE = 0.9  # the ratio of different values that a key has in every run: it is estimated


class Guard(StrEnum):
    """What of a table is always guarded."""

    ROWS = "rows"
    NULLS = "nulls"
    COMPLETE = "complete"  # the nulls of columns that have none
    KEYS = "keys"
    NEWEST = "newest"

    @property
    def curve(self) -> str:
        """The name of its curve in the pooled rates."""
        return f"guard_{self.value}"


SHARES = {Guard.ROWS: 0.35, Guard.NULLS: 0.15, Guard.COMPLETE: 0.25, Guard.KEYS: 0.15, Guard.NEWEST: 0.1}
"""The part of what is set aside that each guard may use."""


def find_guarded(forecast: Forecast, metrics: Sequence[MetricTraits]) -> Iterator[tuple[Guard, Indices]]:
    """For each guard that a table has, the metrics that it guards."""
    names = np.array([traits.key.name if traits.is_plain else "" for traits in metrics])
    known = np.isfinite(forecast.centre).all(axis=0)
    nulls, centre = names == "completeness", forecast.centre[0]
    complete = nulls & forecast.constant & (centre == 1.0)
    newest = (names == "max") & np.array([traits.is_timestamp for traits in metrics], np.bool_)
    guarded = {
        Guard.ROWS: names == "size",
        Guard.NULLS: nulls & ~complete,
        Guard.COMPLETE: complete,
        Guard.KEYS: (names == "unique_ratio") & (centre > _LEAST_UNIQUE),
        Guard.NEWEST: newest,
    }
    for guard, chosen in guarded.items():
        if len(indices := np.flatnonzero(chosen & known)):
            yield guard, indices


@dataclass(frozen=True)
class GuardBands:
    """The guards of a table, before a budget says how narrow they may be."""

    forecast: Forecast
    metrics: Sequence[MetricTraits]
    pooled_rates: PooledRates
    issue_surprises: Mapping[int, Sequence[tuple[IssueId, float]]]
    make_predicate: Callable[[int, float], Predicate | None]
    make_note: Callable[[int], str]
    _guarded: tuple[tuple[Guard, Indices], ...] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_guarded", tuple(find_guarded(self.forecast, self.metrics)))

    def choose(self, budget: float) -> list[Proposal]:
        """The narrowest bands that the part of the budget that is set aside pays for."""
        proposals: list[Proposal] = []
        for guard, indices in self._guarded:
            rates = self.pooled_rates.table_rates(guard.curve, int(self.forecast.runs[indices].max()))
            affordable = np.flatnonzero(rates <= SHARES[guard] * GUARD_SHARE * budget)
            if len(affordable):
                reach, rate = self.pooled_rates.grid[affordable[0]], float(rates[affordable[0]])
                proposals += self._propose(indices, reach, rate)
        return proposals

    def _propose(self, indices: Indices, reach: float, rate: float) -> Iterator[Proposal]:
        """A band for each metric. Together they have the rate."""
        for index in indices.tolist():
            if (predicate := self.make_predicate(index, reach)) is not None:
                caught = frozenset(issue for issue, value in self.issue_surprises.get(index, ()) if value > reach)
                expectation = Expectation(
                    self.metrics[index].key, predicate, Source.HISTORY, false_alarm=rate / len(indices)
                )
                yield Proposal(expectation, caught, self.make_note(index))
