"""How much one column tells about another."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from headgate.metrics.base.batch import ColumnBatch
from headgate.metrics.base.hashing import combine
from headgate.metrics.base.metric import NO_VALUES, PairMetric
from headgate.metrics.base.registry import metric
from headgate.metrics.states.groups import Groups, GroupSizes
from headgate.values.outcome import Measured, Outcome, Undefined
from headgate.values.schema import HASHABLE
from headgate.values.state import State


class PairSizes(State, frozen=True, tag="pair_sizes"):
    """Group sizes of the left values, the right values and the pairs."""

    left: GroupSizes = GroupSizes()
    right: GroupSizes = GroupSizes()
    both: GroupSizes = GroupSizes()

    def is_sound(self) -> bool:
        return self.left.is_sound() and self.right.is_sound() and self.both.is_sound()

    def __add__(self, other: PairSizes) -> PairSizes:
        return PairSizes(self.left + other.left, self.right + other.right, self.both + other.both)

    @property
    def mergeable(self) -> bool:
        return False

    @property
    def sizes(self) -> PairSizes:
        return self


class PairGroups(State, frozen=True, tag="pair_groups"):
    """Groups of the left values, of the right values and of the pairs, over the rows where both are present."""

    left: Groups = Groups()
    right: Groups = Groups()
    both: Groups = Groups()

    def is_sound(self) -> bool:
        return self.left.is_sound() and self.right.is_sound() and self.both.is_sound()

    def __add__(self, other: PairGroups) -> PairGroups:
        return PairGroups(self.left + other.left, self.right + other.right, self.both + other.both)

    @classmethod
    def merge_all(cls, states: Sequence[PairGroups]) -> PairGroups:
        return cls(*(Groups.merge_all([getattr(each, side) for each in states]) for side in cls.__struct_fields__))

    @property
    def weight(self) -> int:
        return self.left.weight + self.right.weight + self.both.weight

    @property
    def sizes(self) -> PairSizes:
        return PairSizes(self.left.sizes, self.right.sizes, self.both.sizes)

    def pieces(self, count: int) -> dict[int, PairGroups]:
        left, right, both = (part.pieces(count) for part in (self.left, self.right, self.both))
        none = Groups()
        wanted = sorted({*left, *right, *both})
        return {at: PairGroups(left.get(at, none), right.get(at, none), both.get(at, none)) for at in wanted}

    def shrink(self) -> PairSizes:
        return self.sizes


@metric
class MutualInformation(PairMetric[PairGroups], frozen=True):
    """H(left) + H(right) - H(left, right), in nats, over the rows where both are present (Deequ 2018, section 3.2).

    Equal to sum of p(a, b) ln(p(a, b) / (p(a) p(b))); exact.
    """

    name: ClassVar = "mutual_information"
    state: ClassVar = PairGroups
    accepts: ClassVar = HASHABLE

    def fold(self, left: ColumnBatch, right: ColumnBatch) -> PairGroups:
        inside = left.valid & right.valid
        one, two = left.hashes, right.hashes
        hashes = (one, two, combine([one, two]))
        return PairGroups(*(Groups.of((first[inside], second[inside])) for first, second in hashes))

    def measure(self, state: PairGroups) -> Outcome:
        sizes = state.sizes
        if not sizes.both.rows:
            return Undefined(NO_VALUES)
        gain = sizes.left.entropy() + sizes.right.entropy() - sizes.both.entropy()
        return Measured(max(0.0, gain))
