"""The symmetric chi-squared distance of the values' shares."""

from __future__ import annotations

import math
from typing import ClassVar

from headgate.metrics.distances.labels import BetweenValues, Side
from headgate.metrics.distances.registry import distance
from headgate.stats.distances import chi_squared


@distance
class ValueChiSquared(BetweenValues, frozen=True):
    """sum (p - q)^2 / (p + q) of the shares of the values, "other" among them, in [0, 2].

    AVH (Table 4) names the p-value of the chi-squared test. That falls with the number of rows, to 0 for any two large
    batches, and grows as they come closer. Of two batches of n values the test's statistic is n times this distance.

    Error: at most 4 (a + b), with a and b the shares of the batches that their summaries leave out. Wherever they
    belong, they change the sum by 3 times as much at the most, and as "other" by no more than they are.
    """

    name: ClassVar = "value_chi_squared"
    most: ClassVar = 2.0

    def apart(self, now: Side, before: Side) -> float:
        return chi_squared(now.counts, before.counts) if len(now.label_counts) else math.nan

    def bound(self, now: Side, before: Side) -> float:
        return min(2.0, 4 * (now.missing_share + before.missing_share))
