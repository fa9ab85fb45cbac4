"""Coarse limits, which a table has from its second run on: that nothing shrinks to a tenth or grows tenfold.

The number of rows is limited, and of columns that are mostly filled the share of values that are there, the number of
different values, the mean, and the duplicates of what was unique. A mean has a lower limit if all values are positive.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from headgate.learn.metric_traits import MetricTraits

Floats = npt.NDArray[np.float64]

LEAST_FACTOR = 10.0  # no limit is narrower
_LEAST_DUPLICATES = 0.04  # the share that a key is taken to have: ten times as much is less than a batch loaded twice
_LEAST_FILLED = 0.5  # the share of values that is there in every run, of columns that have limits
_LEAST_UNIQUE = 0.9  # the ratio of different values of a column that should have no duplicates


@dataclass(frozen=True)
class CoarseLimits:
    """For each metric the lowest and the highest amount of the runs; NaN where there is no such limit.

    `duplicates` is the highest share of values that are no longer unique.
    """

    low: Floats
    high: Floats
    duplicates: Floats

    @classmethod
    def of(cls, values: Floats, metrics: Sequence[MetricTraits]) -> CoarseLimits:
        """The limits of the next values from those of one run or more (rows)."""
        names = np.array([traits.key.name if traits.is_plain else "" for traits in metrics])
        columns = _ColumnSeries(values, metrics)
        filled = columns.smallest("completeness") >= _LEAST_FILLED
        known = np.isfinite(values).all(axis=0) & (filled | (names == "size"))
        low, high = np.abs(values).min(axis=0), np.abs(values).max(axis=0)
        timeless = ~np.array([traits.is_timestamp for traits in metrics], np.bool_)
        means = (names == "mean") & timeless & (columns.smallest("stddev") > 0)
        shrinks = np.isin(names, ("size", "completeness", "approx_count_distinct"))
        unique = (names == "unique_ratio") & (low > _LEAST_UNIQUE)
        return cls(
            np.where(known & (shrinks | (means & (columns.smallest("min") > 0))) & (low > 0), low, np.nan),
            np.where(
                known & (means | (names == "size")), high + np.where(means, columns.largest("stddev"), 0.0), np.nan
            ),
            np.where(known & unique, np.fmax(1.0 - low, _LEAST_DUPLICATES), np.nan),
        )

    @property
    def indices(self) -> list[int]:
        """The indices of the metrics that have a limit."""
        found: list[int] = np.flatnonzero(~np.isnan([self.low, self.high, self.duplicates]).all(axis=0)).tolist()
        return found

    def factors(self, values: Floats) -> Floats:
        """How many times less or more than ever each value is; NaN where nothing is known."""
        with np.errstate(divide="ignore", invalid="ignore"):
            shrunk, grown = self.low / np.fmax(values, 0.0), np.abs(values) / self.high
            doubled = (1.0 - values) / self.duplicates
        factors: Floats = np.fmax(np.fmax(shrunk, grown), doubled)
        return np.where(np.isnan(values), np.nan, factors)

    def band_of(self, index: int, factor: float) -> tuple[float, float]:
        """The values of one metric that are within this factor."""
        low, high, duplicates = (float(each[index]) for each in (self.low, self.high, self.duplicates))
        bottoms = [low / factor, 1.0 - factor * duplicates, -factor * high if np.isnan(low) else np.nan]
        return float(np.fmax.reduce([*bottoms, -np.inf])), float(np.fmin(high * factor, np.inf))


class _ColumnSeries:
    """For each metric, the values of another metric of its column; NaN where the column has none."""

    def __init__(self, values: Floats, metrics: Sequence[MetricTraits]) -> None:
        self._values = values
        self._columns = [traits.column for traits in metrics]
        self._index_of_metric = {(each.key.name, each.column): at for at, each in enumerate(metrics) if each.is_plain}

    def smallest(self, name: str) -> Floats:
        return self._choose(self._values.min(axis=0), name)

    def largest(self, name: str) -> Floats:
        return self._choose(self._values.max(axis=0), name)

    def _choose(self, of_metrics: Floats, name: str) -> Floats:
        indices = (self._index_of_metric.get((name, column)) for column in self._columns)
        return np.array([np.nan if index is None else of_metrics[index] for index in indices])
