"""State the lowest false alarm rate that a band of a least or greatest value can have."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from headgate.learn.history.noise import find_rows
from headgate.learn.metric_traits import MetricTraits

Floats = npt.NDArray[np.float64]


def find_record_rates(values: Floats, metrics: Sequence[MetricTraits]) -> Floats:
    """The lowest false alarm rate of any band of each metric, from its values in the runs (rows).

    One row makes an extreme. A band around it, however wide, asserts that no row of the next batch is of a kind that
    the past does not tell of, and n rows tell of what comes once in n + 1 rows. So the rate of a least or greatest
    value is at least 1/(n + 1) for a batch of n rows. It is 0 for other metrics.
    """
    is_extreme = np.array([each.is_extreme for each in metrics], np.bool_)
    return np.where(is_extreme, 1.0 / (find_rows(values, metrics) + 1.0), 0.0)
