"""What is known of a metric before any value of it is seen: on what scale it moves, which bound the paper gives."""

from __future__ import annotations

import math
from enum import StrEnum
from functools import lru_cache

import msgspec

from headgate.metrics.base.label import Label
from headgate.metrics.base.registry import metrics
from headgate.metrics.distances.registry import distances
from headgate.values.key import MetricKey
from headgate.values.schema import TEMPORAL, Kind


class Scale(StrEnum):
    """What a change of a metric is measured against, beside its own past deviation."""

    SHARE = "share"  # the whole: shares, and distances that are bounded
    SIZE = "size"  # its own value
    SPREAD = "spread"  # its own value or the column's standard deviation, whichever is larger
    TIME = "moment"  # the span of the column's moments, or a day


class MetricTraits(msgspec.Struct, frozen=True):
    """A metric of a table as a series: its key, and how it behaves."""

    key: MetricKey
    scale: Scale = Scale.SIZE
    is_distance: bool = False
    additive: bool = False
    averaged: bool = False
    is_timestamp: bool = False
    share: bool = False
    signed: bool = False
    moves_with_rows: bool = False
    max_value: float = math.inf  # no value is larger
    label: Label = Label()

    @property
    def is_plain(self) -> bool:
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
def traits_of(key: MetricKey, kind: Kind | None = None) -> MetricTraits:
    """A metric or distance by its key, over a column of this kind.

    >>> traits_of(MetricKey("completeness", ("id",))).scale
    <Scale.SHARE: 'share'>
    """
    if is_distance(key):
        distance_class = distances()[key.name]
        return MetricTraits(
            key,
            Scale.SPREAD if distance_class.is_spread else Scale.SHARE,
            is_distance=True,
            moves_with_rows=distance_class.moves_with_rows,
            max_value=distance_class.most,
            label=distance_class.label,
        )
    metric_class = metrics()[key.name]
    is_timestamp = kind in TEMPORAL and metric_class.is_location
    scale = Scale.SIZE
    if metric_class.share:
        scale = Scale.SHARE
    elif is_timestamp or (kind in TEMPORAL and metric_class.is_spread):
        scale = Scale.TIME
    elif metric_class.is_location or metric_class.is_spread:
        scale = Scale.SPREAD
    return MetricTraits(
        key,
        scale,
        additive=metric_class.additive,
        averaged=metric_class.averaged,
        is_timestamp=is_timestamp,
        share=metric_class.share,
        signed=metric_class.signed,
        moves_with_rows=metric_class.additive or metric_class.moves_with_rows,
        max_value=1.0 if metric_class.share else math.inf,
        label=metric_class.label,
    )
