"""Limits of time on a machine that others use: the least of some tries counts, in CPU seconds."""

from __future__ import annotations

import time
from collections.abc import Callable

TRIES = 4


def measure_least_seconds(work: Callable[[], object], enough: float) -> float:
    """The least CPU seconds of this process that `work` takes, of at most four tries.

    Other work on the machine only adds to the time, also to that of the CPU, so one fast try is enough.

    Args:
        work: What to measure.
        enough: Seconds that are few enough to try no further.
    """
    least = float("inf")
    for _ in range(TRIES):
        began = time.process_time()
        work()
        least = min(least, time.process_time() - began)
        if least < enough:
            break
    return least
