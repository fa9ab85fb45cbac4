"""How evenly rows spread over the different values."""

from __future__ import annotations

from typing import ClassVar

from headgate.metrics.base.label import Label
from headgate.metrics.base.metric import NO_VALUES
from headgate.metrics.base.registry import metric
from headgate.metrics.states.groups import Groups
from headgate.metrics.states.readings import OfGroups
from headgate.values.outcome import Measured, Outcome, Undefined


@metric
class Entropy(OfGroups, frozen=True):
    """-sum of p(v) ln p(v), in nats (Deequ 2018, section 3.2), exact, over one column or several together."""

    name: ClassVar = "entropy"
    label: ClassVar = Label(name="entropy")
    moves_with_rows: ClassVar = True

    def measure(self, state: Groups) -> Outcome:
        sizes = state.sizes
        return Measured(sizes.entropy()) if sizes.rows else Undefined(NO_VALUES)
