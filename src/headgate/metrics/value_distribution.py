"""The most frequent values with their counts."""

from __future__ import annotations

from typing import ClassVar

from headgate.metrics.base.metric import NO_VALUES
from headgate.metrics.base.registry import metric
from headgate.metrics.states.frequencies import Frequencies
from headgate.metrics.states.readings import OfValues
from headgate.values.outcome import Measured, Outcome, Undefined
from headgate.values.schema import HASHABLE


@metric
class ValueDistribution(OfValues, frozen=True):
    """v -> |rows with v| (AVH's value distribution, Deequ's Histogram): exact to 512 values.

    Beyond 512 only values with more than 1 in 200 of the rows are kept; a count is off by less than the stated error.
    """

    name: ClassVar = "value_distribution"
    distribution: ClassVar = True
    default: ClassVar = HASHABLE

    def measure(self, state: Frequencies) -> Outcome:
        return Measured(state.distribution()) if state.total else Undefined(NO_VALUES)
