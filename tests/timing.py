"""Limits of time on machines that others use: the least of some tries counts, in CPU seconds of one known machine."""

from __future__ import annotations

import re
import time
from collections.abc import Callable

TRIES = 4
_REFERENCE = re.compile(r"(?:[ab]*?[ab])?c")
_REFERENCE_VALUE = "ab" * 1_400  # every start is tried with every end
_REFERENCE_SECONDS = 0.117  # of the machine on which the limits were set


def measure_least_seconds(work: Callable[[], object], enough: float) -> float:
    """The least CPU seconds of this process that `work` takes, of at most four tries.

    Other work on the machine only adds to the time, also to that of the CPU, so one fast try is enough. A try that took
    too long is divided by how much slower than usual a fixed piece of work is directly after it.

    Args:
        work: What to measure.
        enough: Seconds that are few enough to try no further.
    """
    least = float("inf")
    for _ in range(TRIES):
        spent = _measure_seconds(work)
        if spent >= enough:
            spent /= measure_slowness()
        least = min(least, spent)
        if least < enough:
            break
    return least


def measure_slowness() -> float:
    """How many times as long as on the machine of the limits a fixed piece of work takes now; at least 1."""
    spent = min(_measure_seconds(lambda: _REFERENCE.search(_REFERENCE_VALUE)) for _ in range(2))
    return max(1.0, spent / _REFERENCE_SECONDS)


def _measure_seconds(work: Callable[[], object]) -> float:
    began = time.process_time()
    work()
    return time.process_time() - began
