"""What types the values of a string column look like."""

from __future__ import annotations

from typing import ClassVar

from headgate.metrics.base.metric import NO_VALUES
from headgate.metrics.base.registry import metric
from headgate.metrics.states.types import OfTypes, TypeCounts
from headgate.values.outcome import Distribution, Measured, Outcome, Undefined


@metric
class DataType(OfTypes, frozen=True):
    """type -> |values that look like it| (Deequ 2018): integral, fractional, boolean, date, timestamp or string."""

    name: ClassVar = "data_type"
    distribution: ClassVar = True

    def measure(self, state: TypeCounts) -> Outcome:
        if not state.total:
            return Undefined(NO_VALUES)
        ranked = sorted(state.by_type().items(), key=lambda each: (-each[1], each[0]))
        return Measured(Distribution({name: count for name, count in ranked if count}, total=state.total))
