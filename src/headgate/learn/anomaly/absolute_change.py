"""Detects values that differ too much from the one before. Tested by `tests/learn/anomaly/test_change_detectors.py`."""

from __future__ import annotations

from typing import ClassVar

from headgate.learn.anomaly.detector import Detector, detector
from headgate.learn.anomaly.parameters import check_real, check_whole
from headgate.learn.anomaly.series import Ends, Floats, drop_missing, extrapolate_next, scale_of
from headgate.values.errors import MisuseError
from headgate.values.outcome import Undefined


@detector
class AbsoluteChange(Detector, frozen=True):
    """-most_down <= difference <= most_up, where the difference of order 1 is x[i] - x[i-1].

    Order 2 is the difference of these differences, x[i] - 2 x[i-1] + x[i-2]: it lets steady growth pass and flags a
    change of the growth. Missing values are skipped, so the difference is to the last value that is present. Deequ's
    AbsoluteChangeStrategy is the same, with a negative number for `most_down`.

    >>> print(AbsoluteChange(most_down=10, most_up=50).band([100.0, 120.0]))
    within 110..170
    """

    most_down: float | None = None
    most_up: float | None = None
    order: int = 1
    name: ClassVar = "absolute_change"

    def __post_init__(self) -> None:
        check_real(self, "most_down", "most_up", least=0.0)
        check_whole(self, "order", least=1)
        if self.most_down is None and self.most_up is None:
            raise MisuseError(f"{self.name} needs most_down or most_up.", hint="Write AbsoluteChange(most_down=100).")

    def ends(self, values: Floats) -> Ends | Undefined:
        history = drop_missing(values, self.order)
        if isinstance(history, Undefined):
            return history
        last = history[-self.order :]
        start = extrapolate_next(last, self.order)
        scale = max(scale_of(last, self.order), self.most_down or 0.0, self.most_up or 0.0)
        return Ends(
            None if self.most_down is None else start - self.most_down,
            None if self.most_up is None else start + self.most_up,
            scale,
        )
