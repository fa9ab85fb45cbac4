"""The paper's vector of a batch: a few statistics of every column, from the metrics of the package."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

import headgate as hg
from headgate.engine.analysis import Analysis
from headgate.metrics.base.arrow import kind_of
from headgate.metrics.base.metric import Metric
from headgate.values.key import MetricKey
from headgate.values.outcome import Measured, Outcome
from headgate.values.schema import NUMERIC, TEXT, Kind

Floats = npt.NDArray[np.float64]


class Vectors(NamedTuple):
    """Batches as rows, statistics as columns; NaN where a batch has none."""

    partitions: tuple[str, ...]
    keys: tuple[MetricKey, ...]
    values: Floats

    @classmethod
    def of(cls, batches: Mapping[str, Analysis]) -> Vectors:
        rows = [numbers(each.outcomes) for each in batches.values()]
        keys = tuple(dict.fromkeys(key for row in rows for key in row))
        return cls(tuple(batches), keys, np.array([spread(row, keys) for row in rows]))


def profile(table: pa.Table) -> Analysis:
    """The paper's statistics of a batch, in one scan."""
    return hg.analyze(table, statistics(table))


def statistics(table: pa.Table) -> list[Metric[Any]]:
    """What the paper measures of each column (its section 4): three of all, four of numbers, one of text.

    >>> [each.name for each in statistics(pa.table({"a": [1.5]}))]
    ['completeness', 'approx_count_distinct', 'most_frequent_ratio', 'min', 'max', 'mean', 'stddev']
    """
    return [metric for name, kind in kinds(table).items() for metric in _of_column(name, kind)]


def _of_column(name: str, kind: Kind) -> list[Metric[Any]]:
    found: list[Any] = [hg.Completeness(name), hg.ApproxCountDistinct(name), hg.MostFrequentRatio(name)]
    if kind in NUMERIC:
        found += [hg.Min(name), hg.Max(name), hg.Mean(name), hg.StdDev(name)]
    if kind in TEXT:
        found.append(hg.IndexOfPeculiarity(name))
    return found


def kinds(table: pa.Table) -> dict[str, Kind]:
    """What the values of each column are."""
    return {name: kind_of(table.schema.field(name).type) for name in table.column_names}


def numbers(outcomes: Mapping[MetricKey, Outcome]) -> dict[MetricKey, float]:
    return {key: float(each.value) for key, each in outcomes.items() if isinstance(each, Measured)}  # type: ignore[arg-type]


def spread(row: Mapping[MetricKey, float], keys: Sequence[MetricKey]) -> Floats:
    """The numbers of one batch in the order of the keys."""
    return np.array([row.get(key, np.nan) for key in keys])
