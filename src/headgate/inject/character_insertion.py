"""Values with a character too many."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from headgate.inject.character_issue import CharacterIssue
from headgate.inject.characters import CharacterArray, Places
from headgate.inject.issue import issue

_PRINTED = (33, 127)  # the visible characters of ASCII; white space is an issue of its own
_DIGITS = (ord("1"), ord("9") + 1)  # a 0 could leave the number as it was


@issue
class CharacterInsertion(CharacterIssue, frozen=True):
    """Each value gets one random character more, at a random place, with probability `share` (Appendix B, type 8).

    Text gets a visible character of ASCII; a number gets a digit from 1 to 9, next to one of its own.
    """

    name: ClassVar = "character_insertion"
    widens_numbers: ClassVar = True
    levels: ClassVar = ({"share": 0.1}, {"share": 0.5})

    def edit_characters(
        self, text: CharacterArray, places: Places, numeric: bool, rng: np.random.Generator
    ) -> CharacterArray:
        counts = places.counts
        chosen = rng.random(len(counts)) < self.share
        if numeric:
            chosen &= counts > 0
        gap = (rng.random(len(counts)) * (counts + 1)).astype(np.int64)[chosen]
        if numeric:
            # gap 0 is before the first digit, gap k after the k-th
            first = places.first[:-1][chosen]
            at = places.at[first + np.maximum(gap - 1, 0)] + (gap > 0)
        else:
            at = text.offsets[:-1][chosen] + gap
        codes = rng.integers(*(_DIGITS if numeric else _PRINTED), size=len(at)).astype(text.codes.dtype)
        return text.having(at, codes, chosen)
