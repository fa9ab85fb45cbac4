"""The Kullback-Leibler divergence of the patterns from the earlier batch."""

from __future__ import annotations

from typing import ClassVar

from headgate.metrics.distances.registry import distance
from headgate.metrics.distances.value_kl_div import ValueKlDiv
from headgate.values.schema import TEXT


@distance
class PatternKlDiv(ValueKlDiv, frozen=True):
    """`value_kl_div` of the patterns of the values, `9-9-9` for a date (AVH, Table 4): exact to 128 patterns.

    Error: as of `value_kl_div`, with what a summary of 128 patterns leaves out.
    """

    name: ClassVar = "pattern_kl_div"
    folded: ClassVar = "frequent_patterns"
    accepts: ClassVar = TEXT
