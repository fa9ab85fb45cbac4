"""The number of different values, exactly."""

from __future__ import annotations

from typing import ClassVar

from headgate.metrics.base.registry import metric
from headgate.metrics.states.groups import Groups
from headgate.metrics.states.readings import OfGroups
from headgate.values.outcome import Measured, Outcome


@metric
class CountDistinct(OfGroups, frozen=True):
    """|{v}| (Deequ 2018, Table 2), exact, over one column or several together; `approx_count_distinct` costs less."""

    name: ClassVar = "count_distinct"
    whole: ClassVar = True
    additive: ClassVar = True

    def measure(self, state: Groups) -> Outcome:
        return Measured(float(state.sizes.distinct))
