"""Plain counts."""

from __future__ import annotations

from headgate.values.state import State


class MatchCount(State, frozen=True, tag="match_count"):
    """How many of those seen matched."""

    matched: int = 0
    seen: int = 0

    def __add__(self, other: MatchCount) -> MatchCount:
        return MatchCount(self.matched + other.matched, self.seen + other.seen)
