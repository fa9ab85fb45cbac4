"""The mean number of digits in a value."""

from __future__ import annotations

from typing import ClassVar

from headgate.metrics.base.label import Label
from headgate.metrics.base.metric import NO_VALUES
from headgate.metrics.base.registry import metric
from headgate.metrics.states.characters import Characters
from headgate.metrics.states.readings import OfCharacters
from headgate.values.outcome import Measured, Outcome, Undefined
from headgate.values.schema import TEXT


@metric
class DigitLen(OfCharacters, frozen=True):
    """|digits| / |values| (AVH, Table 2), decimal digits of any script (Unicode category Nd)."""

    name: ClassVar = "digit_len"
    label: ClassVar = Label("digits in a value {}", rank=16)
    averaged: ClassVar = True
    default: ClassVar = TEXT

    def measure(self, state: Characters) -> Outcome:
        return Measured(state.digits / state.values) if state.values else Undefined(NO_VALUES)
