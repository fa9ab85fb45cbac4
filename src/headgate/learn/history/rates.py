"""The rate of false alarms of a band: the larger of a heavy tail's and of what many real series did."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from headgate.learn.history.forecast import Forecast
from headgate.learn.metric_traits import MetricTraits
from headgate.learn.pooled_rates import PooledRates
from headgate.stats.tails import student_tail

Floats = npt.NDArray[np.float64]

LONG_HISTORY_FREEDOM = (
    3.0  # degrees of freedom of the heaviest tail that is reckoned with, and what short histories take off
)
SHORT_HISTORY_PENALTY = 7.0


def degrees_of_freedom(runs: npt.NDArray[Any]) -> Floats:
    """Degrees of freedom of the tail class: 3 - 7/runs.

    The surprise of normal, log-normal (deviation 1), t(3), autoregressive, seasonal and trending series is nowhere more
    often beyond z than Student's t with so many degrees: docs/methods/history.md has the simulation.

    >>> degrees_of_freedom(np.array([7, 14, 28])).tolist()
    [2.0, 2.5, 2.75]
    """
    found: Floats = LONG_HISTORY_FREEDOM - SHORT_HISTORY_PENALTY / np.maximum(runs, SHORT_HISTORY_PENALTY)
    return found


def false_alarm_rates(forecast: Forecast, metrics: Sequence[MetricTraits], pooled_rates: PooledRates) -> Floats:
    """The stated rate of false alarms of each series (rows) at each reach of the grid: the larger of both bounds.

    What lies between two ends (a share, a distance that has a largest value) has no heavy tail: what was seen counts.
    """
    kinds = [
        (each.key.name, bool(constant), int(runs))
        for each, constant, runs in zip(metrics, forecast.constant, forecast.runs, strict=True)
    ]
    curves = {kind: pooled_rates.exceedance_rates(*kind) for kind in set(kinds)}
    pooled = np.array([curves[kind] for kind in kinds]).reshape(len(kinds), len(pooled_rates.grid))
    lengths, length_indices = np.unique(forecast.runs, return_inverse=True)
    student = student_tail(np.array(pooled_rates.grid), degrees_of_freedom(lengths)[:, None])[length_indices]
    student = np.where(forecast.one_sided[:, None], student / 2, student)
    bounded = np.array([math.isfinite(each.max_value) and not each.signed for each in metrics], np.bool_)
    return np.where((forecast.constant | bounded)[:, None], pooled, np.fmax(pooled, student))
