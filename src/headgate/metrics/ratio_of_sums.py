"""The sum of one column in proportion to that of another."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import ClassVar

from headgate.metrics.base.batch import ColumnBatch
from headgate.metrics.base.metric import NO_VALUES, PairMetric
from headgate.metrics.base.registry import metric
from headgate.metrics.states.moments import Moments
from headgate.values.outcome import Outcome, Undefined, outcome_of
from headgate.values.schema import NUMERIC
from headgate.values.state import State

TOO_LARGE = "a sum is too large for a double"


class PairMoments(State, frozen=True, tag="pair_moments"):
    """The moments of two columns, each over its own finite numbers."""

    left: Moments = Moments()
    right: Moments = Moments()

    def __add__(self, other: PairMoments) -> PairMoments:
        return PairMoments(self.left + other.left, self.right + other.right)

    def is_sound(self) -> bool:
        return self.left.is_sound() and self.right.is_sound()

    @classmethod
    def merge_all(cls, states: Sequence[PairMoments]) -> PairMoments:
        return cls(
            Moments.merge_all([each.left for each in states]), Moments.merge_all([each.right for each in states])
        )


@metric
class RatioOfSums(PairMetric[PairMoments], frozen=True):
    """sum of left / sum of right (Deequ's RatioOfSums), each over its own finite values.

    A row counts for one column even where the other is null, NaN or infinite. Undefined where one of them has no values
    or the right sum is 0.
    """

    name: ClassVar = "ratio_of_sums"
    signed: ClassVar = True
    state: ClassVar = PairMoments
    accepts: ClassVar = NUMERIC

    def fold(self, left: ColumnBatch, right: ColumnBatch) -> PairMoments:
        return PairMoments(Moments.of(left.floats), Moments.of(right.floats))

    def measure(self, state: PairMoments) -> Outcome:
        if not state.left.count or not state.right.count:
            return Undefined(NO_VALUES)
        if state.right.total == 0.0:
            return Undefined("the right column sums to 0")
        if not math.isfinite(state.right.total):
            return Undefined(TOO_LARGE)
        return outcome_of(state.left.total / state.right.total, otherwise=TOO_LARGE)
