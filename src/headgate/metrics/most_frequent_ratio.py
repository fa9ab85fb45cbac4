"""The share of the most frequent value."""

from __future__ import annotations

from typing import ClassVar

from headgate.metrics.base.label import Label, ValueFormat
from headgate.metrics.base.metric import NO_VALUES
from headgate.metrics.base.registry import metric
from headgate.metrics.states.frequencies import Frequencies
from headgate.metrics.states.readings import OfValues
from headgate.values.outcome import Measured, Outcome, Undefined
from headgate.values.schema import HASHABLE


@metric
class MostFrequentRatio(OfValues, frozen=True):
    """max over v of |rows with v| / |values| (Redyuk et al. 2021): exact to 512 values, beyond them within 1/130."""

    name: ClassVar = "most_frequent_ratio"
    label: ClassVar = Label("{} one and the same value", value_format=ValueFormat.SHARE, rank=9)
    moves_with_rows: ClassVar = True
    share: ClassVar = True
    default: ClassVar = HASHABLE

    def measure(self, state: Frequencies) -> Outcome:
        if not state.total:
            return Undefined(NO_VALUES)
        return Measured(state.largest() / state.total)
