"""Whether a column has a type."""

from __future__ import annotations

from typing import ClassVar

from headgate.analyzers.base.metric import SchemaMetric
from headgate.analyzers.base.registry import metric
from headgate.values.outcome import Measured, Outcome
from headgate.values.schema import Schema


@metric
class ColumnType(SchemaMetric, frozen=True):
    """1 if the batch has the column and it has this type, else 0.

    A type is a kind (integer, float, decimal, boolean, string, date, timestamp, binary, other), which means the same in
    every engine, or a type as the batch's own engine spells it (bigint in Spark, int64 in Arrow).
    """

    column: str
    type: str
    name: ClassVar = "column_type"

    @property
    def named(self) -> tuple[str, ...]:
        return (self.column,)

    def of(self, schema: Schema) -> Outcome:
        wanted = self.type.lower()
        found = [column for column in schema.columns if column.label == self.column]
        return Measured(float(any(wanted in (column.kind.value, column.type.lower()) for column in found)))
