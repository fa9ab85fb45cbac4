"""White space before or after values: a fixed-width export, a form that does not trim."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from headgate.inject.issue import Issue, issue
from headgate.inject.parameters import check_share, some_rows
from headgate.values.schema import TEXT

_MOST = 3  # spaces on one side
_SPACES = [" " * count for count in range(_MOST + 1)]


@issue
class WhitespacePadding(Issue, frozen=True):
    """A share of the values with one to three spaces before or after them (Appendix B, type 10)."""

    share: float
    name: ClassVar = "whitespace_padding"
    accepts: ClassVar = TEXT
    levels: ClassVar = ({"share": 0.1}, {"share": 0.5}, {"share": 1.0})

    def __post_init__(self) -> None:
        check_share(self)

    def change(self, values: pa.Array, rng: np.random.Generator) -> pa.Array:
        rows = some_rows(self.share, len(values), rng)
        before, after = np.zeros((2, len(values)), np.int8)
        spaces = rng.integers(1, _MOST + 1, len(rows))
        leading = rng.random(len(rows)) < 0.5
        before[rows], after[rows] = spaces * leading, spaces * ~leading
        some = pa.array(_SPACES, values.type)
        left, right = some.take(pa.array(before)), some.take(pa.array(after))
        return pc.binary_join_element_wise(left, values, right, pa.scalar("", values.type))
