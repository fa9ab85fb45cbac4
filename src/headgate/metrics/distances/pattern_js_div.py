"""The Jensen-Shannon divergence of the patterns' shares."""

from __future__ import annotations

from typing import ClassVar

from headgate.metrics.distances.registry import distance
from headgate.metrics.distances.value_js_div import ValueJsDiv
from headgate.values.schema import TEXT


@distance
class PatternJsDiv(ValueJsDiv, frozen=True):
    """`value_js_div` of the patterns of the values, `9-9-9` for a date (AVH, Table 4): exact to 128 patterns.

    Error: as of `value_js_div`, with what a summary of 128 patterns leaves out.
    """

    name: ClassVar = "pattern_js_div"
    folded: ClassVar = "frequent_patterns"
    accepts: ClassVar = TEXT
