"""Upper case for lower case, and the other way round: a new standard for codes."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from headgate.inject.issue import Issue, issue
from headgate.inject.parameters import check_share, check_word, some_rows
from headgate.values.schema import TEXT

_UNICODE = {"swap": pc.utf8_swapcase, "upper": pc.utf8_upper, "lower": pc.utf8_lower}
_ASCII = {"swap": pc.ascii_swapcase, "upper": pc.ascii_upper, "lower": pc.ascii_lower}


@issue
class CasingChange(Issue, frozen=True):
    """A share of the values with the case of every letter swapped, or all of them `upper` or `lower` (type 3).

    >>> CasingChange(share=1.0).apply_to(pa.array(["eu", "US"]), np.random.default_rng(0)).to_pylist()
    ['EU', 'us']
    """

    share: float
    to: str = "swap"
    name: ClassVar = "casing_change"
    is_random: ClassVar = False
    accepts: ClassVar = TEXT
    levels: ClassVar = ({"share": 0.01}, {"share": 0.1}, {"share": 1.0})

    def __post_init__(self) -> None:
        check_share(self)
        check_word(self, "to", *_UNICODE)

    def change(self, values: pa.Array, rng: np.random.Generator) -> pa.Array:
        rows = some_rows(self.share, len(values), rng)
        chosen = np.zeros(len(values), np.bool_)
        chosen[rows] = True
        return pc.replace_with_mask(values, pa.array(chosen), self._change_case(values.take(pa.array(rows))))

    def _change_case(self, values: pa.Array) -> pa.Array:
        try:
            return _UNICODE[self.to](values)
        except pa.ArrowInvalid:  # bytes that are no UTF-8: the letters of ASCII are still letters
            return _ASCII[self.to](values)
