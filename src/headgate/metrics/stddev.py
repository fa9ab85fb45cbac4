"""The standard deviation of the finite numbers."""

from __future__ import annotations

import math
from typing import ClassVar

from headgate.metrics.base.label import Label
from headgate.metrics.base.metric import NO_VALUES
from headgate.metrics.base.registry import metric
from headgate.metrics.states.moments import Moments
from headgate.metrics.states.readings import OfNumbers
from headgate.values.outcome import Outcome, Undefined, outcome_of
from headgate.values.schema import NUMERIC


@metric
class StdDev(OfNumbers, frozen=True):
    """sqrt(sum of (v - mean)^2 / |{v}|), of the population (Deequ 2018, Table 2)."""

    name: ClassVar = "stddev"
    label: ClassVar = Label("deviation {}", rank=12)
    is_spread: ClassVar = True
    accepts: ClassVar = NUMERIC
    default: ClassVar = NUMERIC

    def measure(self, state: Moments) -> Outcome:
        if not state.count:
            return Undefined(NO_VALUES)
        return outcome_of(math.sqrt(state.second / state.count), otherwise="the squares are too large for a double")
