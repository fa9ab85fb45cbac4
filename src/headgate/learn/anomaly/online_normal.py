"""Detects values far from a running mean that past anomalies do not move.

Tested by `tests/learn/anomaly/test_normal_detectors.py`.
"""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np

from headgate.learn.anomaly.detector import Detector, detector
from headgate.learn.anomaly.normal import check_normal, normal_ends
from headgate.learn.anomaly.parameters import check_flag
from headgate.learn.anomaly.series import Ends, Floats, drop_missing, slack_of
from headgate.values.outcome import Undefined


class RunningMoments:
    """Count, mean and sum of squared deviations of the values so far (Welford 1962)."""

    def __init__(self) -> None:
        self.count = 0
        self.mean = 0.0
        self.squares = 0.0

    def add(self, value: float) -> None:
        self.count += 1
        gap = value - self.mean
        self.mean += gap / self.count
        self.squares += gap * (value - self.mean)

    @property
    def deviation(self) -> float:
        if self.squares == 0.0:
            return 0.0
        return math.sqrt(self.squares / (self.count - 1)) if self.squares > 0.0 else math.nan  # after an overflow


@detector
class OnlineNormal(Detector, frozen=True):
    """|x - mean| <= deviations * deviation, over all values before x (Deequ 2018, sections 3.4 and 5.4).

    The deviation is the sample standard deviation, with n - 1. With `ignore_anomalies`, a value that was itself outside
    does not move the mean, so that an anomaly does not widen the band that should catch the next one. After a lasting
    change of level every value is then outside; use `BatchNormal(window=...)` if levels change. If all values are
    equal, the band is that value, widened by rounding.

    Deequ includes x in its own mean and deviation. With n values none can then be further out than sqrt(n - 1)
    deviations, so a limit of 3 flags nothing among fewer than 11 values. Here x is never in its own baseline.

    Args:
        deviations: How many standard deviations a value may lie from the mean.
        lower: Whether a value may be too low.
        upper: Whether a value may be too high.
        ignore_anomalies: Whether a value outside the band is left out of the mean and the deviation.
        difference: How often the series is differenced first.
        warm_up: The first values, which always count and are not judged.

    >>> OnlineNormal().find_anomalies([10.0, 11.0, 9.0, 10.0, 10.0, 25.0, 10.0, 25.0])
    (5, 7)
    """

    deviations: float = 3.0
    lower: bool = True
    upper: bool = True
    ignore_anomalies: bool = True
    difference: int = 0
    warm_up: int = 5
    name: ClassVar = "online_normal"
    always_shown: ClassVar = ("deviations",)

    def __post_init__(self) -> None:
        check_normal(self)
        check_flag(self, "ignore_anomalies")

    def ends(self, values: Floats) -> Ends | Undefined:
        history = drop_missing(values, self.warm_up + self.difference)
        if isinstance(history, Undefined):
            return history
        running = self._accumulate_history(history)
        return normal_ends(self, history, running.mean, running.deviation)

    def _accumulate_history(self, history: Floats) -> RunningMoments:
        changes = np.diff(history, n=self.difference).tolist()
        largest = np.maximum.accumulate(np.abs(history)).tolist()
        running = RunningMoments()
        for index, change in enumerate(changes):
            # A value is judged only by the values before it, so the slack for rounding comes from those too.
            known = largest[index + self.difference - 1] if index + self.difference else 0.0
            if index < self.warm_up or not self._is_anomaly(change, running, slack_of(known * 2.0**self.difference)):
                running.add(change)
        return running

    def _is_anomaly(self, change: float, running: RunningMoments, slack: float) -> bool:
        reach = self.deviations * running.deviation + slack
        gap = change - running.mean
        return self.ignore_anomalies and ((self.lower and gap < -reach) or (self.upper and gap > reach))
