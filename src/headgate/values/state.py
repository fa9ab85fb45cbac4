"""The state of a batch: a small value that can be merged with those of other batches."""

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

MOST = 1 << 53
"""More than a count ever is; thousands of such counts still add up in 64 bits."""


class State(msgspec.Struct, frozen=True):
    """A commutative monoid: `+` is associative and commutative, and the class called without arguments is its identity.

    A subclass is frozen, has a default for every field, holds only what msgspec can encode (numbers, text, bytes,
    lists and dictionaries of these), and names its stored form with `tag="..."`. Tags never change once released.
    """

    def __add__(self, other: Self) -> Self:
        raise NotImplementedError(f"{type(self).__name__} does not say how it merges")

    @classmethod
    def merge_all(cls, states: Sequence[Self]) -> Self:
        """The sum of many states, pair by pair. A type that has a faster way overrides it."""
        states_left = list(states) or [cls()]
        while len(states_left) > 1:
            states_left = [
                states_left[index] + states_left[index + 1] if index + 1 < len(states_left) else states_left[index]
                for index in range(0, len(states_left), 2)
            ]
        return states_left[0]

    @classmethod
    def stack(cls, states: Sequence[Self]) -> Stack[Self]:
        """A stack of states, any subset of which can be merged. A type that merges faster from arrays overrides it."""
        return Stack(states)

    def pieces(self, count: int) -> dict[int, Self]:
        """Pieces that can be merged independently; only states that may grow large have more than one."""
        return {0: self}

    def shrink(self) -> State:
        """A smaller state, for one that is too large to keep: it can be measured, but may no longer merge."""
        return self

    def finish(self) -> Self:
        """The state of a whole batch, without what only its parts need to merge."""
        return self

    def current(self) -> State:
        """The state in the format of this version. A type that only older versions store converts itself here."""
        return self

    def is_sound(self) -> bool:
        """Whether the fields go together, as those that a fold made do. Stored bytes are refused if they do not.

        It may also raise, as arrays do that do not fit.
        """
        return True

    def hide_values(self, secret: bytes) -> Self:
        """The state with each text value of the data replaced by a hash under `secret`. It merges as before."""
        return self

    @property
    def weight(self) -> int:
        """The number of entries. An engine sends a state on early if it grows beyond a limit."""
        return 1

    @property
    def mergeable(self) -> bool:
        """False for a shrunk state: it can be measured, but no longer merged."""
        return True


class Stack(Generic[S]):
    """Many states of one type, any subset of which can be merged."""

    def __init__(self, states: Sequence[S]) -> None:
        self.states = states

    def merge_rows(self, rows: Rows) -> S:
        """The sum of the states at these indices."""
        return type(self.states[0]).merge_all([self.states[row] for row in rows.tolist()])


class Counts(State, frozen=True):
    """A state of integers, none below 0, that are added field by field."""

    def is_sound(self) -> bool:
        return all(0 <= count < MOST for count in msgspec.structs.astuple(self))

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


def are_counts(counts: npt.NDArray[np.int64]) -> bool:
    """Whether all of these are counts of something that occurs."""
    return bool((counts > 0).all()) and bool((counts < MOST).all())


def tag_of(kind: type[State]) -> str:
    """The stored name of a state type."""
    tag = kind.__struct_config__.tag
    if not isinstance(tag, str):
        raise TypeError(f"{kind.__name__} has no stored name; declare it with tag='snake_case'")
    return tag


def state_types() -> dict[str, type[State]]:
    """Every state type that has been imported, by its stored name."""
    kinds: dict[str, type[State]] = {}
    waiting: list[type[Any]] = list(State.__subclasses__())
    while waiting:
        kind = waiting.pop()
        waiting.extend(kind.__subclasses__())
        if kind.__struct_fields__:  # a type without fields is a base of others
            kinds[tag_of(kind)] = kind
    return kinds
