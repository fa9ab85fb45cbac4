"""The mean of the numbers that a string column holds."""

from __future__ import annotations

import math
from typing import ClassVar

from headgate.metrics.base.registry import metric
from headgate.metrics.states.text_numbers import NO_NUMBERS, OfTextNumbers, TextNumbers
from headgate.values.outcome import Outcome, Undefined, outcome_of

TOO_LARGE = "the sum is too large for a double"


@metric
class TextMean(OfTextNumbers, frozen=True):
    """sum of x / |{x}| over the numbers x written in the values: those that look integral or fractional to `data_type`.

    White space around a number is let pass. Other values are left out, and so is a number past the range of a double.
    """

    name: ClassVar = "text_mean"
    signed: ClassVar = True

    def measure(self, state: TextNumbers) -> Outcome:
        if not state.moments.count:
            return Undefined(NO_NUMBERS)
        if not math.isfinite(state.moments.total):
            return Undefined(TOO_LARGE)
        return outcome_of(state.moments.mean, otherwise=TOO_LARGE)
