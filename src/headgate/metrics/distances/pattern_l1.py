"""The sum of the changes of the patterns' shares."""

from __future__ import annotations

from typing import ClassVar

from headgate.metrics.base.label import Label
from headgate.metrics.distances.registry import distance
from headgate.metrics.distances.value_l1 import ValueL1
from headgate.values.schema import TEXT


@distance
class PatternL1(ValueL1, frozen=True):
    """`value_l1` of the patterns of the values, `9-9-9` for a date (AVH, Table 4): exact to 128 patterns.

    Error: as of `value_l1`, with what a summary of 128 patterns leaves out.
    """

    name: ClassVar = "pattern_l1"
    label: ClassVar = Label(name="distance of the patterns (L1)")
    moves_with_rows: ClassVar = True
    folded: ClassVar = "frequent_patterns"
    accepts: ClassVar = TEXT
