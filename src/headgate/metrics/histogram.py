"""How the finite numbers spread over bins of equal width."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from headgate.metrics.base.metric import NO_VALUES
from headgate.metrics.base.registry import metric
from headgate.metrics.states.quantiles import Quantiles
from headgate.metrics.states.readings import OfQuantiles
from headgate.values.errors import MisuseError
from headgate.values.outcome import Distribution, Measured, Outcome, Undefined


@metric
class Histogram(OfQuantiles, frozen=True):
    """Counts in `bins` equal parts of min..max (Deequ 2018, Table 2), by KLL: each within 1.65% of the values.

    For the values themselves, unbinned, see `value_distribution`.
    """

    bins: int = 10
    name: ClassVar = "histogram"
    distribution: ClassVar = True

    def __post_init__(self) -> None:
        if not 1 <= self.bins <= 1000:
            raise MisuseError(f"bins is {self.bins}; a histogram has 1 to 1,000.")

    def measure(self, state: Quantiles) -> Outcome:
        if not state.sketch:
            return Undefined(NO_VALUES)
        sketch = state.open_sketch()
        low, high = sketch.get_min_value(), sketch.get_max_value()
        if low == high:
            return Measured(Distribution({f"{low:g}": sketch.n}, total=sketch.n))
        if not math.isfinite(high - low):
            return Undefined("the range is too large for a double")
        # fewer bins than asked for, where there are not enough doubles between the ends
        edges = np.unique(np.linspace(low, high, self.bins + 1))
        shares = np.diff([0.0, *sketch.get_cdf(edges[1:-1].tolist())]) if len(edges) > 2 else np.ones(1)
        labels = [f"{left}..{right}" for left, right in pairwise(_marks(edges))]
        error = round(sketch.normalized_rank_error(True) * sketch.n) if sketch.is_estimation_mode() else 0
        counts = np.rint(shares * sketch.n).astype(int).tolist()
        return Measured(Distribution(dict(zip(labels, counts, strict=True)), total=sketch.n, error=error))


def _marks(edges: npt.NDArray[np.float64]) -> list[str]:
    """The edges as text, with as many digits as it takes to tell them apart."""
    marks = [f"{edge:g}" for edge in edges]
    digits = 6
    while len(set(marks)) < len(marks):
        digits += 1
        marks = [f"{edge:.{digits}g}" for edge in edges]
    return marks
