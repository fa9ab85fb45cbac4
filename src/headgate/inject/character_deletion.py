"""Values that lack a character: partly truncated upstream."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from headgate.inject.character_issue import CharacterIssue
from headgate.inject.characters import CharacterArray, Places
from headgate.inject.issue import issue


@issue
class CharacterDeletion(CharacterIssue, frozen=True):
    """Each value loses one character, at a random place, with probability `share` (Appendix B, type 9)."""

    name: ClassVar = "character_deletion"
    levels: ClassVar = ({"share": 0.1}, {"share": 0.5})

    def edit_characters(
        self, text: CharacterArray, places: Places, numeric: bool, rng: np.random.Generator
    ) -> CharacterArray:
        counts = places.counts
        chosen = (rng.random(len(counts)) < self.share) & (counts > 0)
        which = (rng.random(len(counts)) * counts).astype(np.int64) + places.first[:-1]
        return text.without(places.at[which[chosen]], chosen)
