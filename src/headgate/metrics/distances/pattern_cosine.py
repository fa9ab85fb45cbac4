"""The angle between the patterns' counts."""

from __future__ import annotations

from typing import ClassVar

from headgate.metrics.distances.registry import distance
from headgate.metrics.distances.value_cosine import ValueCosine
from headgate.values.schema import TEXT


@distance
class PatternCosine(ValueCosine, frozen=True):
    """`value_cosine` of the patterns of the values, `9-9-9` for a date (AVH, Table 4): exact to 128 patterns.

    Error: as of `value_cosine`, with what a summary of 128 patterns leaves out.
    """

    name: ClassVar = "pattern_cosine"
    folded: ClassVar = "frequent_patterns"
    accepts: ClassVar = TEXT
