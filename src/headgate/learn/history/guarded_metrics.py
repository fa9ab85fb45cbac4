"""Which metrics of a table are always guarded.

Tested by `tests/learn/history/test_guards.py`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import StrEnum

import numpy as np
import numpy.typing as npt

from headgate.learn.history.forecast import Forecast
from headgate.learn.metric_traits import OUTSIDE_PERIOD, MetricTraits

Floats = npt.NDArray[np.float64]
Indices = npt.NDArray[np.intp]

_LEAST_UNIQUE = 0.97  # the ratio of different values that a key of many rows has: it is estimated
_MANY_ROWS = 1_000  # below, numbers that are no key may be almost unique
_LEAST_FILLED = 0.5  # the share of values that a column of timestamps has: the newest of a few may be of any day
_KEY_ROWS = 100  # below, numbers that are no key may be unique


class Guard(StrEnum):
    """What of a table is always guarded."""

    ROWS = "rows"
    NULLS = "nulls"  # more of them than usual, of columns that have some
    COMPLETE = "complete"  # the nulls of columns that have none
    KEYS = "keys"
    NEWEST = "newest"
    PERIOD = "period"  # the timestamps outside of the period of the batch, of columns that have none
    COARSE = "coarse"  # nothing is a tenth or ten times of what it was

    @property
    def curve(self) -> str:
        """The name of its curve in the pooled rates."""
        return f"guard_{self.value}"

    def measure_surprise(self, forecast: Forecast, values: Floats, indices: Indices) -> Floats:
        """How surprising the guarded values are. Fewer nulls than usual are not."""
        known = np.minimum(values, forecast.centre.max(axis=0)) if self is Guard.NULLS else values
        return forecast.surprise(known)[indices]


def find_guarded(forecast: Forecast, metrics: Sequence[MetricTraits]) -> Iterator[tuple[Guard, Indices]]:
    """For each guard that a table has, the metrics that it guards."""
    names = np.array([traits.key.name if traits.is_plain else "" for traits in metrics])
    known = np.isfinite(forecast.centre).all(axis=0)
    nulls, centre = names == "completeness", forecast.centre[0]
    always = forecast.constant & (centre == 1.0)
    complete = nulls & always
    rows = _find_rows(centre, names)
    is_key = always & (rows >= _KEY_ROWS) | (centre > _LEAST_UNIQUE) & (rows > _MANY_ROWS)
    complete_columns = {metrics[index].column for index in np.flatnonzero(complete).tolist()}
    of_complete = np.array([traits.column in complete_columns for traits in metrics], np.bool_)
    filled = {metrics[at].column for at in np.flatnonzero(nulls & (centre >= _LEAST_FILLED)).tolist()}
    newest = (names == "max") & np.array([each.is_timestamp and each.column in filled for each in metrics], np.bool_)
    guarded = {
        Guard.ROWS: names == "size",
        Guard.NULLS: nulls & ~complete,
        Guard.COMPLETE: complete,
        Guard.KEYS: (names == "unique_ratio") & is_key & of_complete,
        Guard.NEWEST: newest,
        Guard.PERIOD: (names == OUTSIDE_PERIOD) & forecast.constant & (centre == 0.0),
    }
    for guard, chosen in guarded.items():
        if len(indices := np.flatnonzero(chosen & known)):
            yield guard, indices


def _find_rows(centre: Floats, names: npt.NDArray[np.str_]) -> float:
    rows = centre[names == "size"]
    return float(rows[0]) if len(rows) else 0.0
