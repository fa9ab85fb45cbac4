"""Tell kinds of series apart by how much they vary: the same surprise is of different rarity in each.

A series that hardly varies may jump by a thousand times its scale; one that varies by half of all that is possible
cannot.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from headgate.learn.history.forecast import Forecast
from headgate.learn.history.noise import natural_scale
from headgate.learn.metric_traits import MetricTraits
from headgate.learn.past import Past
from headgate.metrics.distances.registry import distances

Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]
Kinds = npt.NDArray[np.int64]

CONSTANT = -1
"""The kind of series that had one value in all runs."""
VARIATIONS = (0.0015, 0.004, 0.012, 0.03, 0.08, 0.2, 0.5)
"""Where one kind of varying series ends and the next begins: the scale of its forecast, as a share of what is natural.
"""
ALL_KINDS = range(CONSTANT, len(VARIATIONS) + 1)


def find_comparable(past: Past) -> Flags:
    """Which metrics tell something if they change.

    What moves along with the runs is farther from the run before after a longer gap. So the distances from that run
    tell nothing after a gap, and those of moving timestamps never. Metrics of several columns, of some rows or with
    parameters have no kind.
    """
    moving = {key.columns for key in past.shifted}
    has_gap = past.calendar is not None and past.calendar.horizon > 1.0

    def compares_with_run_before(traits: MetricTraits) -> bool:
        return traits.is_distance and not distances()[traits.key.name].of_all

    return np.array(
        [
            each.is_plain and not (compares_with_run_before(each) and (has_gap or each.key.columns in moving))
            for each in past.metrics
        ],
        np.bool_,
    )


def find_kinds(forecast: Forecast, values: Floats, metrics: Sequence[MetricTraits]) -> Kinds:
    """The kind of each series: `CONSTANT`, or the number of ends in `VARIATIONS` that its variation is above."""
    with np.errstate(invalid="ignore", over="ignore"):
        variation = forecast.scale.max(axis=0) / natural_scale(values, metrics)
    return np.where(forecast.constant, CONSTANT, np.searchsorted(VARIATIONS, variation))
