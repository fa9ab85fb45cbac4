"""The mean length of the values."""

from __future__ import annotations

from typing import ClassVar

from headgate.metrics.base.label import Label
from headgate.metrics.base.metric import NO_VALUES
from headgate.metrics.base.registry import metric
from headgate.metrics.states.moments import Moments
from headgate.metrics.states.readings import OfLengths
from headgate.values.outcome import Measured, Outcome, Undefined
from headgate.values.schema import BYTES


@metric
class StrLen(OfLengths, frozen=True):
    """The mean of |v| in characters (AVH, Table 2), in bytes for binary; the empty string counts with 0."""

    name: ClassVar = "str_len"
    label: ClassVar = Label("mean length {}", rank=13)
    averaged: ClassVar = True
    accepts: ClassVar = BYTES
    default: ClassVar = BYTES

    def measure(self, state: Moments) -> Outcome:
        return Measured(state.mean) if state.count else Undefined(NO_VALUES)
