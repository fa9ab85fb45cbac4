"""The number of different values for each row."""

from __future__ import annotations

from typing import ClassVar

from headgate.metrics.base.metric import NO_VALUES, FailingRows, find_repeated, too_few
from headgate.metrics.base.registry import metric
from headgate.metrics.states.groups import Groups
from headgate.metrics.states.readings import OfGroups
from headgate.values.outcome import Measured, Outcome, Undefined
from headgate.values.predicate import Predicate


@metric
class Distinctness(OfGroups, frozen=True):
    """|{v}| / |rows| (Deequ 2018, section 3.2), exact, over one column or several together."""

    name: ClassVar = "distinctness"
    share: ClassVar = True

    def measure(self, state: Groups) -> Outcome:
        sizes = state.sizes
        return Measured(sizes.distinct / sizes.rows) if sizes.rows else Undefined(NO_VALUES)

    def failing_rows(self, predicate: Predicate, value: float) -> FailingRows | None:
        return find_repeated(self.inputs) if too_few(predicate, value) else None
