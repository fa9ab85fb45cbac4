"""The share of values whose pattern no earlier batch held."""

from __future__ import annotations

from typing import ClassVar

from headgate.metrics.base.label import Label, ValueFormat
from headgate.metrics.distances.new_values import NewValues
from headgate.metrics.distances.registry import distance
from headgate.values.schema import TEXT


@distance
class NewPatterns(NewValues, frozen=True):
    """`new_values` of the patterns of the values, `9-9-9` for a date: told of columns with at most 128 patterns.

    Error: as of `new_values`, with what a summary of 128 patterns leaves out.
    """

    name: ClassVar = "new_patterns"
    label: ClassVar = Label("{} written in a new way", value_format=ValueFormat.SHARE, rank=6)
    moves_with_rows: ClassVar = True
    folded: ClassVar = "frequent_patterns"
    accepts: ClassVar = TEXT
