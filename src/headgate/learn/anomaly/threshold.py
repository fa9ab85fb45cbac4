"""Detects values outside fixed ends. Tested by `tests/learn/anomaly/test_change_detectors.py`."""

from __future__ import annotations

from typing import ClassVar

from headgate.learn.anomaly.detector import Detector, detector
from headgate.learn.anomaly.parameters import check_ends, check_real
from headgate.learn.anomaly.series import Ends, Floats


@detector
class Threshold(Detector, frozen=True):
    """low <= value <= high (Deequ 2018, section 3.4); either end may be None. It needs no history.

    >>> print(Threshold(low=0.9).band([]))
    at least 0.9
    """

    low: float | None = None
    high: float | None = None
    name: ClassVar = "threshold"

    def __post_init__(self) -> None:
        check_real(self, "low", "high")
        check_ends(self, "low", "high", "Threshold(low=0.9)")

    def ends(self, values: Floats) -> Ends:
        return Ends(self.low, self.high)
