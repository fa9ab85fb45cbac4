"""The largest change of a pattern's share."""

from __future__ import annotations

from typing import ClassVar

from headgate.metrics.distances.registry import distance
from headgate.metrics.distances.value_l_inf import ValueLInf
from headgate.values.schema import TEXT


@distance
class PatternLInf(ValueLInf, frozen=True):
    """`value_l_inf` of the patterns of the values, `9-9-9` for a date (AVH, Table 4): exact to 128 patterns.

    Error: at most the larger `lost` / |values| of the two, itself at most 1/129.
    """

    name: ClassVar = "pattern_l_inf"
    folded: ClassVar = "frequent_patterns"
    accepts: ClassVar = TEXT
