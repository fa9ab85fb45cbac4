"""The mean number of punctuation marks in a value."""

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
class PuncLen(OfCharacters, frozen=True):
    """|punctuation| / |values| (AVH, Table 2), punctuation and symbols (Unicode categories P and S)."""

    name: ClassVar = "punc_len"
    label: ClassVar = Label("punctuation in a value {}", rank=17)
    averaged: ClassVar = True
    default: ClassVar = TEXT

    def measure(self, state: Characters) -> Outcome:
        return Measured(state.punctuation / state.values) if state.values else Undefined(NO_VALUES)
