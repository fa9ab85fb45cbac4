"""How rare a batch is: the rarity of its metrics, of its columns, and of the rarest column.

The rarity of a value is the negative logarithm of how often series of its kind are so far from their forecast. Forms
leave something out, to see what it adds.
"""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from benchmarks.rarity.curves import EXTREME, GRID, Curves, find_family
from benchmarks.rarity.surprises import CONSTANT, LONGEST, Replayed, ReplayedFeed, Surprises

TYPICAL_COLUMNS = 10.0
"""Columns of a table whose rarity is that of its rarest column; of more columns one is rarer by chance."""
BASICS_FACTOR = 1.5
"""What the rarity of rows, nulls of complete columns, keys and times is multiplied by."""
NOTABLE = 2.5
"""The rarity above which a surprise is remembered."""
OWN_WEIGHT = 100.0
"""How many runs the pooled rate counts as beside those of the series itself."""
ALIKE = 0.9
"""A surprise is as large as an earlier one if it is at least this share of it."""
REMEMBERED = {7: 3, 14: 13, 28: 400}
"""Good runs that a table with a history of a length has scored before."""
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Form:
    """A form of the rarity: how much the rarest metric of a column counts, the second, and so on; and what it leaves
    out."""

    ranks: tuple[float, ...] = (1.0, 0.5, 0.25)
    with_extremes: bool = False
    with_memory: bool = True
    with_columns: bool = True
    with_basics: bool = True


FULL = Form()
FORMS = {
    "all parts": FULL,
    "the rarest metric alone": Form(ranks=(1.0,)),
    "all metrics of a column added up": Form(ranks=(1.0,) * 30),
    "with extremes that vary": Form(with_extremes=True),
    "without a memory of each metric": Form(with_memory=False),
    "without the number of columns": Form(with_columns=False),
    "basics as other metrics": Form(with_basics=False),
}


class FeedRarities:
    """Measures the batches of a feed, in order, by curves of other feeds."""

    def __init__(self, replayed: ReplayedFeed, curves: Curves, length: int = LONGEST, form: Form = FULL) -> None:
        self._rates = curves.list_rates(replayed, length)
        self._columns = np.unique([column for _, column in replayed.metrics], return_inverse=True)[1]
        names = [name for name, _ in replayed.metrics]
        self._is_extreme = np.array([find_family(name) == EXTREME for name in names], np.bool_)
        self._never = np.array([name == "unchanged" for name in names], np.bool_)
        self._length, self._form = length, form
        self._remembered: list[dict[int, float]] = []

    def measure(self, batch: Replayed) -> float:
        """How rare a batch is after what is remembered."""
        found = batch.lengths[self._length]
        return self._add_up(found, self._rate(found))

    def remember(self, batch: Replayed) -> None:
        """Remember the surprises of a good batch."""
        found = batch.lengths[self._length]
        rarities = self._rate(found)
        notable = np.flatnonzero(rarities > NOTABLE)
        surprises = dict(zip(found.metrics[notable].tolist(), found.surprises[notable].tolist(), strict=True))
        self._remembered = [*self._remembered, surprises][-REMEMBERED[self._length] :]

    def _rate(self, found: Surprises) -> Floats:
        """The rarity of each metric; 0 if it does not count."""
        reach = np.searchsorted(GRID, found.surprises, side="left") - 1
        rates = self._rates[found.metrics, found.kinds - CONSTANT, np.maximum(reach, 0)]
        if self._form.with_memory and self._remembered:
            counts = self._count_own(found, GRID[np.maximum(reach, 0)])
            rates = (OWN_WEIGHT * rates + counts) / (OWN_WEIGHT + len(self._remembered))
        rarities = -np.log(rates)
        if self._form.with_basics:
            rarities *= np.where(found.basics, BASICS_FACTOR, 1.0)
        return np.where(self._is_scored(found) & (reach >= 0), rarities, 0.0)

    def _is_scored(self, found: Surprises) -> npt.NDArray[np.bool_]:
        wild = self._is_extreme[found.metrics] & (found.kinds != CONSTANT) & ~found.basics
        return ~self._never[found.metrics] & (~wild | self._form.with_extremes)

    def _count_own(self, found: Surprises, reaches: Floats) -> Floats:
        """How often each metric was about as surprising before."""
        by_metric: dict[int, list[float]] = defaultdict(list)
        for earlier in self._remembered:
            for metric, surprise in earlier.items():
                by_metric[metric].append(surprise)
        counts = np.zeros(len(found.metrics))
        for place, metric in enumerate(found.metrics.tolist()):
            if metric in by_metric:
                counts[place] = np.sum(np.array(by_metric[metric]) > ALIKE * reaches[place])
        return counts

    def _add_up(self, found: Surprises, rarities: Floats) -> float:
        columns = self._columns[found.metrics]
        rarest = 0.0
        for column in np.unique(columns[rarities > 0]):
            largest = np.sort(rarities[columns == column])[::-1]
            shares = self._form.ranks[: len(largest)]
            rarest = max(rarest, float(largest[: len(shares)] @ np.array(shares)))
        if self._form.with_columns:
            rarest -= math.log(max(1, len(np.unique(columns[self._is_scored(found)]))) / TYPICAL_COLUMNS)
        return max(0.0, rarest)
