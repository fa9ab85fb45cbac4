"""How far the numbers have to move to become those of the earlier batch."""

from __future__ import annotations

from typing import ClassVar

from headgate.metrics.base.label import Label
from headgate.metrics.distances.registry import distance
from headgate.metrics.distances.sketches import BetweenSketches, Pair
from headgate.stats.distances import earth_mover


@distance
class Emd(BetweenSketches, frozen=True):
    """The earth mover's distance, integral |F(x) - G(x)| dx (AVH, Table 3), in the unit of the column.

    Error: at most 1.33% of the range of each batch that has more than some 200 numbers.
    """

    name: ClassVar = "emd"
    label: ClassVar = Label(name="distance of the distribution (EMD)")
    is_spread: ClassVar = True

    def apart(self, pair: Pair) -> float:
        return earth_mover(pair.gaps)

    def bound(self, pair: Pair) -> float:
        return pair.now.rank_error * pair.now.range + pair.before.rank_error * pair.before.range
