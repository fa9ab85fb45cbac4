"""Values that are no longer there: null, or what stands for it."""

from __future__ import annotations

from decimal import Decimal
from typing import ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from headgate.inject.issue import Issue, issue
from headgate.inject.parameters import check_share, check_word, some_rows
from headgate.metrics.base.arrow import kind_of
from headgate.values.schema import ANY, Kind


@issue
class IncreasedNulls(Issue, frozen=True):
    """A share of the values that are there become blank: "" in text, 0 in numbers (Appendix B, type 4).

    With `value="null"` they become null. So they do in a column that has no blank: of booleans, dates, bytes, lists.
    """

    share: float
    value: str = "blank"
    name: ClassVar = "increased_nulls"
    accepts: ClassVar = ANY
    levels: ClassVar = ({"share": 0.01}, {"share": 0.5}, {"share": 1.0})

    def __post_init__(self) -> None:
        check_share(self)
        check_word(self, "value", "blank", "null")

    def change(self, values: pa.Array, rng: np.random.Generator) -> pa.Array:
        gone = np.zeros(len(values), np.bool_)
        gone[some_rows(self.share, len(values), rng)] = True
        blank = _blank(values.type) if self.value == "blank" else None
        if blank is None:
            return values.take(pa.array(np.arange(len(values)), mask=gone))
        return pc.replace_with_mask(values, pa.array(gone), blank)


def _blank(kind: pa.DataType) -> pa.Scalar | None:
    match kind_of(kind):
        case Kind.STRING:
            return pa.scalar("", kind)
        case Kind.DECIMAL:
            return pa.scalar(Decimal(0), kind)
        case Kind.INTEGER | Kind.FLOAT:
            return pa.scalar(0, pa.int8()).cast(kind)
    return None
