"""The Kullback-Leibler divergence of the numbers from the earlier batch, in its deciles."""

from __future__ import annotations

import math
from typing import ClassVar

from headgate.metrics.distances.registry import distance
from headgate.metrics.distances.sketches import BetweenSketches, Pair
from headgate.stats.distances import kullback_leibler


@distance
class KlDiv(BetweenSketches, frozen=True):
    """sum p log2(p / q) in bits (AVH, Table 3), p of this batch and q of the earlier one, 1/2 added to each count.

    The bins are the deciles of the earlier batch, what lies below all of it, and what lies above. It is at least 0, and
    finite: a bin that was empty counts as half a number.

    Error: none for batches of up to some 200 numbers. Beyond no bound is stated, since the logarithm of a small share
    magnifies any error; docs/methods/distances.md says what was measured.
    """

    name: ClassVar = "kl_div"
    symmetric: ClassVar = False

    def apart(self, pair: Pair) -> float:
        return kullback_leibler(pair.counts, pair.before.counts)

    def bound(self, pair: Pair) -> float:
        return 0.0 if pair.now.exact and pair.before.exact else math.inf
