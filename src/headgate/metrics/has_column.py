"""Whether there is a column of a name."""

from __future__ import annotations

from typing import ClassVar

from headgate.metrics.base.metric import SchemaMetric
from headgate.metrics.base.registry import metric
from headgate.values.outcome import Measured, Outcome
from headgate.values.schema import Schema


@metric
class HasColumn(SchemaMetric, frozen=True):
    """1 if the batch has the column, else 0."""

    column: str
    name: ClassVar = "has_column"

    @property
    def column_names(self) -> tuple[str, ...]:
        return (self.column,)

    def of(self, schema: Schema) -> Outcome:
        return Measured(float(self.column in schema.labels))
