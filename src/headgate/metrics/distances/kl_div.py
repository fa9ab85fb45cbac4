"""The Kullback-Leibler divergence of the numbers from the earlier batch, in its deciles."""

from __future__ import annotations

import math
from typing import ClassVar

from headgate.metrics.distances.numbers import BetweenNumbers, Pair
from headgate.metrics.distances.registry import distance
from headgate.stats.distances import kullback_leibler


@distance
class KlDiv(BetweenNumbers, frozen=True):
    """sum p log2(p / q) in bits (AVH, Table 3), p of this batch and q of the earlier one, 1/2 added to each count.

    The bins are the deciles of the earlier batch, what lies below all of it, and what lies above. It is at least 0, and
    finite: a bin that was empty counts as half a number.

    Error, in the same bins: none, unless a batch was stored by an earlier version as a KLL sketch. Then no bound is
    stated, since the logarithm of a small share magnifies any error.
    """

    name: ClassVar = "kl_div"
    symmetric: ClassVar = False

    def apart(self, pair: Pair) -> float:
        return kullback_leibler(pair.counts, pair.before.counts)

    def bound(self, pair: Pair) -> float:
        return 0.0 if not pair.now.share_error and not pair.before.share_error else math.inf
