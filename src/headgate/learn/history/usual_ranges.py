"""The ranges that are usual for the metrics of a column: what a program prints, and what a verdict compares with."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import msgspec
import numpy as np
import numpy.typing as npt

from headgate.learn.history.ranges import ROUNDING, find_widest_reaches
from headgate.learn.history.rarity import Rarities, describe_series
from headgate.values.expectation import Expectation, Source
from headgate.values.key import MetricKey
from headgate.values.predicate import Predicate

Floats: TypeAlias = npt.NDArray[np.float64]

USUAL_RATE = 0.001
"""How often good values of such series are outside of the range that is called usual."""


class UsualRange(msgspec.Struct, frozen=True):
    """The range that good values of a metric are seldom outside of, and from what it was learned."""

    expectation: Expectation
    note: str


@dataclass(frozen=True)
class UsualRanges:
    """The usual ranges of the next batch."""

    rarities: Rarities

    def find_at(self, index: int, value: float | None = None) -> UsualRange | None:
        """The range of a metric that is usual; for a value, the widest such range that it is outside of.

        It is no wider than a reader believes. None if no range says so.
        """
        rates, grid = self.rarities.rates[index], self.rarities.grid
        usual = int(np.searchsorted(-rates, -USUAL_RATE))
        believed = int(np.searchsorted(grid, self._widest[index], side="right")) - 1
        step = min(usual, believed)
        if value is None:
            found = self.rarities.make_range(index, float(grid[step])) if 0 <= step < len(grid) else None
            return None if found is None else self._name_range(index, found, float(rates[step]))
        for narrower in range(max(0, min(step, len(grid) - 1)), -1, -1):
            predicate = self.rarities.make_range(index, float(grid[narrower]))
            if predicate is not None and not predicate.holds(value):
                return self._name_range(index, predicate, float(rates[narrower]))
        return None

    @cached_property
    def _widest(self) -> Floats:
        """The reach of the widest range of each metric that a reader believes, however few rows it has."""
        past = self.rarities.past
        return ROUNDING * find_widest_reaches(self.rarities.forecast, past.values, past.metrics, least_rows=0.0)

    def list_of_column(self, column: str, most: int) -> list[UsualRange]:
        """The usual ranges of some metrics of a column, those first that readers ask for."""
        indices = sorted(
            self.rarities.columns.get(column, ()), key=lambda at: self.rarities.past.metrics[at].label.rank
        )
        ranges = (self.find_at(int(at)) for at in indices)
        return list(itertools.islice((each for each in ranges if each is not None), most))

    def find(self, metric: MetricKey) -> UsualRange | None:
        """The usual range of a metric; None if it has none or does not count."""
        column = metric.columns[0] if metric.columns else ""
        of_column = self.rarities.columns.get(column, ())
        index = next((int(at) for at in of_column if self.rarities.past.metrics[at].key == metric), None)
        return None if index is None else self.find_at(index)

    def _name_range(self, index: int, predicate: Predicate, rate: float) -> UsualRange:
        expectation = Expectation(self.rarities.past.metrics[index].key, predicate, Source.HISTORY, false_alarm=rate)
        return UsualRange(expectation, describe_series(self.rarities.forecast, index))
