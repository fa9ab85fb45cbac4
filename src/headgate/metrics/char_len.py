"""The mean number of letters in a value."""

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
class CharLen(OfCharacters, frozen=True):
    """|letters| / |values| (AVH, Table 2), letters of any script (Unicode category L)."""

    name: ClassVar = "char_len"
    label: ClassVar = Label(name="letters in a value")
    averaged: ClassVar = True
    default: ClassVar = TEXT

    def measure(self, state: Characters) -> Outcome:
        return Measured(state.letters / state.values) if state.values else Undefined(NO_VALUES)
