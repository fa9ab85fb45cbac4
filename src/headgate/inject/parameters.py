"""The parameters that issues have in common: how many of the values, and words from a list."""

from __future__ import annotations

import math
from typing import Any

import msgspec
import numpy as np

from headgate.inject.issue import Rows
from headgate.values.errors import MisuseError


def check_share(owner: Any) -> None:
    """`share` is a number from 0 to 1; it becomes a float."""
    share = owner.share
    if isinstance(share, bool) or not isinstance(share, (int, float)) or not 0 <= share <= 1:
        raise MisuseError(f"{owner.name}: share is {share!r}.", hint="Write a share from 0 to 1: 0.5 is half of them.")
    msgspec.structs.force_setattr(owner, "share", float(share))


def check_factor(owner: Any) -> None:
    """`factor` is a finite number above 0; it becomes a float."""
    factor = owner.factor
    number = isinstance(factor, (int, float)) and not isinstance(factor, bool)
    if not number or not 0 < factor < math.inf:
        raise MisuseError(f"{owner.name}: factor is {factor!r}.", hint="Write a number above 0, such as 10 or 0.5.")
    msgspec.structs.force_setattr(owner, "factor", float(factor))


def check_word(owner: Any, field: str, *words: str) -> None:
    """A field holds one of these words."""
    given = getattr(owner, field)
    if given not in words:
        raise MisuseError(f"{owner.name}: {field} is {given!r}.", hint=f"Write one of {', '.join(map(repr, words))}.")


def count_of(share: float, among: int) -> int:
    """How many of so many a share is: at least one, unless there is nothing to take or the share is 0.

    >>> count_of(0.01, 20), count_of(0.5, 20), count_of(0.0, 20), count_of(0.5, 0)
    (1, 10, 0, 0)
    """
    return max(1, round(share * among)) if share > 0 and among else 0


def some_rows(share: float, among: int, rng: np.random.Generator) -> Rows:
    """A share of the rows, drawn without replacement, in order."""
    count = count_of(share, among)
    if count == among:
        return np.arange(among)
    return np.sort(rng.choice(among, count, replace=False, shuffle=False))
