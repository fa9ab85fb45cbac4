"""A quantile of the finite numbers."""

from __future__ import annotations

from typing import ClassVar

from headgate.metrics.base.metric import NO_VALUES
from headgate.metrics.base.registry import metric
from headgate.metrics.states.quantiles import Quantiles
from headgate.metrics.states.readings import OfQuantiles
from headgate.values.errors import MisuseError
from headgate.values.outcome import Measured, Outcome, Undefined


@metric
class ApproxQuantile(OfQuantiles, frozen=True):
    """The least v with rank(v) >= q |{v}|, exact for up to 1,024 different numbers (Deequ 2018, Table 2)."""

    q: float = 0.5
    name: ClassVar = "approx_quantile"
    is_location: ClassVar = True
    signed: ClassVar = True

    def __post_init__(self) -> None:
        if not 0.0 <= self.q <= 1.0:
            raise MisuseError(
                f"q is {self.q}; a quantile lies between 0 and 1.", hint="Write q=0.9 for the 90th percentile."
            )

    def measure(self, state: Quantiles) -> Outcome:
        return Measured(state.quantile(self.q)) if state.total else Undefined(NO_VALUES)
