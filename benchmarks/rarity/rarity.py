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

from benchmarks.rarity.curves import list_rates, list_traits
from benchmarks.rarity.surprises import Replayed, ReplayedFeed, Surprises
from headgate.learn.evidence import LONGEST, REMEMBERED
from headgate.learn.history.rarity import ALIKE, NOTABLE, OWN_WEIGHT, RANKS, TYPICAL_COLUMNS, find_log_surprise
from headgate.learn.history.series_kinds import CONSTANT
from headgate.learn.metric_traits import Family
from headgate.learn.pooled_rates import PooledRates
from headgate.values.rarity_memory import Part

_TABLE = -1  # stands for the column of the number of rows, which has a limit of its own
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Form:
    """A form of the rarity: how much the rarest metric of a column counts, the second, and so on; and what it leaves
    out."""

    ranks: tuple[float, ...] = tuple(RANKS.tolist())
    with_extremes: bool = False
    with_memory: bool = True
    with_columns: bool = True
    with_level: bool = True
    with_edge: bool = True
    with_basics: bool = True


FULL = Form()
FORMS = {
    "all parts": FULL,
    "the rarest metric alone": Form(ranks=(1.0,)),
    "all metrics of a column added up": Form(ranks=(1.0,) * 30),
    "with extremes that vary": Form(with_extremes=True),
    "without a memory of each metric": Form(with_memory=False),
    "without the number of columns": Form(with_columns=False),
    "without the level of each table": Form(with_level=False),
    "what is accepted counts as it is": Form(with_edge=False),
    "basics as other metrics": Form(with_basics=False),
}


class FeedRarities:
    """Measures the batches of a feed, in order, by curves of other feeds."""

    def __init__(self, replayed: ReplayedFeed, rates: PooledRates, length: int = LONGEST, form: Form = FULL) -> None:
        self._grid = np.array(rates.grid)
        self._rates = list_rates(rates, replayed, length)
        columns = {column: place for place, (_, column) in enumerate(replayed.metrics)} | {"": _TABLE}
        self._columns = np.array([columns[column] for _, column in replayed.metrics])
        names = [name for name, _ in replayed.metrics]
        self._is_extreme = np.array([list_traits(name).family is Family.EXTREME for name in names], np.bool_)
        self._is_size = np.array([name == "size" for name in names], np.bool_)
        self._never = np.array([name == "unchanged" for name in names], np.bool_)
        self._length, self._form = length, form
        self._remembered: list[dict[int, float]] = []

    def measure(self, batch: Replayed) -> dict[Part, float]:
        """How rare the parts of a batch are after what is remembered."""
        found = batch.lengths[self._length]
        parts = {Part.COLUMNS: self._add_up(found, self._rate(found))}
        if self._form.with_basics:
            is_size = self._is_size[found.metrics]
            for part, chosen in ((Part.ROWS, is_size), (Part.BASICS, found.basics & ~is_size)):
                parts[part] = find_log_surprise(float(found.surprises[chosen].max(initial=0.0)))
            parts[Part.NULLS] = find_log_surprise(found.nulls)
        return parts

    def remember(self, batch: Replayed) -> None:
        """Remember the surprises of a good batch."""
        self._remembered = [*self._remembered, self.find_notable(batch)][-REMEMBERED[self._length] :]

    def find_notable(self, batch: Replayed) -> dict[int, float]:
        """The surprises of a batch that are notable, by the place of the metric."""
        found = batch.lengths[self._length]
        notable = np.flatnonzero(self._rate(found) > NOTABLE)
        return dict(zip(found.metrics[notable].tolist(), found.surprises[notable].tolist(), strict=True))

    def _rate(self, found: Surprises) -> Floats:
        """The rarity of each metric; 0 if it does not count."""
        reach = np.searchsorted(self._grid, found.surprises, side="left") - 1
        rates = self._rates[found.metrics, found.kinds - CONSTANT, np.maximum(reach, 0)]
        if self._form.with_memory and self._remembered:
            counts = self._count_own(found, self._grid[np.maximum(reach, 0)])
            rates = (OWN_WEIGHT * rates + counts) / (OWN_WEIGHT + len(self._remembered))
        rarities = -np.log(rates)
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
        for column in np.unique(columns[(rarities > 0) & (columns != _TABLE)]):
            largest = np.sort(rarities[columns == column])[::-1]
            shares = self._form.ranks[: len(largest)]
            rarest = max(rarest, float(largest[: len(shares)] @ np.array(shares)))
        if self._form.with_columns:
            counted = np.unique(columns[self._is_scored(found) & (columns != _TABLE)])
            rarest -= math.log(max(1, len(counted)) / TYPICAL_COLUMNS)
        return max(0.0, rarest)
