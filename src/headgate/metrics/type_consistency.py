"""The share of values of a string column that look like its most common type."""

from __future__ import annotations

from typing import ClassVar

from headgate.metrics.base.metric import NO_VALUES
from headgate.metrics.base.registry import metric
from headgate.metrics.states.types import OfTypes, TypeCounts
from headgate.values.outcome import Measured, Outcome, Undefined


@metric
class TypeConsistency(OfTypes, frozen=True):
    """max over types of |values that look like it| / |values| (Deequ 2018, Table 1: hasTypeConsistency)."""

    name: ClassVar = "type_consistency"
    share: ClassVar = True

    def measure(self, state: TypeCounts) -> Outcome:
        return Measured(max(state.by_type().values()) / state.total) if state.total else Undefined(NO_VALUES)
