"""How many values of a string column look like each type."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import pyarrow.compute as pc

from headgate.metrics.base.batch import ColumnBatch
from headgate.metrics.base.metric import ColumnMetric
from headgate.values.schema import TEXT
from headgate.values.state import Counts

# the first that matches wins; white space around a value is let pass, as CSV files have it
SHAPES = {
    "integral": r"^\s*[-+]?[0-9]+\s*$",
    "fractional": r"^\s*[-+]?([0-9]+\.[0-9]*|\.[0-9]+|[0-9]+)([eE][-+]?[0-9]+)?\s*$",
    "boolean": r"^\s*(?i:true|false)\s*$",
    "date": r"^\s*[0-9]{4}-[0-9]{2}-[0-9]{2}\s*$",
    "timestamp": r"^\s*[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]+)?)?"
    r"(Z|[-+][0-9]{2}:?[0-9]{2})?\s*$",
}
NUMBER = SHAPES["fractional"]  # it lets integral values pass too
TYPES = (*SHAPES, "string")


class TypeCounts(Counts, frozen=True, tag="type_counts"):
    """Values by the type they look like; `total` includes those that look like none, which are strings."""

    total: int = 0
    integral: int = 0
    fractional: int = 0
    boolean: int = 0
    date: int = 0
    timestamp: int = 0

    def by_type(self) -> dict[str, int]:
        typed = {name: int(getattr(self, name)) for name in SHAPES}
        return {**typed, "string": self.total - sum(typed.values())}


class OfTypes(ColumnMetric[TypeCounts], frozen=True):
    """Reads how many values look like each type."""

    state: ClassVar = TypeCounts
    folded: ClassVar = "types"
    accepts: ClassVar = TEXT

    def fold(self, batch: ColumnBatch) -> TypeCounts:
        texts, weights = batch.distinct_texts
        weights = np.ones(len(texts), np.int64) if weights is None else weights
        left = np.ones(len(texts), np.bool_)
        found = {}
        for name, shape in SHAPES.items():
            hits = left & pc.match_substring_regex(texts.array, shape).to_numpy(zero_copy_only=False)
            found[name] = int(weights[hits].sum())
            left &= ~hits
        return TypeCounts(total=batch.present, **found)
