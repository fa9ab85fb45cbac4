"""The number of columns."""

from __future__ import annotations

from typing import ClassVar

from headgate.metrics.base.metric import SchemaMetric
from headgate.metrics.base.registry import metric
from headgate.values.outcome import Measured, Outcome
from headgate.values.schema import Schema


@metric
class ColumnCount(SchemaMetric, frozen=True):
    """|columns| (Deequ's ColumnCount). Of a batch without rows too."""

    name: ClassVar = "column_count"

    def of(self, schema: Schema) -> Outcome:
        return Measured(float(len(schema.top_labels)))
