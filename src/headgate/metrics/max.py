"""The greatest value; an infinity is one, NaN is none."""

from __future__ import annotations

from typing import ClassVar

from headgate.metrics.base.label import Label
from headgate.metrics.base.metric import NO_VALUES, FailingRows
from headgate.metrics.base.registry import metric
from headgate.metrics.states.moments import Moments
from headgate.metrics.states.readings import OfNumbers
from headgate.values.outcome import Measured, Outcome, Undefined
from headgate.values.predicate import Predicate
from headgate.values.schema import ORDERED


@metric
class Max(OfNumbers, frozen=True):
    """max of v (Deequ 2018, Table 2). Dates and timestamps in seconds since 1970; integers beyond 2^53 are rounded.

    Infinities count, NaN does not.
    """

    name: ClassVar = "max"
    label: ClassVar = Label("largest {}", rank=11)
    whole_of_integers: ClassVar = True
    moves_with_rows: ClassVar = True
    is_location: ClassVar = True
    signed: ClassVar = True
    is_extreme: ClassVar = True
    accepts: ClassVar = ORDERED
    default: ClassVar = ORDERED

    def measure(self, state: Moments) -> Outcome:
        return Undefined(NO_VALUES) if state.greatest is None else Measured(state.greatest)

    def failing_rows(self, predicate: Predicate, value: float) -> FailingRows | None:
        bound = predicate.ceiling
        if bound is None or value <= bound:
            return None
        return FailingRows(self.inputs, high=bound, message=f"{self.column} is higher than the rule allows")
