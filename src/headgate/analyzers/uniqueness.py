"""The share of rows whose value occurs once."""

from __future__ import annotations

from typing import ClassVar

from headgate.analyzers.base.metric import NO_VALUES
from headgate.analyzers.base.registry import metric
from headgate.analyzers.states.groups import Groups
from headgate.analyzers.states.readings import OfGroups
from headgate.values.outcome import Measured, Outcome, Undefined


@metric
class Uniqueness(OfGroups, frozen=True):
    """|{v : v occurs once}| / |rows| (Deequ's Uniqueness), exact, over one column or several together."""

    name: ClassVar = "uniqueness"

    def measure(self, state: Groups) -> Outcome:
        sizes = state.sizes
        return Measured(sizes.unique / sizes.rows) if sizes.rows else Undefined(NO_VALUES)
