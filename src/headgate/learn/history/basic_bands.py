"""Propose ranges of the basics of a table: its rows, its nulls, and complete columns, keys, newest times and periods.

Each of the three parts has one limit: how often, in good runs, the range that is left the farthest is left by so much.
So a table of many columns does not pay for each of them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from headgate.learn.history.ranges import ROUNDING
from headgate.learn.history.rarity import Indices, Rarities, describe_series, find_reach
from headgate.learn.metric_traits import OUTSIDE_PERIOD
from headgate.learn.pooled_rates import PooledRates
from headgate.learn.rarity_limit import Limit, find_limit
from headgate.values.expectation import Expectation, Source
from headgate.values.proposal import Proposal
from headgate.values.rarity_memory import Part

LEAST_CHANGES = {"unique_ratio": 0.04, OUTSIDE_PERIOD: 0.003}
"""No range is narrower: new keys are counted by a sketch, and a few late rows of a thousand are usual somewhere."""


@dataclass(frozen=True)
class BasicBands:
    """The basics of a table, before a budget says how narrow their ranges may be."""

    rarities: Rarities
    pooled_rates: PooledRates

    def find_limit(self, part: Part, budget: float) -> Limit | None:
        """The lowest limit of rows or of other basics that the budget pays for; None if there is none."""
        if not len(self.rarities.find_basics()[part]):
            return None
        rates = self.pooled_rates.batch_rates(part, len(self.rarities.past))
        return find_limit(rates, self.rarities.memory, part, budget)

    def propose(self, part: Part, limit: Limit) -> list[Proposal]:
        """The ranges of rows or of other basics at a limit."""
        return list(self._propose(part, find_reach(limit.rarity), limit.rate))

    def _propose(self, part: Part, reach: float, rate: float) -> Iterator[Proposal]:
        """A range of each metric. All of them cost together what one of them states: the rate is that of the table."""
        indices: Indices = self.rarities.find_basics()[part]
        forecast, metrics = self.rarities.forecast, self.rarities.past.metrics
        for index in indices.tolist():
            least = LEAST_CHANGES.get(metrics[index].key.name, 0.0) / float(forecast.scale[0, index])
            believed = min(reach, self._find_widest(index, reach, has_upper_end=part is not Part.NULLS))
            predicate = self.rarities.make_range(index, max(believed, least), has_upper_end=part is not Part.NULLS)
            if predicate is not None:
                expectation = Expectation(metrics[index].key, predicate, Source.HISTORY, false_alarm=rate)
                yield Proposal(expectation, note=describe_series(forecast, index), weight=1 / len(indices))

    def _find_widest(self, index: int, reach: float, *, has_upper_end: bool) -> float:
        """The reach of the widest range that a reader believes. One with a lower end alone may reach twice as far down.

        It is infinite if what the runs themselves lay within is wider.
        """
        forecast, metric = self.rarities.forecast, self.rarities.past.metrics[index]
        widest = float(self.rarities.widest[index])
        centre, scale = float(forecast.centre[:, index].max()), float(forecast.scale[:, index].max())
        if not has_upper_end or centre + reach * scale >= metric.max_value:
            largest = float(np.nanmax(self.rarities.past.values[:, index]))
            widest = 2.0 * widest - max(0.0, largest - centre) / scale
        return ROUNDING * widest if widest > 0 else math.inf
