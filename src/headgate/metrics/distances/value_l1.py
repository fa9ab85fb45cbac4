"""The sum of the changes of the values' shares."""

from __future__ import annotations

import math
from typing import ClassVar

from headgate.metrics.base.label import Label
from headgate.metrics.distances.labels import BetweenValues, Side
from headgate.metrics.distances.registry import distance
from headgate.stats.distances import l1


@distance
class ValueL1(BetweenValues, frozen=True):
    """sum |p - q| of the shares of the values, "other" among them (AVH, Table 4), in [0, 2].

    Error: at most 2 max(a, b), with a and b the shares of the batches that their summaries leave out.
    """

    name: ClassVar = "value_l1"
    label: ClassVar = Label(name="distance of the values (L1)")
    moves_with_rows: ClassVar = True
    most: ClassVar = 2.0

    def apart(self, now: Side, before: Side) -> float:
        return l1(now.counts, before.counts) if len(now.label_counts) else math.nan

    def bound(self, now: Side, before: Side) -> float:
        return 2 * max(now.missing_share, before.missing_share)
