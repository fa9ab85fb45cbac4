"""A target to count by segment, and the query that finds the segment of a fault in its counts."""

from __future__ import annotations

from typing import NamedTuple

from headgate.diagnose.segment_search import SegmentQuery
from headgate.engine.segment_plan import Target

_MOST_EXPECTED, _LEAST_EXPECTED = 20_000, 100


class PlannedQuery(NamedTuple):
    """A target, and a query of it whose position among all targets is not yet known."""

    target: Target
    query: SegmentQuery


def limit_rows(rows: float) -> int:
    """The number of rows that expected shares stand for, since shares also differ from day to day."""
    return int(min(max(rows, _LEAST_EXPECTED), _MOST_EXPECTED))
