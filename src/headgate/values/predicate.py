"""Conditions on a number, as data that print, store and compare. Only `Python` runs code."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, ClassVar, TypeAlias

import msgspec

from headgate.display.numbers import format_moment, format_number
from headgate.values.errors import BadPredicate


class Between(msgspec.Struct, frozen=True, tag="between"):
    """low <= value <= high; one end may be None. With `moments`, the ends are seconds since 1970.

    >>> print(Between(5, 500)), print(Between(low=5)), print(Between(high=1.5))
    within 5..500
    at least 5
    at most 1.5
    (None, None, None)
    """

    low: float | None = None
    high: float | None = None
    moments: bool = False

    def __post_init__(self) -> None:
        ends = [end for end in (self.low, self.high) if end is not None]
        if not ends or any(math.isnan(end) for end in ends):
            raise BadPredicate("a range needs at least one end that is a number.", hint="Write Between(5, 500).")
        if len(ends) == 2 and ends[0] > ends[1]:
            raise BadPredicate(f"the range {ends[0]:g}..{ends[1]:g} is empty.", hint="Put the smaller end first.")

    def holds(self, value: float) -> bool:
        return (self.low is None or value >= self.low) and (self.high is None or value <= self.high)

    @property
    def floor(self) -> float | None:
        return self.low

    @property
    def ceiling(self) -> float | None:
        return self.high

    def format_value(self, value: float) -> str:
        """A value for display, in the units of the predicate."""
        return format_moment(value) if self.moments else format_number(value)

    def __str__(self) -> str:
        low, high = (None if end is None else self.format_value(end) for end in (self.low, self.high))
        if high is None:
            return f"at least {low}"
        return f"at most {high}" if low is None else f"within {low}..{high}"


class OneOf(msgspec.Struct, frozen=True, tag="one_of"):
    """The value equals one of these exactly.

    >>> OneOf((50, 51)).holds(50.0)
    True
    """

    values: tuple[float, ...]
    moments: bool = False

    def __post_init__(self) -> None:
        if not self.values or any(math.isnan(value) for value in self.values):
            raise BadPredicate("one_of needs at least one number.", hint="Write OneOf((50,)).")

    def holds(self, value: float) -> bool:
        return value in self.values

    @property
    def floor(self) -> float | None:
        return min(self.values)

    @property
    def ceiling(self) -> float | None:
        return max(self.values)

    def format_value(self, value: float) -> str:
        return format_moment(value) if self.moments else format_number(value)

    def __str__(self) -> str:
        values = ", ".join(map(self.format_value, self.values))
        return f"equal to {values}" if len(self.values) == 1 else f"one of {values}"


class _WithoutEnds(msgspec.Struct, frozen=True):
    """A predicate without a known smallest or largest value."""

    moments: ClassVar[bool] = False

    @property
    def floor(self) -> float | None:
        return None

    @property
    def ceiling(self) -> float | None:
        return None

    def format_value(self, value: float) -> str:
        return format_number(value)


class Pending(_WithoutEnds, frozen=True, tag="pending"):
    """The condition is not known yet, and `why`: a series is too short. It is skipped, never passed or failed."""

    why: str

    def holds(self, value: float) -> bool:
        raise BadPredicate(f"nothing can be held against this yet: {self.why}.")

    def __str__(self) -> str:
        return f"not known yet ({self.why})"


class Python(_WithoutEnds, frozen=True, tag="python", dict=True, eq=False):
    """A function of the value. It exists in this process only; a store keeps its name.

    >>> Python.of(lambda mean: mean > 5).holds(6.0)
    True
    """

    text: str

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Python) or self.text != other.text:
            return False
        mine, theirs = self.__dict__.get("function"), other.__dict__.get("function")
        return mine is theirs or mine is None or theirs is None

    def __hash__(self) -> int:
        return hash(self.text)

    @classmethod
    def of(cls, function: Callable[[Any], object]) -> Python:
        predicate = cls(getattr(function, "__qualname__", None) or repr(function))
        predicate.__dict__["function"] = function
        return predicate

    def holds(self, value: Any) -> bool:
        if "function" not in self.__dict__:
            raise BadPredicate(f"the function {self.text} is not stored, only its name.")
        return bool(self.__dict__["function"](value))

    def __str__(self) -> str:
        return f"to meet {self.text}"


Predicate: TypeAlias = Between | OneOf | Pending | Python
