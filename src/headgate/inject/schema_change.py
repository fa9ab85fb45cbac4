"""Values of another column in this one: a lost delimiter, a column more or less upstream."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import pyarrow as pa

from headgate.inject.issue import NUMBERS, Issue, encode_as, issue
from headgate.inject.parameters import check_share, some_rows
from headgate.metrics.base.arrow import kind_of, to_plain
from headgate.values.errors import MisuseError
from headgate.values.schema import HASHABLE


@issue
class SchemaChange(Issue, frozen=True):
    """A share of the rows take their value from a neighbouring column of the same kind (Appendix B, type 1).

    The values are drawn from the neighbour with replacement, nulls with them: a column that is wholly out of place has
    the nulls of the other. A neighbour whose values do not fit in the column's type makes both of them doubles.
    """

    share: float
    name: ClassVar = "schema_change"
    accepts: ClassVar = HASHABLE
    levels: ClassVar = ({"share": 0.01}, {"share": 0.1}, {"share": 1.0})
    needs_neighbour: ClassVar = True

    def __post_init__(self) -> None:
        check_share(self)

    def apply_to(
        self, values: pa.Array | pa.ChunkedArray, rng: np.random.Generator, neighbour: pa.Array | None = None
    ) -> pa.Array:
        kind = kind_of(values.type)
        self.check(kind)
        if neighbour is None:
            raise MisuseError(
                "schema_change needs another column of the same kind.", hint="Give it as neighbour=table['other']."
            )
        if kind_of(neighbour.type) is not kind:
            raise MisuseError(
                f"schema_change: the column is {kind}, its neighbour {kind_of(neighbour.type)}.",
                hint="Give a neighbour of the same kind.",
            )
        own, other = _alike(to_plain(values), to_plain(neighbour))
        rows = some_rows(self.share, len(own), rng) if len(other) else np.arange(0)
        if not len(rows):
            return encode_as(own, values.type)
        source = np.arange(len(own))
        source[rows] = len(own) + rng.integers(0, len(other), len(rows))
        return encode_as(pa.concat_arrays([own, other]).take(pa.array(source)), values.type)


def _alike(own: pa.Array, other: pa.Array) -> tuple[pa.Array, pa.Array]:
    """Both in the type of the first, or in the one that holds both."""
    if own.type == other.type:
        return own, other
    try:
        return own, other.cast(own.type)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        wide = pa.float64() if kind_of(own.type) in NUMBERS else other.type
        return own.cast(wide, safe=False), other.cast(wide, safe=False)
