"""The share of rows that meet a predicate."""

from __future__ import annotations

from typing import ClassVar

import pyarrow.compute as pc

from headgate.analyzers.base.batch import ColumnBatch
from headgate.analyzers.base.metric import NO_ROWS, PredicateMetric
from headgate.analyzers.base.registry import metric
from headgate.analyzers.states.counts import MatchCount
from headgate.values.outcome import Measured, Outcome, Undefined


@metric
class Compliance(PredicateMetric[MatchCount], frozen=True):
    """|{row : predicate(row)}| / |rows| (Deequ 2018, Table 2). A predicate that is null for a row is not met by it."""

    name: ClassVar = "compliance"
    state: ClassVar = MatchCount
    fold_parameters: ClassVar = ("predicate",)

    def fold(self, met: ColumnBatch) -> MatchCount:
        return MatchCount(matched=pc.sum(met.array, min_count=0).as_py(), seen=len(met))

    def measure(self, state: MatchCount) -> Outcome:
        return Measured(state.matched / state.seen) if state.seen else Undefined(NO_ROWS)
