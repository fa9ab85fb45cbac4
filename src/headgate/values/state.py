"""What a batch leaves behind: a small value that merges."""

from __future__ import annotations

from typing import Any, Self

import msgspec


class State(msgspec.Struct, frozen=True):
    """A commutative monoid: `+` is associative and commutative, and the class called without arguments is its identity.

    A subclass is frozen, has a default for every field, holds only what msgspec can encode (numbers, text, bytes,
    lists and dictionaries of these), and names its stored form with `tag="..."`. Tags never change once released.
    """

    def __add__(self, other: Self) -> Self:
        raise NotImplementedError(f"{type(self).__name__} does not say how it merges")

    def pieces(self, count: int) -> dict[int, Self]:
        """Parts that can be merged apart from each other; only states that may grow large have more than one."""
        return {0: self}

    def shrunk(self) -> State:
        """What is left when it is too large to keep: enough to measure, if not to merge with another batch's."""
        return self

    @property
    def weight(self) -> int:
        """How many entries this holds; an engine sends a state on early when it grows past a bound."""
        return 1

    @property
    def mergeable(self) -> bool:
        """False for what is left of a state that was too large to keep: it measures, but merges no more."""
        return True


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
        found[tag_of(kind)] = kind
    return found
