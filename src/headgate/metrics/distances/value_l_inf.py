"""The largest change of a value's share."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from headgate.metrics.distances.labels import BetweenValues, Side
from headgate.metrics.distances.registry import distance


@distance
class ValueLInf(BetweenValues, frozen=True):
    """max |p - q| of the shares of the values (AVH, Table 4), in [0, 1]. "Other" is no value and is left out.

    Error: at most the larger `lost` / |values| of the two, about 1/130: with few exceptions no share is off by more.
    """

    name: ClassVar = "value_l_inf"
    most: ClassVar = 1.0

    def apart(self, now: Side, before: Side) -> float:
        return float(np.abs(now.label_counts / now.total - before.label_counts / before.total).max(initial=0.0))

    def bound(self, now: Side, before: Side) -> float:
        return max(now.lost / now.total, before.lost / before.total)
