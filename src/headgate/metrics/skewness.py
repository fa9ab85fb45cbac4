"""How lopsided the finite numbers are."""

from __future__ import annotations

import math
from typing import ClassVar

from headgate.metrics.base.metric import NO_VALUES
from headgate.metrics.base.registry import metric
from headgate.metrics.states.moments import Moments
from headgate.metrics.states.readings import OfNumbers
from headgate.values.outcome import Outcome, Undefined, outcome_of
from headgate.values.schema import NUMERIC


@metric
class Skewness(OfNumbers, frozen=True):
    """m3 / m2^1.5 with m_k = sum of (v - mean)^k / |{v}|; undefined where all values are equal."""

    name: ClassVar = "skewness"
    signed: ClassVar = True
    accepts: ClassVar = NUMERIC

    def measure(self, state: Moments) -> Outcome:
        if not state.count:
            return Undefined(NO_VALUES)
        if state.second <= 0.0:
            return Undefined("all values are equal")
        ratio = math.sqrt(state.count) * (state.third / state.second) / math.sqrt(state.second)
        return outcome_of(ratio, otherwise="the cubes are too large for a double")
