"""Hashes patterns to 64-bit keys, with the same result for one pattern and for vectorised enumeration."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

Keys: TypeAlias = npt.NDArray[np.uint64]

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_FIRST, _SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_27, _30, _31 = np.uint64(27), np.uint64(30), np.uint64(31)


def mix(numbers: Keys) -> Keys:
    """A bijection of 64-bit numbers; every output bit depends on every input bit (SplitMix64's finaliser)."""
    mixed = numbers + _GOLDEN
    mixed = (mixed ^ (mixed >> _30)) * _FIRST
    mixed = (mixed ^ (mixed >> _27)) * _SECOND
    return mixed ^ (mixed >> _31)


def place_keys(keys: Keys, positions: Keys | int) -> Keys:
    """Turn keys of parts into terms of a sum, such that the sum depends on the order of the parts.

    >>> a, b = np.array([1, 2], dtype=np.uint64)[:, None]
    >>> bool(place_keys(a, 0) + place_keys(b, 1) == place_keys(b, 0) + place_keys(a, 1))
    False
    """
    numbers = np.array([positions], dtype=np.uint64) if isinstance(positions, int) else positions
    return mix(keys ^ mix(numbers))


def hash_texts(codes: npt.NDArray[np.uint32], starts: npt.NDArray[np.int64], lengths: npt.NDArray[np.int64]) -> Keys:
    """The keys of pieces of text, which begin at `starts` and follow one another without gaps."""
    if not len(starts):
        return np.zeros(0, dtype=np.uint64)
    positions = np.arange(len(codes), dtype=np.int64) - np.repeat(starts, lengths)
    terms = place_keys(codes.astype(np.uint64), positions.astype(np.uint64))
    sums: Keys = np.add.reduceat(terms, starts)
    return mix(sums ^ lengths.astype(np.uint64))
