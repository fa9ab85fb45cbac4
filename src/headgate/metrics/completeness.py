"""The share of rows whose value is present."""

from __future__ import annotations

from typing import ClassVar

from headgate.metrics.base.batch import ColumnBatch
from headgate.metrics.base.label import Label, ValueFormat
from headgate.metrics.base.metric import NO_ROWS, ColumnMetric, FailingRows, too_few
from headgate.metrics.base.registry import metric
from headgate.metrics.states.counts import MatchCount
from headgate.values.outcome import Measured, Outcome, Undefined
from headgate.values.predicate import Predicate
from headgate.values.schema import ANY


@metric
class Completeness(ColumnMetric[MatchCount], frozen=True):
    """|{v : v is present}| / |rows| (Deequ 2018, Table 2; AVH's complete_ratio). NaN is present; "" is present."""

    name: ClassVar = "completeness"
    label: ClassVar = Label("{} empty", value_format=ValueFormat.MISSING, rank=2)
    share: ClassVar = True
    averaged: ClassVar = True
    reads_values: ClassVar = False
    state: ClassVar = MatchCount
    accepts: ClassVar = ANY
    default: ClassVar = ANY

    def fold(self, batch: ColumnBatch) -> MatchCount:
        return MatchCount(matched=batch.present, seen=len(batch))

    def measure(self, state: MatchCount) -> Outcome:
        return Measured(state.matched / state.seen) if state.seen else Undefined(NO_ROWS)

    def failing_rows(self, predicate: Predicate, value: float) -> FailingRows | None:
        message = f"{self.column} is null"
        return FailingRows(self.inputs, form="{} IS NULL", message=message) if too_few(predicate, value) else None
