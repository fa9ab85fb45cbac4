"""The Kullback-Leibler divergence of the values from the earlier batch."""

from __future__ import annotations

import math
from typing import ClassVar

from headgate.metrics.distances.labels import BetweenValues, Side
from headgate.metrics.distances.registry import distance
from headgate.stats.distances import kullback_leibler


@distance
class ValueKlDiv(BetweenValues, frozen=True):
    """sum p log2(p / q) in bits (AVH, Table 4), p of this batch and q of the earlier one, 1/2 added to each count.

    The sum is over the values of both batches and "other". It is at least 0, and finite: a value that is new counts as
    half a value of the earlier batch.

    Error: none where neither summary leaves anything out. Beyond no bound is stated, since the logarithm of a small
    share magnifies any error; docs/methods/distances.md says what was measured.
    """

    name: ClassVar = "value_kl_div"
    symmetric: ClassVar = False

    def apart(self, now: Side, before: Side) -> float:
        return kullback_leibler(now.counts, before.counts) if len(now.label_counts) else math.nan

    def bound(self, now: Side, before: Side) -> float:
        return math.inf if now.missing_share or before.missing_share else 0.0
