"""The rate of false alarms of a band: the larger of a heavy tail's and of what many real series did."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from headgate.learn.history.forecast import Forecast
from headgate.learn.metric_traits import Measure
from headgate.learn.pooled_rates import Tails
from headgate.stats.tails import student_tail

Floats = npt.NDArray[np.float64]

HEAVIEST = 3.0  # degrees of freedom of the heaviest tail that is reckoned with, and what short histories take off
SHORT = 7.0


def freedom(runs: npt.NDArray[Any]) -> Floats:
    """Degrees of freedom of the tail class: 3 - 7/runs.

    The surprise of normal, log-normal (deviation 1), t(3), autoregressive, seasonal and trending series is nowhere more
    often beyond z than Student's t with so many degrees: docs/methods/history.md has the simulation.

    >>> freedom(np.array([7, 14, 28])).tolist()
    [2.0, 2.5, 2.75]
    """
    found: Floats = HEAVIEST - SHORT / np.maximum(runs, SHORT)
    return found


def costs(made: Forecast, measures: Sequence[Measure], tails: Tails) -> Floats:
    """The stated rate of false alarms of each series (rows) at each reach of the grid: the larger of both bounds.

    What lies between two ends (a share, a distance that has a largest value) has no heavy tail: what was seen counts.
    """
    kinds = [
        (each.key.name, bool(constant), int(runs))
        for each, constant, runs in zip(measures, made.constant, made.runs, strict=True)
    ]
    curves = {kind: tails.of(*kind) for kind in set(kinds)}
    seen = np.array([curves[kind] for kind in kinds]).reshape(len(kinds), len(tails.grid))
    lengths, places = np.unique(made.runs, return_inverse=True)
    heavy = student_tail(np.array(tails.grid), freedom(lengths)[:, None])[places]
    heavy = np.where(made.one_sided[:, None], heavy / 2, heavy)
    bounded = np.array([math.isfinite(each.most) and not each.signed for each in measures], np.bool_)
    return np.where((made.constant | bounded)[:, None], seen, np.fmax(seen, heavy))
