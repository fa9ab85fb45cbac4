"""The share of numbers that are finite."""

from __future__ import annotations

from typing import ClassVar

from headgate.metrics.base.batch import ColumnBatch
from headgate.metrics.base.label import Label, ValueFormat
from headgate.metrics.base.metric import NO_VALUES, ColumnMetric, FailingRows, too_few
from headgate.metrics.base.registry import metric
from headgate.metrics.states.counts import MatchCount
from headgate.values.outcome import Measured, Outcome, Undefined
from headgate.values.predicate import Predicate
from headgate.values.schema import Kind


@metric
class Finiteness(ColumnMetric[MatchCount], frozen=True):
    """|{v : v is neither NaN nor infinite}| / |{v : v is present}|: the rest is NaN or infinite."""

    name: ClassVar = "finiteness"
    label: ClassVar = Label(name="NaN or infinite", value_format=ValueFormat.MISSING)
    share: ClassVar = True
    state: ClassVar = MatchCount
    accepts: ClassVar = frozenset({Kind.FLOAT})
    default: ClassVar = frozenset({Kind.FLOAT})

    def fold(self, batch: ColumnBatch) -> MatchCount:
        return MatchCount(matched=len(batch.floats), seen=batch.present)

    def measure(self, state: MatchCount) -> Outcome:
        return Measured(state.matched / state.seen) if state.seen else Undefined(NO_VALUES)

    def failing_rows(self, predicate: Predicate, value: float) -> FailingRows | None:
        odd = "isnan({0}) OR abs({0}) = CAST('Infinity' AS DOUBLE)"
        message = f"{self.column} is not a finite number"
        return FailingRows(self.inputs, form=odd, message=message) if too_few(predicate, value) else None
