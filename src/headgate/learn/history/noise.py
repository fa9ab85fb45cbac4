"""How small a change of a metric still tells something: its natural scale, and the noise floor of its series."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from headgate.learn.column_kinds import count_key
from headgate.learn.metric_traits import MetricTraits, Scale
from headgate.learn.past import latest_values
from headgate.values.key import MetricKey

Floats = npt.NDArray[np.float64]

SHARE_FLOOR = 0.001
"""The noise floor of a share, besides one row of the batch."""
FLOORS = {Scale.SHARE: SHARE_FLOOR, Scale.SIZE: 0.01, Scale.SPREAD: 0.003, Scale.TIME: 0.01}
"""The noise floor of a metric as a share of its natural scale (docs/decisions/0033)."""
_DAY_SECONDS = 86_400.0


def find_noise_floor(values: Floats, metrics: Sequence[MetricTraits]) -> Floats:
    """The smallest scale of a forecast of each metric (columns of `values`), from its values in the runs (rows).

    A share of n rows cannot move by less than 1/n: one null among 50 rows is 2%, and is as little as one among 5,000.
    So its floor is one row of a typical batch and a thousandth, together. The floor of other metrics is a small share
    of their natural scale.
    """
    floor = natural_scale(values, metrics) * np.array([FLOORS[each.scale] for each in metrics])
    of_rows = np.array([_is_share_of_rows(each) for each in metrics], np.bool_)
    return np.where(of_rows, np.hypot(SHARE_FLOOR, 1.0 / find_rows(values, metrics)), floor)


def find_rows(values: Floats, metrics: Sequence[MetricTraits]) -> Floats:
    """How many rows of a typical batch are behind the value of each metric: those in which its column has a value.

    Few rows make a value noisier than many make it sure. So what is typical is the harmonic mean over the runs. It is
    infinite if the number of rows is not known.
    """
    index_of_metric = {each.key: index for index, each in enumerate(metrics) if each.is_plain}
    size = index_of_metric.get(MetricKey("size"))
    if size is None:
        return np.full(len(metrics), math.inf)
    rows = np.empty(len(metrics))
    filled_rows: dict[tuple[int, int | None], float] = {}
    for index, traits in enumerate(metrics):
        total = index_of_metric.get(count_key(traits.column), size)
        is_share_of_all = traits.key.name == "completeness"
        filled = None if is_share_of_all else index_of_metric.get(MetricKey("completeness", (traits.column,)))
        if (total, filled) not in filled_rows:
            shares = 1.0 if filled is None else values[:, filled]
            filled_rows[total, filled] = _harmonic_mean(values[:, total] * shares)
        rows[index] = filled_rows[total, filled]
    return rows


def natural_scale(values: Floats, metrics: Sequence[MetricTraits]) -> Floats:
    """What a change of each metric is compared with: 1 for shares, its own size for counts, and so on (see `Scale`)."""
    latest = latest_values(values)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # numpy warns about series that are NaN throughout
        size = np.fmax(np.abs(np.nanmean(values, axis=0)), np.abs(latest))
    index_of_metric = {(each.key.name, each.column): index for index, each in enumerate(metrics) if each.is_plain}

    def latest_of(name: str, traits: MetricTraits) -> float:
        index = index_of_metric.get((name, traits.column))
        return abs(float(latest[index])) if index is not None and np.isfinite(latest[index]) else 0.0

    scales = np.ones(len(metrics))
    for index, traits in enumerate(metrics):
        if traits.scale is Scale.SIZE:
            scales[index] = size[index]
        elif traits.scale is Scale.SPREAD:
            own_size = 0.0 if traits.is_distance else float(np.nan_to_num(size[index]))
            scales[index] = max(own_size, latest_of("stddev", traits))
        elif traits.scale is Scale.TIME:
            scales[index] = max(latest_of("range", traits), _DAY_SECONDS)
    return np.where(np.isfinite(scales) & (scales > 0), scales, 1.0)


def _is_share_of_rows(traits: MetricTraits) -> bool:
    return traits.share or (traits.is_distance and traits.scale is Scale.SHARE)


def _harmonic_mean(rows: Floats) -> float:
    known = rows[np.isfinite(rows) & (rows >= 1)]
    return float(len(known) / np.sum(1.0 / known)) if len(known) else math.inf
