"""How the finite numbers spread over bins of equal width."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from headgate.metrics.base.metric import NO_VALUES
from headgate.metrics.base.registry import metric
from headgate.metrics.states.quantiles import SAMPLED_SHARE_ERROR, Quantiles
from headgate.metrics.states.readings import OfQuantiles
from headgate.values.errors import MisuseError
from headgate.values.outcome import Distribution, Measured, Outcome, Undefined


@metric
class Histogram(OfQuantiles, frozen=True):
    """Counts in `bins` equal parts of min..max (Deequ 2018, Table 2), exact for up to 1,024 different numbers.

    For the values themselves, unbinned, see `value_distribution`.
    """

    bins: int = 10
    name: ClassVar = "histogram"
    distribution: ClassVar = True

    def __post_init__(self) -> None:
        if not 1 <= self.bins <= 1000:
            raise MisuseError(f"bins is {self.bins}; a histogram has 1 to 1,000.")

    def measure(self, state: Quantiles) -> Outcome:
        if not state.total:
            return Undefined(NO_VALUES)
        low, high, total = state.low, state.high, state.total
        if low == high:
            return Measured(Distribution({f"{low:g}": total}, total=total))
        if not math.isfinite(high - low):
            return Undefined("the range is too large for a double")
        # fewer bins than asked for, where there are not enough doubles between the ends
        edges = np.unique(np.linspace(low, high, self.bins + 1))
        shares = np.diff(state.share_below(edges[1:-1]), prepend=0.0, append=1.0)
        labels = [f"{left}..{right}" for left, right in pairwise(_marks(edges))]
        counts = np.rint(shares * total).astype(int).tolist()
        error = round(SAMPLED_SHARE_ERROR * total) if state.sampled else 0
        error += int(state.bins().counts.max()) if state.shift else 0
        return Measured(Distribution(dict(zip(labels, counts, strict=True)), total=total, error=error))


def _marks(edges: npt.NDArray[np.float64]) -> list[str]:
    """The edges as text, with as many digits as it takes to tell them apart."""
    marks = [f"{edge:g}" for edge in edges]
    digits = 6
    while len(set(marks)) < len(marks):
        digits += 1
        marks = [f"{edge:.{digits}g}" for edge in edges]
    return marks
