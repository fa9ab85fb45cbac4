"""The symmetric chi-squared distance of the patterns' shares."""

from __future__ import annotations

from typing import ClassVar

from headgate.metrics.distances.registry import distance
from headgate.metrics.distances.value_chi_squared import ValueChiSquared
from headgate.values.schema import TEXT


@distance
class PatternChiSquared(ValueChiSquared, frozen=True):
    """`value_chi_squared` of the patterns of the values, `9-9-9` for a date (AVH, Table 4): exact to 128 patterns.

    Error: as of `value_chi_squared`, with what a summary of 128 patterns leaves out.
    """

    name: ClassVar = "pattern_chi_squared"
    folded: ClassVar = "frequent_patterns"
    accepts: ClassVar = TEXT
