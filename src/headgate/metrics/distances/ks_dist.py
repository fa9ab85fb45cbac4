"""The largest difference between the shares of numbers up to some value."""

from __future__ import annotations

from typing import ClassVar

from headgate.metrics.base.label import Label
from headgate.metrics.distances.numbers import BetweenNumbers, Pair
from headgate.metrics.distances.registry import distance
from headgate.stats.distances import kolmogorov_smirnov


@distance
class KsDist(BetweenNumbers, frozen=True):
    """Kolmogorov and Smirnov's D = max |F(x) - G(x)| (AVH, Table 3), in [0, 1].

    AVH names the p-value of the test. That falls with the number of rows, and grows as batches come closer; D does
    neither, so it is what a history is compared by. `stats.distances.kolmogorov_significance` gives the p-value of D.

    Error: at most the share of the fullest bin, of a batch that has more than 1,024 different numbers.
    """

    name: ClassVar = "ks_dist"
    label: ClassVar = Label(name="distance of the distribution (KS)")
    moves_with_rows: ClassVar = True
    most: ClassVar = 1.0

    def apart(self, pair: Pair) -> float:
        return kolmogorov_smirnov(pair.gaps)

    def bound(self, pair: Pair) -> float:
        return max(pair.now.rank_error, pair.before.rank_error) + pair.now.share_error + pair.before.share_error
