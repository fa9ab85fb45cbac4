"""State the false alarm rate of a band: the larger of a heavy-tailed bound and the rate observed on many tables."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from headgate.learn.history.forecast import Forecast
from headgate.learn.history.noise import find_rows
from headgate.learn.metric_traits import MetricTraits
from headgate.learn.pooled_rates import PooledRates
from headgate.stats.tails import student_tail

Floats = npt.NDArray[np.float64]

LONG_HISTORY_FREEDOM = 3.0  # degrees of freedom of Student's t for a long history
SHORT_HISTORY_PENALTY = 7.0  # divided by the number of runs, what a short history takes off: its tail is heavier


def degrees_of_freedom(runs: npt.NDArray[Any]) -> Floats:
    """Degrees of freedom of the Student's t that bounds the surprise of the next value: 3 - 7/runs.

    In simulations (docs/methods/history.md) the surprise of normal, log-normal (deviation 1), t(3), autoregressive,
    seasonal and trending series exceeds no z more often than this t distribution does.

    >>> degrees_of_freedom(np.array([7, 14, 28])).tolist()
    [2.0, 2.5, 2.75]
    """
    freedom: Floats = LONG_HISTORY_FREEDOM - SHORT_HISTORY_PENALTY / np.maximum(runs, SHORT_HISTORY_PENALTY)
    return freedom


def false_alarm_rates(forecast: Forecast, metrics: Sequence[MetricTraits], pooled_rates: PooledRates) -> Floats:
    """The false alarm rate of the band of each metric (rows) at each reach of the grid (columns).

    It is the larger of the pooled rate and the tail of Student's t. A constant metric, or one whose values have a lower
    and an upper limit (a share, a distance with a largest value), has no heavy tail: its rate is the pooled rate.
    """
    # Many metrics share a curve and a history length: each distinct curve and tail is computed once.
    curve_arguments = [
        (traits.key.name, bool(constant), int(runs))
        for traits, constant, runs in zip(metrics, forecast.constant, forecast.runs, strict=True)
    ]
    curves = {arguments: pooled_rates.exceedance_rates(*arguments) for arguments in set(curve_arguments)}
    pooled = np.array([curves[each] for each in curve_arguments]).reshape(len(metrics), len(pooled_rates.grid))
    lengths, length_indices = np.unique(forecast.runs, return_inverse=True)
    student = student_tail(np.array(pooled_rates.grid), degrees_of_freedom(lengths)[:, None])[length_indices]
    student = np.where(forecast.one_sided[:, None], student / 2, student)  # `student_tail` is two-sided
    bounded = np.array([math.isfinite(each.max_value) and not each.signed for each in metrics], np.bool_)
    return np.where((forecast.constant | bounded)[:, None], pooled, np.fmax(pooled, student))


def find_record_rates(values: Floats, metrics: Sequence[MetricTraits]) -> Floats:
    """The lowest false alarm rate of any band of each metric, from its values in the runs (rows).

    One row makes an extreme. A band around it, however wide, asserts that no row of the next batch is of a kind that
    the past does not tell of, and n rows tell of what comes once in n + 1 rows. So the rate of a least or greatest
    value is at least 1/(n + 1) for a batch of n rows. It is 0 for other metrics.
    """
    is_extreme = np.array([each.is_extreme for each in metrics], np.bool_)
    return np.where(is_extreme, 1.0 / (find_rows(values, metrics) + 1.0), 0.0)
