"""What a number must meet, as data: it prints, stores, compares and never runs code."""

from __future__ import annotations

import math
from typing import TypeAlias

import msgspec

from headgate.values.errors import BadPredicate


class Between(msgspec.Struct, frozen=True, tag="between"):
    """low <= value <= high; either end may be missing, not both.

    >>> print(Between(5, 500)), print(Between(low=5)), print(Between(high=1.5))
    within 5..500
    at least 5
    at most 1.5
    (None, None, None)
    """

    low: float | None = None
    high: float | None = None

    def __post_init__(self) -> None:
        ends = [end for end in (self.low, self.high) if end is not None]
        if not ends or any(math.isnan(end) for end in ends):
            raise BadPredicate("a range needs at least one end that is a number.", hint="Write Between(5, 500).")
        if len(ends) == 2 and ends[0] > ends[1]:
            raise BadPredicate(f"the range {ends[0]:g}..{ends[1]:g} is empty.", hint="Put the smaller end first.")

    def holds(self, value: float) -> bool:
        return (self.low is None or value >= self.low) and (self.high is None or value <= self.high)

    def __str__(self) -> str:
        if self.high is None:
            return f"at least {self.low:g}"
        if self.low is None:
            return f"at most {self.high:g}"
        return f"within {self.low:g}..{self.high:g}"


class OneOf(msgspec.Struct, frozen=True, tag="one_of"):
    """The value equals one of these exactly.

    >>> OneOf((50, 51)).holds(50.0)
    True
    """

    values: tuple[float, ...]

    def __post_init__(self) -> None:
        if not self.values or any(math.isnan(value) for value in self.values):
            raise BadPredicate("one_of needs at least one number.", hint="Write OneOf((50,)).")

    def holds(self, value: float) -> bool:
        return value in self.values

    def __str__(self) -> str:
        shown = ", ".join(f"{value:g}" for value in self.values)
        return f"equal to {shown}" if len(self.values) == 1 else f"one of {shown}"


Predicate: TypeAlias = Between | OneOf
