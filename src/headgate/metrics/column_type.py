"""Whether a column has a type."""

from __future__ import annotations

from typing import ClassVar

from headgate.metrics.base.metric import SchemaMetric
from headgate.metrics.base.registry import metric
from headgate.values.outcome import Measured, Outcome, Undefined
from headgate.values.schema import NUMERIC, Column, Kind, Schema

_NUMBERS = NUMERIC - {Kind.BOOLEAN}


@metric
class ColumnType(SchemaMetric, frozen=True):
    """1 if the batch has the column and it has this type, else 0. Undefined for a column that holds only nulls.

    A type is a kind (integer, float, decimal, boolean, string, date, timestamp, binary, other), which means the same in
    every engine, `number` for the first three, or a type as the batch's own engine spells it (bigint in Spark, int64 in
    Arrow).
    """

    column: str
    type: str
    name: ClassVar = "column_type"

    @property
    def column_names(self) -> tuple[str, ...]:
        return (self.column,)

    def of(self, schema: Schema) -> Outcome:
        found = [column for column in schema.columns if column.label == self.column]
        if any(column.empty and column.type.lower() != self.type.lower() for column in found):
            return Undefined("the column holds no value, so its type is not known")
        return Measured(float(any(map(self._is, found))))

    def _is(self, column: Column) -> bool:
        wanted = self.type.lower()
        return wanted in (column.kind.value, column.type.lower()) or (wanted == "number" and column.kind in _NUMBERS)
