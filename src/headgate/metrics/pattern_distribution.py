"""The most frequent patterns of the values with their counts."""

from __future__ import annotations

from typing import ClassVar

from headgate.metrics.base.metric import NO_VALUES
from headgate.metrics.base.registry import metric
from headgate.metrics.states.frequencies import Frequencies
from headgate.metrics.states.readings import OfPatterns
from headgate.values.outcome import Measured, Outcome, Undefined
from headgate.values.schema import TEXT


@metric
class PatternDistribution(OfPatterns, frozen=True):
    """pattern -> |values of that pattern| (AVH's pattern profile), `9-9-9` for a date: exact to 128 patterns.

    Beyond 128 a count is understated by at most the stated error, itself at most |values| / 129. The first 256 bytes
    of a value make its pattern.
    """

    name: ClassVar = "pattern_distribution"
    distribution: ClassVar = True
    default: ClassVar = TEXT

    def measure(self, state: Frequencies) -> Outcome:
        return Measured(state.distribution()) if state.total else Undefined(NO_VALUES)
