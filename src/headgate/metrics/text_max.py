"""The greatest number that a string column holds."""

from __future__ import annotations

from typing import ClassVar

from headgate.metrics.base.registry import metric
from headgate.metrics.states.text_numbers import NO_NUMBERS, OfTextNumbers, TextNumbers
from headgate.values.outcome import Outcome, Undefined, outcome_of


@metric
class TextMax(OfTextNumbers, frozen=True):
    """max of the numbers written in the values: those that look integral or fractional to `data_type`.

    White space around a number is let pass. Other values are left out, and so is a number past the range of a double.
    """

    name: ClassVar = "text_max"
    signed: ClassVar = True
    is_extreme: ClassVar = True

    def measure(self, state: TextNumbers) -> Outcome:
        return (
            Undefined(NO_NUMBERS)
            if state.moments.high is None
            else outcome_of(state.moments.high, otherwise=NO_NUMBERS)
        )
