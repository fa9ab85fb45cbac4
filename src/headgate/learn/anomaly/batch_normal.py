"""The mean and deviation of the last values."""

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

    The deviation is that of a sample, by n - 1. Every value in the window counts, past incidents too; they leave it as
    the window moves on, and so does an old level. `difference` differences the series that often first (Deequ 2018,
    section 3.4). With no variance the band is the one value there has been, and what rounding may add to it.

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
        # Around the first of them, equal values have exactly their own mean and no deviation.
        shifted = changes - changes[0]
        return normal_ends(self, history, float(changes[0] + shifted.mean()), float(shifted.std(ddof=1)))
