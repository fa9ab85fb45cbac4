"""How many different values there are, as a whole number."""

from __future__ import annotations

from typing import ClassVar

from headgate.metrics.base.registry import metric
from headgate.metrics.states.distinct import Distinct
from headgate.metrics.states.readings import OfDistinct
from headgate.values.outcome import Measured, Outcome
from headgate.values.schema import HASHABLE


@metric
class DistValCount(OfDistinct, frozen=True):
    """|{v}| (AVH, Table 2): exact up to 384 values, beyond them the estimate of `approx_count_distinct`, rounded."""

    name: ClassVar = "dist_val_count"
    whole: ClassVar = True
    moves_with_rows: ClassVar = True
    additive: ClassVar = True
    accepts: ClassVar = HASHABLE

    def measure(self, state: Distinct) -> Outcome:
        return Measured(float(round(state.estimate())))
