"""The basics of a table, which have limits of their own: its rows, complete columns, keys, newest times and periods.

So have the nulls of columns that have some.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from headgate.learn.column_kinds import count_key
from headgate.learn.history.forecast import Forecast
from headgate.learn.metric_traits import OUTSIDE_PERIOD, MetricTraits
from headgate.values.key import MetricKey

Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]

_LEAST_UNIQUE = 0.97  # the ratio of different values that a key of many rows has: it is estimated
_MANY_ROWS = 1_000  # below, numbers that are no key may be almost unique
_LEAST_FILLED = 0.5  # the share of values that a column of timestamps has: the newest of a few may be of any day
_KEY_ROWS = 100  # below, numbers that are no key may be unique


def find_basics(forecast: Forecast, metrics: Sequence[MetricTraits]) -> Flags:
    """Which metrics are the basics of their table."""
    names = np.array([traits.key.name if traits.is_plain else "" for traits in metrics])
    known = np.isfinite(forecast.centre).all(axis=0)
    nulls, centre = names == "completeness", forecast.centre[0]
    always = forecast.constant & (centre == 1.0)
    complete = nulls & always
    rows = _find_rows(centre, metrics)
    is_key = always & (rows >= _KEY_ROWS) | (centre > _LEAST_UNIQUE) & (rows > _MANY_ROWS)
    complete_columns = {metrics[index].column for index in np.flatnonzero(complete).tolist()}
    of_complete = np.array([traits.column in complete_columns for traits in metrics], np.bool_)
    filled = {metrics[at].column for at in np.flatnonzero(nulls & (centre >= _LEAST_FILLED)).tolist()}
    newest = (names == "max") & np.array([each.is_timestamp and each.column in filled for each in metrics], np.bool_)
    keys = (names == "unique_ratio") & is_key & of_complete
    period = (names == OUTSIDE_PERIOD) & forecast.constant & (centre == 0.0)
    basics: Flags = known & ((names == "size") | complete | keys | newest | period)
    return basics


def find_nulls(forecast: Forecast, metrics: Sequence[MetricTraits]) -> Flags:
    """Which metrics are the completeness of columns that have nulls."""
    names = np.array([traits.key.name if traits.is_plain else "" for traits in metrics])
    always = forecast.constant & (forecast.centre[0] == 1.0)
    nulls: Flags = (names == "completeness") & np.isfinite(forecast.centre).all(axis=0) & ~always
    return nulls


def measure_nulls(forecast: Forecast, values: Floats) -> Floats:
    """The surprise of values, if they are less than expected: fewer nulls than usual are no fault."""
    return forecast.surprise(np.minimum(values, forecast.centre.max(axis=0)))


def _find_rows(centre: Floats, metrics: Sequence[MetricTraits]) -> Floats:
    """How many values the column of each metric could have."""
    index_of_key = {traits.key: index for index, traits in enumerate(metrics) if traits.is_plain}
    size = index_of_key.get(MetricKey("size"))
    places = [index_of_key.get(count_key(traits.column), size) for traits in metrics]
    return np.array([0.0 if at is None else centre[at] for at in places])
