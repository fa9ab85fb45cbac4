"""More rows than usual, or fewer: a day loaded twice, a source that did not answer."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import pyarrow as pa

from headgate.inject.issue import Issue, issue
from headgate.inject.parameters import check_factor, count_of
from headgate.values.schema import ANY


@issue
class VolumeChange(Issue, frozen=True):
    """`factor` times as many rows (Appendix B, type 5), drawn with replacement above 1 and without below; in order.

    >>> len(VolumeChange(factor=0.1).apply_to(pa.array(range(50)), np.random.default_rng(0)))
    5
    """

    factor: float
    name: ClassVar = "volume_change"
    accepts: ClassVar = ANY
    levels: ClassVar = ({"factor": 2.0}, {"factor": 10.0}, {"factor": 0.5}, {"factor": 0.1})
    of_rows: ClassVar = True

    def __post_init__(self) -> None:
        check_factor(self)

    def change(self, values: pa.Array, rng: np.random.Generator) -> pa.Array:
        count = count_of(self.factor, len(values))
        if self.factor > 1:
            rows = rng.integers(0, len(values), count)
        else:
            rows = rng.choice(len(values), count, replace=False, shuffle=False)
        return values.take(pa.array(np.sort(rows)))
