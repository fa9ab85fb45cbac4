"""Describe how a metric behaves as a series: on what scale it moves, and what limits its values."""

from __future__ import annotations

import math
from enum import StrEnum
from functools import lru_cache

import msgspec

from headgate.metrics.base.label import Label, ValueFormat
from headgate.metrics.base.registry import metrics
from headgate.metrics.distances.registry import distances
from headgate.values.key import MetricKey
from headgate.values.schema import TEMPORAL, Kind

OUTSIDE_PERIOD = "outside_period"
"""The share of timestamps outside of the period of their batch, which no batch alone tells (`outside_period.py`)."""


class Scale(StrEnum):
    """What a change of a metric is compared with, besides its own past deviation."""

    SHARE = "share"  # 1: for shares, and for distances that have a largest value
    SIZE = "size"  # its own value
    SPREAD = "spread"  # its own value or the column's standard deviation, whichever is larger
    TIME = "moment"  # the span of the column's timestamps, or a day, whichever is larger


class Family(StrEnum):
    """The metrics whose series surprise alike."""

    SHARE = "share"  # shares and distances
    EXTREME = "extreme"  # what one row alone can make large
    NUMBER = "number"


_SPREAD = "stddev"  # one value far away makes it as large as an extreme
_OUTSIDE_LABEL = Label("{} outside of the period of the batch", value_format=ValueFormat.SHARE, rank=7)


class MetricTraits(msgspec.Struct, frozen=True):
    """The key of a metric or distance, and how its values behave."""

    key: MetricKey
    scale: Scale = Scale.SIZE
    is_distance: bool = False  # whether it compares a run with earlier ones
    additive: bool = False  # whether it grows with the number of rows
    averaged: bool = False  # whether it is a sum or mean over rows, so that it tends to a normal distribution
    is_timestamp: bool = False  # whether its values are timestamps
    share: bool = False  # whether its values are shares, from 0 to 1
    signed: bool = False  # whether its values may be negative
    whole: bool = False  # whether its values are whole numbers
    moves_with_rows: bool = False  # whether fewer rows alone change it
    tells_values: bool = False  # whether it changes with the value of a column that has only one
    is_extreme: bool = False  # whether one value of the column alone makes it
    max_value: float = math.inf
    label: Label = Label()

    @property
    def is_plain(self) -> bool:
        """Whether it has no parameters, covers all rows, and belongs to one column or to the table."""
        return len(self.key.columns) < 2 and not self.key.parameters and self.key.where is None

    @property
    def family(self) -> Family:
        """The metrics that it surprises alike with."""
        if self.is_extreme or self.key.name == _SPREAD:
            return Family.EXTREME
        return Family.SHARE if self.share or self.is_distance else Family.NUMBER

    @property
    def column(self) -> str:
        """Its column, the first if it has several; empty for a metric of the table."""
        return self.key.columns[0] if self.key.columns else ""


@lru_cache(maxsize=1 << 16)
def is_known(key: MetricKey) -> bool:
    """Whether a metric, a distance or the share outside of the period has this name."""
    return key.name in metrics() or key.name in distances() or key.name == OUTSIDE_PERIOD


def is_distance(key: MetricKey) -> bool:
    """Whether it compares a run with earlier ones."""
    return key.name in distances() and key.name not in metrics()


@lru_cache(maxsize=1 << 16)
def traits_of(key: MetricKey, kind: Kind | None = None) -> MetricTraits:
    """The traits of a metric or distance of a column of this kind.

    >>> traits_of(MetricKey("completeness", ("id",))).scale
    <Scale.SHARE: 'share'>
    """
    if key.name == OUTSIDE_PERIOD:
        return MetricTraits(key, Scale.SIZE, share=True, max_value=1.0, tells_values=True, label=_OUTSIDE_LABEL)
    if is_distance(key):
        distance_class = distances()[key.name]
        return MetricTraits(
            key,
            Scale.SPREAD if distance_class.is_spread else Scale.SHARE,
            is_distance=True,
            moves_with_rows=distance_class.moves_with_rows,
            tells_values=True,
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
        whole=metric_class.whole or (metric_class.whole_of_integers and kind is Kind.INTEGER),
        moves_with_rows=metric_class.additive or metric_class.moves_with_rows,
        tells_values=metric_class.is_location or metric_class.tells_values,
        is_extreme=metric_class.is_extreme,
        max_value=1.0 if metric_class.share else math.inf,
        label=metric_class.label,
    )
