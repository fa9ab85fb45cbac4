"""How many values outside a pattern are too many: Fisher's exact test, two-sided, worked out once for each size."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import gammaln

Numbers = npt.NDArray[Any]
SIGNIFICANCE = 0.01
_SLACK = 1e-7  # of a probability: tables as likely as the one seen count, in spite of rounding


@cache
def least_rejected(outside: int, seen: int, size: int, significance: float = SIGNIFICANCE) -> int:
    """The smallest number outside, of `size` values, that does not go with `outside` of `seen`; size + 1 if none.

    Only a larger share outside counts. A column that fits better than its training values is no issue.

    >>> least_rejected(0, 10, 90), least_rejected(1, 10, 90), least_rejected(0, 10, 3)
    (39, 50, 3)
    """
    for found in range(size + 1):
        if found * seen > outside * size and p_value(outside, seen, found, size) < significance:
            return found
    return size + 1


def p_value(outside: int, seen: int, found: int, size: int) -> float:
    """The two-sided p-value that `outside` of `seen` and `found` of `size` are draws of one kind.

    >>> round(p_value(0, 10, 30, 90), 4)
    0.0302
    """
    total = outside + found
    first = np.arange(max(0, total - size), min(seen, total) + 1)
    likely = _log_choose(seen, first) + _log_choose(size, total - first) - _log_choose(seen + size, np.array(total))
    here = likely[outside - first[0]]
    return float(np.exp(likely[likely <= here + _SLACK]).sum())


def _log_choose(of: int, chosen: Numbers) -> Numbers:
    found: Numbers = gammaln(of + 1) - gammaln(chosen + 1) - gammaln(of - chosen + 1)
    return found
