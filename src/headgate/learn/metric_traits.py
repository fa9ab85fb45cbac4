"""What is known of a metric before any value of it is seen: on what scale it moves, which bound the paper gives."""

from __future__ import annotations

import math
from enum import StrEnum
from functools import lru_cache

import msgspec

from headgate.metrics.base.registry import metrics
from headgate.metrics.distances.registry import distances
from headgate.values.key import MetricKey
from headgate.values.schema import TEMPORAL, Kind

_PLACES = frozenset({"min", "max", "median", "mean", "approx_quantile"})  # of temporal columns, these are moments
_SPREAD = _PLACES | {"stddev", "range", "emd"}  # they move on the scale of the column's own deviation


class Scale(StrEnum):
    """What a change of a metric is measured against, beside its own past deviation."""

    SHARE = "share"  # the whole: shares, and distances that are bounded
    SIZE = "size"  # its own value
    SPREAD = "spread"  # its own value or the column's standard deviation, whichever is larger
    MOMENT = "moment"  # the span of the column's moments, or a day


class Measure(msgspec.Struct, frozen=True):
    """A metric of a table as a series: its key, and how it behaves."""

    key: MetricKey
    scale: Scale = Scale.SIZE
    distance: bool = False
    additive: bool = False
    averaged: bool = False
    moment: bool = False
    share: bool = False
    signed: bool = False
    most: float = math.inf  # no value is larger

    @property
    def plain(self) -> bool:
        """Whether it is of all rows and of one column at most, without parameters."""
        return len(self.key.columns) < 2 and not self.key.parameters and self.key.where is None

    @property
    def column(self) -> str:
        """The column that it is of; empty for the table."""
        return self.key.columns[0] if self.key.columns else ""


@lru_cache(maxsize=1 << 16)
def is_known(key: MetricKey) -> bool:
    """Whether a metric or a distance has this name."""
    return key.name in metrics() or key.name in distances()


def is_distance(key: MetricKey) -> bool:
    """Whether it compares a run with earlier ones."""
    return key.name in distances() and key.name not in metrics()


@lru_cache(maxsize=1 << 16)
def measure_of(key: MetricKey, kind: Kind | None = None) -> Measure:
    """A metric or distance by its key, over a column of this kind.

    >>> measure_of(MetricKey("completeness", ("id",))).scale
    <Scale.SHARE: 'share'>
    """
    if is_distance(key):
        scale = Scale.SPREAD if key.name == "emd" else Scale.SHARE
        found = distances()[key.name]
        return Measure(key, scale, distance=True, most=found.most)
    metric = metrics()[key.name]
    moment = kind in TEMPORAL and key.name in _PLACES
    scale = Scale.SIZE
    if metric.share:
        scale = Scale.SHARE
    elif moment or (kind in TEMPORAL and key.name == "range"):
        scale = Scale.MOMENT
    elif key.name in _SPREAD:
        scale = Scale.SPREAD
    return Measure(
        key,
        scale,
        additive=metric.additive,
        averaged=metric.averaged,
        moment=moment,
        share=metric.share,
        signed=metric.signed,
        most=1.0 if metric.share else math.inf,
    )
