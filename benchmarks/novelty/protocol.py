"""The paper's protocol: learn from the batches before, then judge a batch as it is and as it went wrong."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from benchmarks.history.baselines.method import complete
from benchmarks.novelty.vectors import Floats


class Confusion(NamedTuple):
    """Counts of judged batches. The paper's Tables 1 and 4 call them TP, FP, FN and TN, in this order."""

    found: int = 0
    missed: int = 0
    flagged: int = 0
    passed: int = 0

    @classmethod
    def of(cls, judged: Iterable[tuple[bool, bool]]) -> Confusion:
        """Of pairs: whether the clean batch was flagged, and whether its broken counterpart was.

        >>> Confusion.of([(False, True), (True, True), (False, False)])
        Confusion(found=2, missed=1, flagged=1, passed=2)
        """
        pairs = list(judged)
        flagged, found = (sum(bool(pair[side]) for pair in pairs) for side in (0, 1))
        return cls(found, len(pairs) - found, flagged, len(pairs) - flagged)

    @property
    def auc(self) -> float:
        """The area under the ROC curve of labels: the mean of the shares of broken found and of clean passed.

        >>> Confusion(found=40, missed=5, flagged=0, passed=45).auc.__round__(3)
        0.944
        """
        return (self.found / (self.found + self.missed) + self.passed / (self.flagged + self.passed)) / 2

    def told(self) -> dict[str, float]:
        return {"auc": round(self.auc, 4), **self._asdict()}


def scaled(history: Floats, tests: Floats) -> tuple[Floats, Floats]:
    """Both in [0, 1] of the history. A statistic that never moved keeps its unit, as in scikit-learn's MinMaxScaler.

    >>> scaled(np.array([[2.0, 5.0], [4.0, 5.0]]), np.array([[6.0, 5.5]]))
    (array([[0., 0.],
           [1., 0.]]), array([[2. , 0.5]]))
    """
    past, now = complete(history, tests)
    least, span = past.min(axis=0), np.ptp(past, axis=0)
    width = np.where(span > 0, span, 1.0)
    return (past - least) / width, (now - least) / width
