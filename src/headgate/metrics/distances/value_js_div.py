"""The Jensen-Shannon divergence of the values' shares."""

from __future__ import annotations

import math
from typing import ClassVar

from headgate.metrics.distances.labels import BetweenValues, Side
from headgate.metrics.distances.registry import distance
from headgate.stats.distances import jensen_shannon


@distance
class ValueJsDiv(BetweenValues, frozen=True):
    """H((p + q) / 2) - (H(p) + H(q)) / 2 in bits (AVH, Table 4), in [0, 1].

    p and q are the shares of the values, "other" among them.

    Error: sqrt(d) is a metric, and off by at most e = sqrt(a) + sqrt(b), so d by at most e (2 sqrt(d) + e), with a and
    b the shares of the batches that their summaries leave out.
    """

    name: ClassVar = "value_js_div"
    most: ClassVar = 1.0

    def apart(self, now: Side, before: Side) -> float:
        return jensen_shannon(now.counts, before.counts) if len(now.label_counts) else math.nan

    def bound(self, now: Side, before: Side) -> float:
        reach = math.sqrt(now.missing_share) + math.sqrt(before.missing_share)
        root = math.sqrt(jensen_shannon(now.counts, before.counts))
        return min(1.0, reach * (2 * root + reach))
