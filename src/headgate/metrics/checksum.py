"""A checksum of all rows, whatever their order: it tells two batches apart that differ in one value."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from headgate.metrics.base.batch import ColumnBatch
from headgate.metrics.base.hashing import hash_rows
from headgate.metrics.base.metric import Metric
from headgate.metrics.base.registry import metric
from headgate.values.outcome import Measured, Outcome
from headgate.values.state import State

_WORD = 1 << 64
_EXACT = 1 << 53  # whole numbers below it are exact in a double


class RowChecksum(State, frozen=True, tag="row_checksum"):
    """The sums of the two 64-bit halves of the rows' hashes, each modulo 2^64, and the number of rows.

    Two batches that were not made to collide have the same sums with probability 2^-64 or less. The hash has no key,
    so somebody who may write batches can construct two that have.
    """

    first: int = 0
    second: int = 0
    rows: int = 0

    def __add__(self, other: RowChecksum) -> RowChecksum:
        return RowChecksum(
            (self.first + other.first) % _WORD, (self.second + other.second) % _WORD, self.rows + other.rows
        )

    def is_sound(self) -> bool:
        return 0 <= self.first < _WORD and 0 <= self.second < _WORD and 0 <= self.rows < _WORD


@metric
class Checksum(Metric[RowChecksum], frozen=True):
    """(sum over rows of hash(row)) mod 2^53: equal for equal rows in any order, and practically only for those.

    A null is a value of its own. -0.0 equals 0.0, and every NaN equals every other. Of nested columns, Spark compares
    the text that they are cast to. Of an empty batch it is 0.
    """

    name: ClassVar = "checksum"
    state: ClassVar = RowChecksum
    folded: ClassVar = "row_checksum"
    every_column: ClassVar = True

    def fold_views(self, views: Sequence[ColumnBatch]) -> RowChecksum:
        if not views:
            return RowChecksum()
        first, second = hash_rows([each.words for each in views])
        return RowChecksum(int(first.sum(dtype=np.uint64)), int(second.sum(dtype=np.uint64)), len(first))

    def measure(self, state: RowChecksum) -> Outcome:
        return Measured(float(state.first % _EXACT))
