"""Detects values far from the mean of the last values. Tested by `tests/learn/anomaly/test_normal_detectors.py`."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from headgate.learn.anomaly.detector import Detector, detector
from headgate.learn.anomaly.normal import check_normal, normal_ends
from headgate.learn.anomaly.parameters import check_whole
from headgate.learn.anomaly.series import Ends, Floats, drop_missing
from headgate.values.outcome import Undefined


@detector
class BatchNormal(Detector, frozen=True):
    """|x - mean| <= deviations * deviation, over the last `window` values before x, or over all of them.

    The deviation is the sample standard deviation, with n - 1. Every value in the window counts, past anomalies too;
    they leave the baseline as the window moves on, and so does an old level (Deequ 2018, section 3.4). If all values
    are equal, the band is that value, widened by rounding.

    Args:
        deviations: How many standard deviations a value may lie from the mean.
        window: How many values before the judged one count; all of them if None.
        lower: Whether a value may be too low.
        upper: Whether a value may be too high.
        difference: How often the series is differenced first.
        warm_up: How many values it takes before one is judged.

    >>> print(BatchNormal(window=5).band([0.0, 0.0, 9.0, 10.0, 11.0, 10.0, 10.0]))
    within 7.87868..12.1213
    """

    deviations: float = 3.0
    window: int | None = None
    lower: bool = True
    upper: bool = True
    difference: int = 0
    warm_up: int = 5
    name: ClassVar = "batch_normal"
    always_shown: ClassVar = ("deviations",)

    def __post_init__(self) -> None:
        check_normal(self)
        check_whole(self, "window", least=2)

    def ends(self, values: Floats) -> Ends | Undefined:
        needed = self.warm_up if self.window is None else min(self.warm_up, self.window)
        history = drop_missing(values, needed + self.difference)
        if isinstance(history, Undefined):
            return history
        if self.window is not None:
            history = history[-(self.window + self.difference) :]
        changes = np.diff(history, n=self.difference)
        # Subtracting the first value makes the deviation of equal values exactly 0.
        shifted = changes - changes[0]
        return normal_ends(self, history, float(changes[0] + shifted.mean()), float(shifted.std(ddof=1)))
