"""Keys of patterns: 64 bits that the vectorised enumeration and a single pattern arrive at alike."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

Keys: TypeAlias = npt.NDArray[np.uint64]

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_FIRST, _SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_27, _30, _31 = np.uint64(27), np.uint64(30), np.uint64(31)


def mix(numbers: Keys) -> Keys:
    """A bijection of 64 bits in which every bit of the result hangs on every bit given (SplitMix64's finaliser)."""
    mixed = numbers + _GOLDEN
    mixed = (mixed ^ (mixed >> _30)) * _FIRST
    mixed = (mixed ^ (mixed >> _27)) * _SECOND
    return mixed ^ (mixed >> _31)


def place_keys(keys: Keys, places: Keys | int) -> Keys:
    """Keys of parts as terms of a sum that tells in which order they stand.

    >>> a, b = np.array([1, 2], dtype=np.uint64)[:, None]
    >>> bool(place_keys(a, 0) + place_keys(b, 1) == place_keys(b, 0) + place_keys(a, 1))
    False
    """
    where = np.array([places], dtype=np.uint64) if isinstance(places, int) else places
    return mix(keys ^ mix(where))


def hash_texts(codes: npt.NDArray[np.uint32], starts: npt.NDArray[np.int64], lengths: npt.NDArray[np.int64]) -> Keys:
    """The keys of the stretches of text that begin at `starts` and follow one another without gaps."""
    if not len(starts):
        return np.zeros(0, dtype=np.uint64)
    inside = np.arange(len(codes), dtype=np.int64) - np.repeat(starts, lengths)
    terms = place_keys(codes.astype(np.uint64), inside.astype(np.uint64))
    sums: Keys = np.add.reduceat(terms, starts)
    return mix(sums ^ lengths.astype(np.uint64))
