"""How heavy the tails of the finite numbers are."""

from __future__ import annotations

from typing import ClassVar

from headgate.metrics.base.metric import NO_VALUES
from headgate.metrics.base.registry import metric
from headgate.metrics.states.moments import Moments
from headgate.metrics.states.readings import OfNumbers
from headgate.values.outcome import Outcome, Undefined, outcome_of
from headgate.values.schema import NUMERIC


@metric
class Kurtosis(OfNumbers, frozen=True):
    """m4 / m2^2 - 3 with m_k = sum of (v - mean)^k / |{v}|: 0 for a normal; undefined where all values are equal."""

    name: ClassVar = "kurtosis"
    signed: ClassVar = True
    accepts: ClassVar = NUMERIC

    def measure(self, state: Moments) -> Outcome:
        if not state.count:
            return Undefined(NO_VALUES)
        if state.second <= 0.0:
            return Undefined("all values are equal")
        return outcome_of(
            state.count * (state.fourth / state.second) / state.second - 3.0,
            otherwise="the fourth powers are too large for a double",
        )
