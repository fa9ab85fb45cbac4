"""Plain counts."""

from __future__ import annotations

from headgate.values.state import Counts


class MatchCount(Counts, frozen=True, tag="match_count"):
    """How many of those seen matched."""

    matched: int = 0
    seen: int = 0
