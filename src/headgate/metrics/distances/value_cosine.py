"""The angle between the values' counts."""

from __future__ import annotations

import math
from typing import ClassVar

from headgate.metrics.distances.labels import BetweenValues, Side
from headgate.metrics.distances.registry import distance
from headgate.stats.distances import cosine


@distance
class ValueCosine(BetweenValues, frozen=True):
    """1 - p.q / (|p| |q|) of the counts of the values (AVH, Table 4), in [0, 1]. "Other" is no value and is left out.

    Error: at most asin(r) + asin(r'), with r = sqrt(a * `lost` / |values|) / |p|: what is left out of p is no longer
    than sqrt(a * `lost` / |values|), so it turns p by no more than that angle. The share of a batch that is left out
    is a.
    """

    name: ClassVar = "value_cosine"
    most: ClassVar = 1.0

    def apart(self, now: Side, before: Side) -> float:
        return cosine(now.label_counts, before.label_counts)

    def bound(self, now: Side, before: Side) -> float:
        return min(1.0, _turn(now) + _turn(before))


def _turn(side: Side) -> float:
    """The largest angle between the counts that are known and the true ones."""
    length = math.sqrt(float(side.label_counts @ side.label_counts))
    left_out = math.sqrt(float(side.counts[-1]) * side.lost)
    return math.asin(min(1.0, left_out / length)) if length else math.pi / 2
