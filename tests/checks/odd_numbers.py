"""Every pair of odd numbers, and what each rule must say of it, by the comparisons of Python: NaN meets none."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import product
from typing import Any, NamedTuple

import pyarrow as pa

import headgate as hg

NAN, INFINITY = math.nan, math.inf
NUMBERS = (None, NAN, -INFINITY, -1e308, -1.0, -0.0, 0.0, 5e-324, 1.0, 5.0, INFINITY)
PAIRS = tuple(product(NUMBERS, NUMBERS))

Pair = tuple[float | None, float | None]


class OddRule(NamedTuple):
    """A check of one rule, which columns its rows must have, and the test that a row with all of them must meet."""

    check: hg.Check
    columns: str
    is_met: Callable[[float, float], bool]

    def failing_rows(self) -> list[int]:
        return [row for row, pair in enumerate(PAIRS) if self._is_in_scope(pair) and not self.is_met(*pair)]  # type: ignore[arg-type]

    def share(self) -> float:
        """The share of the rows in scope that meet the test."""
        seen = sum(map(self._is_in_scope, PAIRS))
        return (seen - len(self.failing_rows())) / seen

    def _is_in_scope(self, pair: Pair) -> bool:
        return all(value is not None for name, value in zip("ab", pair, strict=True) if name in self.columns)


def pairs() -> pa.Table:
    """A row for each pair; `single` has the left numbers as 32-bit floats, `when` is of another kind."""
    left, right = zip(*PAIRS, strict=True)
    return pa.table(
        {
            "row": list(range(len(PAIRS))),
            "a": pa.array(left, pa.float64()),
            "b": pa.array(right, pa.float64()),
            "single": pa.array(left, pa.float32()),
            "when": pa.array([at % 7 for at in range(len(PAIRS))], pa.int32()).cast(pa.date32()),
        }
    )


def _check() -> Any:
    return hg.Check("odd")


ROW_RULES: dict[str, OddRule] = {
    "is_positive": OddRule(_check().is_positive("a"), "a", lambda a, b: a > 0),
    "is_non_negative": OddRule(_check().is_non_negative("a"), "a", lambda a, b: a >= 0),
    "is_non_negative of singles": OddRule(_check().is_non_negative("single"), "a", lambda a, b: a >= 0),
    "is_in_range": OddRule(_check().is_in_range("a", 0, 5), "a", lambda a, b: 0 <= a <= 5),
    "is_in_range from": OddRule(_check().is_in_range("a", low=0), "a", lambda a, b: a >= 0),
    "is_in_range to": OddRule(_check().is_in_range("a", high=1.0), "a", lambda a, b: a <= 1),
    "is_in_range to infinity": OddRule(_check().is_in_range("a", high=INFINITY), "a", lambda a, b: a <= INFINITY),
    "is_less_than": OddRule(_check().is_less_than("a", "b"), "ab", lambda a, b: a < b),
    "is_less_than_or_equal_to": OddRule(_check().is_less_than_or_equal_to("a", "b"), "ab", lambda a, b: a <= b),
    "is_greater_than": OddRule(_check().is_greater_than("a", "b"), "ab", lambda a, b: a > b),
    "is_greater_than_or_equal_to": OddRule(_check().is_greater_than_or_equal_to("a", "b"), "ab", lambda a, b: a >= b),
    "is_contained_in": OddRule(_check().is_contained_in("a", [0.0, INFINITY]), "a", lambda a, b: a in (0.0, INFINITY)),
    "is_contained_in with NaN": OddRule(
        _check().is_contained_in("a", [1.0, NAN]), "a", lambda a, b: a == 1 or math.isnan(a)
    ),
    "has_finiteness": OddRule(_check().has_finiteness("a", equals=1), "a", lambda a, b: math.isfinite(a)),
}

BOUNDS: dict[str, tuple[hg.Check, Callable[[float], bool]]] = {
    "has_max": (_check().has_max("a", at_most=4), lambda a: not a > 4),
    "has_min": (_check().has_min("a", at_least=-2), lambda a: not a < -2),
    "has_max of singles": (_check().has_max("single", at_most=4), lambda a: not a > 4),
}
"""Rules of extremes with the test of a number that does not break them: NaN never does."""


def rows_beyond(is_within: Callable[[float], bool]) -> list[int]:
    """The rows whose left number is beyond a bound."""
    return [row for row, (left, _) in enumerate(PAIRS) if left is not None and not is_within(left)]
