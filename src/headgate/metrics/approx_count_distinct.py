"""About how many different values there are."""

from __future__ import annotations

from typing import ClassVar

from headgate.metrics.base.label import Label, ValueFormat
from headgate.metrics.base.registry import metric
from headgate.metrics.states.distinct import Distinct
from headgate.metrics.states.readings import OfDistinct
from headgate.values.outcome import Measured, Outcome
from headgate.values.schema import HASHABLE


@metric
class ApproxCountDistinct(OfDistinct, frozen=True):
    """An estimate of |{v}| by HyperLogLog (Deequ 2018, Table 2): relative standard error 1.6%, exact to 384 values."""

    name: ClassVar = "approx_count_distinct"
    label: ClassVar = Label("{} different values", value_format=ValueFormat.COUNT, rank=7)
    whole: ClassVar = True
    moves_with_rows: ClassVar = True
    additive: ClassVar = True
    accepts: ClassVar = HASHABLE
    default: ClassVar = HASHABLE

    def measure(self, state: Distinct) -> Outcome:
        return Measured(float(round(state.estimate())))
