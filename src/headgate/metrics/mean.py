"""The mean of the finite numbers."""

from __future__ import annotations

from typing import ClassVar

from headgate.metrics.base.label import Label
from headgate.metrics.base.metric import NO_VALUES
from headgate.metrics.base.registry import metric
from headgate.metrics.states.moments import Moments
from headgate.metrics.states.readings import OfNumbers
from headgate.values.outcome import Outcome, Undefined, outcome_of
from headgate.values.schema import NUMERIC


@metric
class Mean(OfNumbers, frozen=True):
    """sum of v / |{v}| (Deequ 2018, Table 2). NaN and infinities are not counted in."""

    name: ClassVar = "mean"
    label: ClassVar = Label("mean {}", rank=3)
    is_location: ClassVar = True
    signed: ClassVar = True
    averaged: ClassVar = True
    accepts: ClassVar = NUMERIC
    default: ClassVar = NUMERIC

    def measure(self, state: Moments) -> Outcome:
        if not state.count:
            return Undefined(NO_VALUES)
        return outcome_of(state.mean, otherwise="the sum is too large for a double")
