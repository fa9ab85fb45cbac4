"""How many deviations the mean has moved."""

from __future__ import annotations

import math
from typing import ClassVar

from headgate.metrics.base.label import Label
from headgate.metrics.distances.distance import NONE_BEFORE, NONE_NOW, Distance
from headgate.metrics.distances.registry import distance
from headgate.metrics.states.moments import Moments
from headgate.stats.distances import Spread, cohens_d
from headgate.values.outcome import Outcome, Undefined, outcome_of
from headgate.values.schema import ORDERED


@distance
class CohenD(Distance[Moments], frozen=True):
    """|mean - mean'| / s, s the deviation within the batches (AVH, Table 3; Cohen 1988).

    s^2 = (sum (v - mean)^2 + sum (v' - mean')^2) / (n + n' - 2). Undefined where the means differ and no number does
    from its mean. Error: that of the arithmetic.
    """

    name: ClassVar = "cohen_d"
    label: ClassVar = Label(name="shift of the mean (Cohen's d)")
    state: ClassVar = Moments
    folded: ClassVar = "moments"
    accepts: ClassVar = ORDERED

    def between(self, now: Moments, before: Moments) -> Outcome:
        if not now.count or not before.count:
            return Undefined(NONE_BEFORE if now.count else NONE_NOW)
        apart = cohens_d(_spread(now), _spread(before))
        return outcome_of(apart, otherwise="the numbers have no finite deviation to measure by")

    def error(self, now: Moments, before: Moments) -> float:
        return 0.0 if now.count and before.count else math.inf


def _spread(state: Moments) -> Spread:
    return Spread(state.count, state.mean, state.second / (state.count - 1) if state.count > 1 else 0.0)
