"""How far apart the least and the greatest finite value are."""

from __future__ import annotations

from typing import ClassVar

from headgate.metrics.base.label import Label
from headgate.metrics.base.metric import NO_VALUES
from headgate.metrics.base.registry import metric
from headgate.metrics.states.moments import Moments
from headgate.metrics.states.readings import OfNumbers
from headgate.values.outcome import Outcome, Undefined, outcome_of
from headgate.values.schema import ORDERED


@metric
class Range(OfNumbers, frozen=True):
    """max - min (AVH, Table 1). In seconds for dates and timestamps."""

    name: ClassVar = "range"
    label: ClassVar = Label(name="range")
    whole_of_integers: ClassVar = True
    moves_with_rows: ClassVar = True
    is_spread: ClassVar = True
    accepts: ClassVar = ORDERED
    default: ClassVar = ORDERED

    def measure(self, state: Moments) -> Outcome:
        if state.low is None or state.high is None:
            return Undefined(NO_VALUES)
        return outcome_of(state.high - state.low, otherwise="the range is too large for a double")
