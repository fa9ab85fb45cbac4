"""The median of the finite numbers."""

from __future__ import annotations

from typing import ClassVar

from headgate.metrics.base.label import Label
from headgate.metrics.base.metric import NO_VALUES
from headgate.metrics.base.registry import metric
from headgate.metrics.states.quantiles import Quantiles
from headgate.metrics.states.readings import OfQuantiles
from headgate.values.outcome import Measured, Outcome, Undefined
from headgate.values.schema import ORDERED


@metric
class Median(OfQuantiles, frozen=True):
    """The least v with rank(v) >= |{v}| / 2 (AVH, Table 1), exact for up to 1,024 different numbers."""

    name: ClassVar = "median"
    label: ClassVar = Label("median {}", rank=4)
    is_location: ClassVar = True
    signed: ClassVar = True
    default: ClassVar = ORDERED

    def measure(self, state: Quantiles) -> Outcome:
        return Measured(state.quantile(0.5)) if state.total else Undefined(NO_VALUES)
