"""The share of rows that meet a predicate."""

from __future__ import annotations

from typing import ClassVar

import pyarrow.compute as pc

from headgate.metrics.base.batch import ColumnBatch
from headgate.metrics.base.metric import NO_ROWS, FailingRows, PredicateMetric, too_few
from headgate.metrics.base.registry import metric
from headgate.metrics.base.sql import close_comment, columns_of
from headgate.metrics.states.counts import MatchCount
from headgate.values.outcome import Measured, Outcome, Undefined
from headgate.values.predicate import Predicate


@metric
class Compliance(PredicateMetric[MatchCount], frozen=True):
    """|{row : predicate(row)}| / |rows| (Deequ 2018, Table 2). A predicate that is null for a row is not met by it."""

    name: ClassVar = "compliance"
    share: ClassVar = True
    state: ClassVar = MatchCount
    fold_parameters: ClassVar = ("predicate",)

    def fold(self, met: ColumnBatch) -> MatchCount:
        return MatchCount(matched=pc.sum(met.array, min_count=0).as_py(), seen=len(met))

    def measure(self, state: MatchCount) -> Outcome:
        return Measured(state.matched / state.seen) if state.seen else Undefined(NO_ROWS)

    def failing_rows(self, predicate: Predicate, value: float) -> FailingRows | None:
        predicate_text = self.predicate.replace("`", "")
        if too_few(predicate, value):
            test = f"NOT coalesce({close_comment(self.predicate)}, false)"
            return FailingRows(columns_of(self.predicate), test, message=f"not true: {predicate_text}")
        if predicate.ceiling is not None and value > predicate.ceiling:
            return FailingRows(columns_of(self.predicate), self.predicate, message=f"true: {predicate_text}")
        return None
