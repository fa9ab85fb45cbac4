"""How far apart the least and the greatest value are."""

from __future__ import annotations

import math
from typing import ClassVar

from headgate.metrics.base.label import Label
from headgate.metrics.base.metric import NO_VALUES
from headgate.metrics.base.registry import metric
from headgate.metrics.states.moments import Moments
from headgate.metrics.states.readings import OfNumbers
from headgate.values.outcome import Measured, Outcome, Undefined, outcome_of
from headgate.values.schema import ORDERED


@metric
class Range(OfNumbers, frozen=True):
    """max - min (AVH, Table 1). In seconds for dates and timestamps. Infinite if one of them is."""

    name: ClassVar = "range"
    label: ClassVar = Label(name="range")
    whole_of_integers: ClassVar = True
    moves_with_rows: ClassVar = True
    is_spread: ClassVar = True
    is_extreme: ClassVar = True
    accepts: ClassVar = ORDERED
    default: ClassVar = ORDERED

    def measure(self, state: Moments) -> Outcome:
        least, greatest = state.least, state.greatest
        if least is None or greatest is None:
            return Undefined(NO_VALUES)
        if math.isinf(least) or math.isinf(greatest):
            return Measured(0.0 if least == greatest else math.inf)
        return outcome_of(greatest - least, otherwise="the range is too large for a double")
