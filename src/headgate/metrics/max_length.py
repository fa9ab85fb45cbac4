"""The length of the longest value."""

from __future__ import annotations

from typing import ClassVar

from headgate.metrics.base.label import Label
from headgate.metrics.base.metric import NO_VALUES, FailingRows
from headgate.metrics.base.registry import metric
from headgate.metrics.base.sql import quote_value
from headgate.metrics.states.moments import Moments
from headgate.metrics.states.readings import OfLengths
from headgate.values.outcome import Outcome, Undefined, outcome_of
from headgate.values.predicate import Predicate
from headgate.values.schema import BYTES


@metric
class MaxLength(OfLengths, frozen=True):
    """max of |v| in characters, in bytes for binary."""

    name: ClassVar = "max_length"
    label: ClassVar = Label("longest text {}", rank=15)
    whole: ClassVar = True
    is_extreme: ClassVar = True
    accepts: ClassVar = BYTES
    default: ClassVar = BYTES

    def measure(self, state: Moments) -> Outcome:
        return Undefined(NO_VALUES) if state.high is None else outcome_of(state.high, otherwise=NO_VALUES)

    def failing_rows(self, predicate: Predicate, value: float) -> FailingRows | None:
        bound = predicate.ceiling
        if bound is None or value <= bound:
            return None
        message = f"{self.column} has more than {bound:,g} characters"
        return FailingRows(self.inputs, form=f"length({{}}) > {quote_value(bound)}", message=message)
