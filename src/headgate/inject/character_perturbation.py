"""Typing errors: a character in place of another of its sort."""

from __future__ import annotations

import string
import unicodedata
from typing import ClassVar

import numpy as np

from headgate.inject.character_issue import CharacterIssue
from headgate.inject.characters import CharacterArray, Codes, Integers, Places
from headgate.inject.issue import issue

_ASCII = 128
_SORTS = (string.digits, string.ascii_lowercase, string.ascii_uppercase, string.punctuation)


@issue
class CharacterPerturbation(CharacterIssue, frozen=True):
    """Each character becomes another of the same sort with probability `share` (Appendix B, type 7).

    Digits become digits, a-z a-z, A-Z A-Z, punctuation punctuation. A character beyond ASCII becomes another one of the
    column with its Unicode category, if there is one. White space and control characters stay.
    """

    name: ClassVar = "character_perturbation"
    widens_numbers: ClassVar = True
    levels: ClassVar = ({"share": 0.01}, {"share": 0.1}, {"share": 1.0})

    def edit_characters(
        self, text: CharacterArray, places: Places, numeric: bool, rng: np.random.Generator
    ) -> CharacterArray:
        at = places.at[rng.random(len(places.at), np.float32) < self.share]
        codes = text.codes.copy()
        found = codes[at]
        codes[at] = np.where(found < _ASCII, _other_ascii(found, rng), found)
        if text.decoded and codes.dtype == np.uint32:
            foreign = at[found >= _ASCII]
            codes[foreign] = _other_foreign(text.codes, codes[foreign], rng)
        return text._replace(codes=codes)


class _Wheels:
    """Characters by their sort: a step of less than a whole turn from one of them ends at another of the same sort."""

    def __init__(self, sorts: list[list[int]]) -> None:
        self.turns = np.array([code for sort in sorts for code in sort], np.uint32)
        self.sizes = np.array([len(sort) for sort in sorts for _ in sort], np.int64)
        self.firsts = np.repeat(np.cumsum([0, *map(len, sorts)])[:-1], [len(sort) for sort in sorts])

    def other(self, spots: Integers, rng: np.random.Generator) -> Codes:
        sizes, firsts = self.sizes[spots], self.firsts[spots]
        steps = 1 + (rng.random(len(spots)) * (sizes - 1)).astype(np.int64)
        other: Codes = self.turns[firsts + (spots - firsts + steps) % sizes]
        return other


_LONERS = [[code] for code in range(_ASCII) if not any(chr(code) in sort for sort in _SORTS)]
_WHEELS = _Wheels([*([ord(each) for each in sort] for sort in _SORTS), *_LONERS])
_SPOTS = np.argsort(_WHEELS.turns)


def _other_ascii(codes: Codes, rng: np.random.Generator) -> Codes:
    return _WHEELS.other(_SPOTS[np.minimum(codes, _ASCII - 1)], rng).astype(codes.dtype)


def _other_foreign(column: Codes, codes: Codes, rng: np.random.Generator) -> Codes:
    sorts: dict[str, list[int]] = {}
    for code in np.unique(column[column >= _ASCII]).tolist():
        sorts.setdefault(unicodedata.category(chr(code)), []).append(code)
    wheels = _Wheels(list(sorts.values()))
    order = np.argsort(wheels.turns)
    return wheels.other(order[np.searchsorted(wheels.turns[order], codes)], rng)
