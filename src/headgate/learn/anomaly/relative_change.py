"""Detects values whose ratio to an earlier value is out of range.

Tested by `tests/learn/anomaly/test_change_detectors.py`.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from headgate.learn.anomaly.detector import Detector, detector
from headgate.learn.anomaly.parameters import check_ends, check_real, check_whole
from headgate.learn.anomaly.series import Ends, Floats, too_few
from headgate.values.outcome import Undefined


@detector
class RelativeChange(Detector, frozen=True):
    """least <= x[i] / x[i - order] <= most: the new value divided by the value `order` runs before.

    This is Deequ's RelativeRateOfChangeStrategy: 0.9 and 1.1 allow 10% either way. An order above 1 is a distance, not
    a difference of differences: order=7 compares with the same weekday. If the value `order` runs before is missing,
    the value 2 * order runs before is used, and so on, so that the weekday stays the same. There is no band after a
    value of zero.

    >>> print(RelativeChange(least=0.9, most=1.1).band([100.0, 200.0]))
    within 180..220
    """

    least: float | None = None
    most: float | None = None
    order: int = 1
    name: ClassVar = "relative_change"

    def __post_init__(self) -> None:
        check_real(self, "least", "most", least=0.0)
        check_ends(self, "least", "most", "RelativeChange(least=0.9, most=1.1) for 10% either way")
        check_whole(self, "order", least=1)

    def ends(self, values: Floats) -> Ends | Undefined:
        in_phase = values[::-1][self.order - 1 :: self.order]
        present = in_phase[~np.isnan(in_phase)]
        if not len(present):
            return self._nothing_to_compare_with(values)
        before = float(present[0])
        if before == 0.0:
            return Undefined("the value to compare with is 0: there is no ratio to it")
        low, high = (None if factor is None else factor * before for factor in (self.least, self.most))
        if before < 0.0:
            low, high = high, low
        return Ends(low, high, max(abs(end) for end in (low, high) if end is not None))

    def _nothing_to_compare_with(self, values: Floats) -> Undefined:
        present = int(np.count_nonzero(~np.isnan(values)))
        if present == 0 or len(values) < self.order:
            return too_few(self.order, present)
        return Undefined(f"the value {self.order} runs before is missing, and so are those at multiples of that")
