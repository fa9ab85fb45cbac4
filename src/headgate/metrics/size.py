"""The number of rows."""

from __future__ import annotations

from typing import ClassVar

from headgate.metrics.base.batch import ColumnBatch
from headgate.metrics.base.label import Label
from headgate.metrics.base.metric import TableMetric
from headgate.metrics.base.registry import metric
from headgate.values.outcome import Measured, Outcome
from headgate.values.schema import ANY
from headgate.values.state import Counts


class RowCount(Counts, frozen=True, tag="row_count"):
    """So many rows."""

    rows: int = 0


@metric
class Size(TableMetric[RowCount], frozen=True):
    """|rows| (Deequ 2018, Table 2; AVH's row_count). Of an empty batch it is 0, not undefined."""

    name: ClassVar = "size"
    label: ClassVar = Label("{} rows", rank=1)
    whole: ClassVar = True
    additive: ClassVar = True
    averaged: ClassVar = True
    state: ClassVar = RowCount
    default: ClassVar = ANY

    def fold(self, rows: ColumnBatch) -> RowCount:
        return RowCount(len(rows))

    def measure(self, state: RowCount) -> Outcome:
        return Measured(float(state.rows))
