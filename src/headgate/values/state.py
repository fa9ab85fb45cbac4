"""What a batch leaves behind: a small value that merges."""

from __future__ import annotations

from collections.abc import Sequence
from operator import add
from typing import Any, Generic, Self, TypeAlias, TypeVar

import msgspec
import numpy as np
import numpy.typing as npt

S = TypeVar("S", bound="State")
C = TypeVar("C", bound="Counts")
Rows: TypeAlias = npt.NDArray[np.intp]


class State(msgspec.Struct, frozen=True):
    """A commutative monoid: `+` is associative and commutative, and the class called without arguments is its identity.

    A subclass is frozen, has a default for every field, holds only what msgspec can encode (numbers, text, bytes,
    lists and dictionaries of these), and names its stored form with `tag="..."`. Tags never change once released.
    """

    def __add__(self, other: Self) -> Self:
        raise NotImplementedError(f"{type(self).__name__} does not say how it merges")

    @classmethod
    def merge_all(cls, states: Sequence[Self]) -> Self:
        """The sum of many at once, pair by pair; a state that knows a quicker way says so here."""
        left = list(states) or [cls()]
        while len(left) > 1:
            left = [left[at] + left[at + 1] if at + 1 < len(left) else left[at] for at in range(0, len(left), 2)]
        return left[0]

    @classmethod
    def stack(cls, states: Sequence[Self]) -> Stack[Self]:
        """Many of them to merge any of again and again; a type that merges faster from arrays lays them out here."""
        return Stack(states)

    def pieces(self, count: int) -> dict[int, Self]:
        """Parts that can be merged apart from each other; only states that may grow large have more than one."""
        return {0: self}

    def shrink(self) -> State:
        """What is left when it is too large to keep: enough to measure, if not to merge with another batch's."""
        return self

    def current(self) -> State:
        """The same in the form of this version; a form that an older version stored says here what it became."""
        return self

    def hide_values(self, secret: bytes) -> Self:
        """The same without a text value of the data in it: a hash under `secret` stands for each. Merges as before."""
        return self

    @property
    def weight(self) -> int:
        """How many entries this holds; an engine sends a state on early when it grows past a bound."""
        return 1

    @property
    def mergeable(self) -> bool:
        """False for what is left of a state that was too large to keep: it measures, but merges no more."""
        return True


class Stack(Generic[S]):
    """Many states of one type, side by side."""

    def __init__(self, states: Sequence[S]) -> None:
        self.states = states

    def merge_rows(self, rows: Rows) -> S:
        """The sum of those in these places."""
        return type(self.states[0]).merge_all([self.states[at] for at in rows.tolist()])


class Counts(State, frozen=True):
    """A state of whole numbers that add up field by field."""

    def __add__(self, other: Self) -> Self:
        return type(self)(*map(add, msgspec.structs.astuple(self), msgspec.structs.astuple(other)))

    @classmethod
    def merge_all(cls, states: Sequence[Self]) -> Self:
        return cls(*map(sum, zip(*map(msgspec.structs.astuple, states), strict=True)))

    @classmethod
    def stack(cls, states: Sequence[Self]) -> Stack[Self]:
        return _CountStack(states)


class _CountStack(Stack[C]):
    def __init__(self, states: Sequence[C]) -> None:
        super().__init__(states)
        self._fields = np.array([msgspec.structs.astuple(each) for each in states], np.int64)

    def merge_rows(self, rows: Rows) -> C:
        return type(self.states[0])(*self._fields[rows].sum(axis=0).tolist())


def tag_of(kind: type[State]) -> str:
    """The stored name of a state type."""
    tag = kind.__struct_config__.tag
    if not isinstance(tag, str):
        raise TypeError(f"{kind.__name__} has no stored name; declare it with tag='snake_case'")
    return tag


def state_types() -> dict[str, type[State]]:
    """Every state type that has been imported, by its stored name."""
    found: dict[str, type[State]] = {}
    waiting: list[type[Any]] = list(State.__subclasses__())
    while waiting:
        kind = waiting.pop()
        waiting.extend(kind.__subclasses__())
        if kind.__struct_fields__:  # one without fields is what others share, not a state of its own
            found[tag_of(kind)] = kind
    return found
