"""The Jensen-Shannon divergence of the numbers in the deciles of the earlier batch."""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np

from headgate.metrics.distances.numbers import BetweenNumbers, Pair
from headgate.metrics.distances.registry import distance
from headgate.stats.distances import Floats, jensen_shannon


@distance
class JsDiv(BetweenNumbers, frozen=True):
    """H((p + q) / 2) - (H(p) + H(q)) / 2 in bits (AVH, Table 3), in [0, 1].

    p and q are the shares of the two batches in bins: the deciles of the earlier batch, what lies below all of it, and
    what lies above. It is symmetric but for these bins.

    Error, in the same bins: none, unless a batch was stored by an earlier version as a KLL sketch. Then sqrt(d) is off
    by at most e, so d by at most e (2 sqrt(d) + e). e is the sum over these batches of sqrt(w / 2); w adds up over the
    bins the most that (p - p')^2 / (p + p') can be while |p - p'| <= 0.0166. For sqrt(d) is a metric, and
    d <= sum (p - p')^2 / (p + p') / 2 (Topsoe 2000).
    """

    name: ClassVar = "js_div"
    most: ClassVar = 1.0
    symmetric: ClassVar = False

    def apart(self, pair: Pair) -> float:
        return jensen_shannon(pair.counts, pair.before.counts)

    def bound(self, pair: Pair) -> float:
        reach = _reach(pair.counts, pair.now.share_error) + _reach(pair.before.counts, pair.before.share_error)
        return min(1.0, reach * (2 * math.sqrt(self.apart(pair)) + reach))


def _reach(counts: Floats, error: float) -> float:
    """The most that the root of the divergence of these shares from the true ones can be."""
    if not error:
        return 0.0
    p = counts / counts.sum()
    worst = np.where(p >= error, error**2 / np.maximum(2 * p - error, error), np.maximum(p, error**2 / (2 * p + error)))
    return math.sqrt(min(1.0, float(worst.sum()) / 2))
