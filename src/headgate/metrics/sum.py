"""The sum of the finite numbers."""

from __future__ import annotations

from typing import ClassVar

from headgate.metrics.base.label import Label
from headgate.metrics.base.registry import metric
from headgate.metrics.states.moments import Moments
from headgate.metrics.states.readings import OfNumbers
from headgate.values.outcome import Outcome, outcome_of
from headgate.values.schema import NUMERIC


@metric
class Sum(OfNumbers, frozen=True):
    """sum of v; 0 over no values. Exact for integers while it stays under 2^53."""

    name: ClassVar = "sum"
    label: ClassVar = Label(name="sum")
    whole_of_integers: ClassVar = True
    signed: ClassVar = True
    additive: ClassVar = True
    tells_values: ClassVar = True
    accepts: ClassVar = NUMERIC
    default: ClassVar = NUMERIC

    def measure(self, state: Moments) -> Outcome:
        return outcome_of(state.total, otherwise="the sum is too large for a double")
