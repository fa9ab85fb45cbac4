"""Aligns token sequences by greedy multiple alignment (Auto-Validate, section 3)."""

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
"""Stands for any token that is not symbols when sequences are compared; no key of symbols is this small."""

MAX_GROUPS = 6
MAX_WIDTH = 48
"""The most tokens of a value that is cut into segments; a wider value is free text."""

AlignmentPath: TypeAlias = list[tuple[int | None, int | None]]

# Scores of an alignment: equal symbols, two words, different tokens, a gap.
_EQUAL_SYMBOLS, _TWO_WORDS, _DIFFERENT, _SKIP = 3, 2, -2, -1


class Group(msgspec.Struct, frozen=True):
    """Values with the same skeleton: their rows, their total weight, and the sequence of marks they share."""

    rows: Ints
    weight: int
    sequence: tuple[int, ...]


def group_values(tokens: TokenArrays, weights: Ints) -> list[Group]:
    """Group values by skeleton (their symbols, with a mark for each word between them); the most frequent first."""
    nonempty = np.flatnonzero(tokens.count > 0)
    if not len(nonempty):
        return []
    marks = np.where(tokens.kind == TokenKind.SYMBOLS, tokens.key, np.uint64(WORD))
    positions = (np.arange(len(marks)) - tokens.first[tokens.value]).astype(np.uint64)
    skeleton = np.add.reduceat(hashing.place_keys(marks, positions), tokens.first[nonempty])
    return sorted(
        (_make_group(tokens, marks, weights, nonempty[rows]) for rows in _group_equal_keys(skeleton)),
        key=lambda group: -group.weight,
    )


def _make_group(tokens: TokenArrays, marks: Keys, weights: Ints, rows: Ints) -> Group:
    first, count = int(tokens.first[rows[0]]), int(tokens.count[rows[0]])
    return Group(rows, int(weights[rows].sum()), tuple(marks[first : first + count].tolist()))


def _group_equal_keys(keys: Keys) -> list[Ints]:
    """The indices of equal keys, one array for each key."""
    order = np.argsort(keys, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(keys[order])) + 1)


class TokenGrid(msgspec.Struct, frozen=True):
    """Aligned values: `tokens` has a row for each value and a column for each place, with a token's index or GAP.

    `rows` are the indices of the values.
    """

    rows: Ints
    tokens: Ints

    @property
    def width(self) -> int:
        return int(self.tokens.shape[1])


def grid_of(tokens: TokenArrays, rows: Ints) -> TokenGrid:
    """The grid of values with the same number of tokens, which need no alignment."""
    return TokenGrid(rows, tokens.first[rows][:, None] + np.arange(int(tokens.count[rows[0]]))[None, :])


def align_groups(tokens: TokenArrays, chosen: Sequence[Group], late: bool = True) -> TokenGrid | None:
    """The groups in one grid. The first group begins; each next one is aligned to the result and may add places.

    Of equally good alignments, the one with the latest gaps is chosen if `late`, else the one with the earliest.
    """
    profile: list[int] = list(chosen[0].sequence)
    places: list[list[int]] = [list(range(len(profile)))]
    for group in chosen[1:]:
        path = _align_sequence(profile, group.sequence) if late else _align_backwards(profile, group.sequence)
        merged: list[int] = []
        group_places: list[int] = []
        moved: dict[int, int] = {}
        for old, new in path:
            if old is not None:
                moved[old] = len(merged)
            if new is not None:
                group_places.append(len(merged))
            merged.append(profile[old] if old is not None else group.sequence[new or 0])
        places = [[moved[place] for place in earlier] for earlier in places]
        places.append(group_places)
        profile = merged
    if len(profile) > MAX_WIDTH:
        return None
    grid = np.full((sum(len(group.rows) for group in chosen), len(profile)), GAP, dtype=np.int64)
    begin = 0
    for group, group_places in zip(chosen, places, strict=True):
        indices = tokens.first[group.rows][:, None] + np.arange(len(group_places))[None, :]
        grid[begin : begin + len(group.rows), group_places] = indices
        begin += len(group.rows)
    return TokenGrid(np.concatenate([group.rows for group in chosen]), grid)


def _align_backwards(profile: Sequence[int], sequence: Sequence[int]) -> AlignmentPath:
    path = _align_sequence(profile[::-1], sequence[::-1])[::-1]
    last_old, last_new = len(profile) - 1, len(sequence) - 1
    return [(None if old is None else last_old - old, None if new is None else last_new - new) for old, new in path]


def _align_sequence(profile: Sequence[int], sequence: Sequence[int]) -> AlignmentPath:
    """The best alignment by Needleman and Wunsch: pairs of positions, with None where one has no partner."""
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


def _score_pair(first: int, second: int) -> int:
    """Equal symbols score most, two words less; symbols over a word cost more than two gaps, so they never align."""
    if first == second:
        return _TWO_WORDS if first == WORD else _EQUAL_SYMBOLS
    return _DIFFERENT - 2 if WORD in (first, second) else _DIFFERENT
