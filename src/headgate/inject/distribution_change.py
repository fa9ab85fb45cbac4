"""Values from one end of the usual ones only: a source, a region or a part of the day is missing."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from headgate.inject.issue import Issue, issue
from headgate.inject.parameters import check_share, check_word, count_of
from headgate.values.errors import MisuseError
from headgate.values.schema import HASHABLE


@issue
class DistributionChange(Issue, frozen=True):
    """Every value is drawn anew, with replacement, from the first or last `share` of the sorted ones (type 6).

    The number of rows and the places of nulls stay: a change of volume is another issue. NaN sorts last.
    """

    share: float
    end: str
    name: ClassVar = "distribution_change"
    accepts: ClassVar = HASHABLE
    levels: ClassVar = tuple({"share": share, "end": end} for end in ("first", "last") for share in (0.1, 0.5))

    def __post_init__(self) -> None:
        check_share(self)
        check_word(self, "end", "first", "last")
        if not self.share:
            raise MisuseError("distribution_change: nothing can be drawn from a share of 0.", hint="Write share=0.1.")

    def change(self, values: pa.Array, rng: np.random.Generator) -> pa.Array:
        count = count_of(self.share, len(values))
        order = np.asarray(pc.array_sort_indices(_sortable(values)))
        biased = order[:count] if self.end == "first" else order[-count:]
        return values.take(pa.array(biased[rng.integers(0, count, len(values))]))


def _sortable(values: pa.Array) -> pa.Array:
    return values.cast(pa.float64()) if pa.types.is_float16(values.type) else values
