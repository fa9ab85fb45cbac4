"""About how many different values there are for each value."""

from __future__ import annotations

from typing import ClassVar

from headgate.metrics.base.label import Label, ValueFormat
from headgate.metrics.base.metric import NO_VALUES
from headgate.metrics.base.registry import metric
from headgate.metrics.states.distinct import Distinct
from headgate.metrics.states.readings import OfDistinct
from headgate.values.outcome import Measured, Outcome, Undefined
from headgate.values.schema import HASHABLE


@metric
class UniqueRatio(OfDistinct, frozen=True):
    """|{v}| / |values| (AVH, Tables 1 and 2), at most 1, by HyperLogLog: `distinctness` within 1.6%, in one scan."""

    name: ClassVar = "unique_ratio"
    label: ClassVar = Label("{} unique", value_format=ValueFormat.SHARE, rank=8)
    moves_with_rows: ClassVar = True
    share: ClassVar = True
    accepts: ClassVar = HASHABLE
    default: ClassVar = HASHABLE

    def measure(self, state: Distinct) -> Outcome:
        return Measured(min(1.0, state.estimate() / state.values)) if state.values else Undefined(NO_VALUES)
