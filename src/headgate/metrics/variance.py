"""The variance of the finite numbers."""

from __future__ import annotations

from typing import ClassVar

from headgate.metrics.base.metric import NO_VALUES
from headgate.metrics.base.registry import metric
from headgate.metrics.states.moments import Moments
from headgate.metrics.states.readings import OfNumbers
from headgate.values.outcome import Outcome, Undefined, outcome_of
from headgate.values.schema import NUMERIC


@metric
class Variance(OfNumbers, frozen=True):
    """sum of (v - mean)^2 / |{v}|: of the population, as Deequ's standard deviation is."""

    name: ClassVar = "variance"
    accepts: ClassVar = NUMERIC

    def measure(self, state: Moments) -> Outcome:
        if not state.count:
            return Undefined(NO_VALUES)
        return outcome_of(state.second / state.count, otherwise="the squares are too large for a double")
