"""Token sequences laid over one another, one more at a time: greedy multiple alignment (Auto-Validate, section 3)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import msgspec
import numpy as np

from headgate.learn.patterns import hashing
from headgate.learn.patterns.hashing import Keys
from headgate.learn.patterns.lexer import Ints, TokenArrays, TokenKind

GAP = -1
WORD = 1
"""What stands for any token that is not symbols when sequences are compared; the key of symbols is never so small."""

MOST_GROUPS = 6
WIDEST = 48
"""Tokens of a value that is cut into segments; what is wider is text."""

AlignmentPath: TypeAlias = list[tuple[int | None, int | None]]

_SAME, _ALIKE, _OTHER, _SKIP = 3, 2, -2, -1


class Group(msgspec.Struct, frozen=True):
    """Values with the same symbols at the same places: their rows, how many they are, and the sequence they share."""

    rows: Ints
    weight: int
    sequence: tuple[int, ...]


def group_values(tokens: TokenArrays, weights: Ints) -> list[Group]:
    """Values by their skeleton, the symbols and how many words stand between them; the most frequent first."""
    some = np.flatnonzero(tokens.count > 0)
    if not len(some):
        return []
    marks = np.where(tokens.kind == TokenKind.SYMBOLS, tokens.key, np.uint64(WORD))
    at = (np.arange(len(marks)) - tokens.first[tokens.value]).astype(np.uint64)
    skeleton = np.add.reduceat(hashing.place_keys(marks, at), tokens.first[some])
    return sorted(
        (_make_group(tokens, marks, weights, some[each]) for each in _group_equal_keys(skeleton)),
        key=lambda group: -group.weight,
    )


def _make_group(tokens: TokenArrays, marks: Keys, weights: Ints, rows: Ints) -> Group:
    first, count = int(tokens.first[rows[0]]), int(tokens.count[rows[0]])
    return Group(rows, int(weights[rows].sum()), tuple(marks[first : first + count].tolist()))


def _group_equal_keys(keys: Keys) -> list[Ints]:
    """The places of equal keys, one array for each key."""
    order = np.argsort(keys, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(keys[order])) + 1)


class TokenGrid(msgspec.Struct, frozen=True):
    """Rows of a grid are values, its columns places: the token of a value at a place, or GAP."""

    rows: Ints
    at: Ints

    @property
    def width(self) -> int:
        return int(self.at.shape[1])


def grid_of(tokens: TokenArrays, rows: Ints) -> TokenGrid:
    """Values with the same number of tokens, which need no alignment."""
    return TokenGrid(rows, tokens.first[rows][:, None] + np.arange(int(tokens.count[rows[0]]))[None, :])


def align_groups(tokens: TokenArrays, chosen: Sequence[Group], late: bool = True) -> TokenGrid | None:
    """The groups in one grid. The heaviest begins; each next one is aligned to what is there and may open places.

    Of alignments that are equally good, gaps stand as `late` in a value as they can, or as early.
    """
    profile: list[int] = list(chosen[0].sequence)
    places: list[list[int]] = [list(range(len(profile)))]
    for group in chosen[1:]:
        path = _align_sequence(profile, group.sequence) if late else _align_backwards(profile, group.sequence)
        merged: list[int] = []
        theirs: list[int] = []
        moved: dict[int, int] = {}
        for old, new in path:
            if old is not None:
                moved[old] = len(merged)
            if new is not None:
                theirs.append(len(merged))
            merged.append(profile[old] if old is not None else group.sequence[new or 0])
        places = [[moved[place] for place in each] for each in places]
        places.append(theirs)
        profile = merged
    if len(profile) > WIDEST:
        return None
    at = np.full((sum(len(group.rows) for group in chosen), len(profile)), GAP, dtype=np.int64)
    begin = 0
    for group, where in zip(chosen, places, strict=True):
        own = tokens.first[group.rows][:, None] + np.arange(len(where))[None, :]
        at[begin : begin + len(group.rows), where] = own
        begin += len(group.rows)
    return TokenGrid(np.concatenate([group.rows for group in chosen]), at)


def _align_backwards(profile: Sequence[int], sequence: Sequence[int]) -> AlignmentPath:
    path = _align_sequence(profile[::-1], sequence[::-1])[::-1]
    tops, ends = len(profile) - 1, len(sequence) - 1
    return [(None if old is None else tops - old, None if new is None else ends - new) for old, new in path]


def _align_sequence(profile: Sequence[int], sequence: Sequence[int]) -> AlignmentPath:
    """Needleman and Wunsch: pairs of places, one of them missing where the other has no partner."""
    height, width = len(profile) + 1, len(sequence) + 1
    best = [[_SKIP * (row + column) for column in range(width)] for row in range(height)]
    for row in range(1, height):
        for column in range(1, width):
            best[row][column] = max(
                best[row - 1][column - 1] + _score_pair(profile[row - 1], sequence[column - 1]),
                best[row - 1][column] + _SKIP,
                best[row][column - 1] + _SKIP,
            )
    path: AlignmentPath = []
    row, column = height - 1, width - 1
    while row or column:
        score = best[row][column]
        if row and score == best[row - 1][column] + _SKIP:
            row -= 1
            path.append((row, None))
        elif column and score == best[row][column - 1] + _SKIP:
            column -= 1
            path.append((None, column))
        else:
            row, column = row - 1, column - 1
            path.append((row, column))
    return path[::-1]


def _score_pair(one: int, other: int) -> int:
    """Equal symbols are sure to belong together, words may; symbols never stand over words."""
    if one == other:
        return _ALIKE if one == WORD else _SAME
    return _OTHER - 2 if WORD in (one, other) else _OTHER
