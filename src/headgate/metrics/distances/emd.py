"""How far the numbers have to move to become those of the earlier batch."""

from __future__ import annotations

from typing import ClassVar

from headgate.metrics.base.label import Label
from headgate.metrics.distances.numbers import BetweenNumbers, Pair
from headgate.metrics.distances.registry import distance
from headgate.stats.distances import earth_mover


@distance
class Emd(BetweenNumbers, frozen=True):
    """The earth mover's distance, integral |F(x) - G(x)| dx (AVH, Table 3), in the unit of the column.

    Error: at most the width of a bin. A batch of at most 1,024 different numbers has bins of width 0.
    """

    name: ClassVar = "emd"
    label: ClassVar = Label(name="distance of the distribution (EMD)")
    is_spread: ClassVar = True

    def apart(self, pair: Pair) -> float:
        return earth_mover(pair.gaps)

    def bound(self, pair: Pair) -> float:
        sampling = pair.now.share_error + pair.before.share_error
        return max(pair.now.width, pair.before.width) + sampling * pair.widest
