"""Suggests limits of the row count of a table, from the row counts of its batches."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from headgate.learn.rules.rule import Suggestion, suggestion

FACTOR = 10
"""How many times fewer or more rows than any batch had are still allowed."""
_DIGITS = 2  # significant digits of a limit


def suggest_row_count(counts: Sequence[int]) -> Suggestion | None:
    """`has_size` of at least a tenth of the smallest and at most ten times the largest batch.

    One batch does not tell how much larger others are, so it gives the lower limit only. Batches without rows are not
    counted; if all are so, nothing is suggested.

    >>> str(suggest_row_count([1_234, 1_100]))
    'has_size() within 110..13,000'
    """
    known = [count for count in counts if count]
    if not known:
        return None
    low = max(1, _round_count(min(known) / FACTOR, math.floor))
    if len(known) == 1:
        return suggestion(f"the batch has {known[0]:,} rows", "has_size", at_least=low)
    why = f"{len(known)} batches have {min(known):,} to {max(known):,} rows"
    return suggestion(why, "has_size", between=(low, _round_count(max(known) * FACTOR, math.ceil)))


def _round_count(count: float, rounding: Callable[[float], int]) -> int:
    """The count in two digits, rounded down or up."""
    step = int(10 ** max(0, math.floor(math.log10(max(count, 1))) + 1 - _DIGITS))
    return rounding(count / step) * step
