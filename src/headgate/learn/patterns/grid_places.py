"""Finds the choices that the tokens at one place of a token grid share."""

from __future__ import annotations

import msgspec
import numpy as np

from headgate.learn.patterns.align import GAP
from headgate.learn.patterns.generalize import SHORT_MENU, Choice, Choices, Menu, Step, make_atoms
from headgate.learn.patterns.hashing import Keys
from headgate.learn.patterns.lexer import Flags, Ints, TokenArrays, TokenKind
from headgate.learn.patterns.pattern import Atom


class GridPlace(msgspec.Struct, frozen=True):
    """One place (column) of a grid: the choices of its reference token that enough values meet, and which do.

    `token` is the index of the reference token, and `kind` its kind.
    """

    kind: TokenKind
    token: int
    choices: tuple[Choice, ...]
    keys: Keys
    meets: Flags  # a row for each value, a column for each choice
    gap: Flags  # values without a token here

    @property
    def is_constant(self) -> bool:
        """Whether nearly all values have the same symbols here; such a place needs no evidence."""
        return self.kind is TokenKind.SYMBOLS and (Step.CONST,) in self.choices

    def choices_on(self, menu: Menu) -> list[int]:
        """The indices of the choices that are on a menu."""
        return [index for index, choice in enumerate(self.choices) if choice in menu[self.kind]]

    def atoms_of(self, tokens: TokenArrays, choice: int) -> tuple[Atom, ...]:
        return make_atoms(self.choices[choice], tokens, self.token)


def place_of(tokens: TokenArrays, indices: Ints, weights: Ints, tolerated: float) -> GridPlace:
    """The place with the tokens at `indices` (GAP where a value has none).

    A choice is left out if the values that do not meet it weigh more than `tolerated`. The reference is the most
    frequent token of the most frequent kind, because a choice that nearly all values share is one of its choices.
    """
    gap = indices == GAP
    present = np.flatnonzero(~gap)
    if (tokens.key[indices[present]] == tokens.key[indices[present[0]]]).all():
        return _make_constant(tokens, int(indices[present[0]]), gap)
    own_weights = weights[present]
    kinds = tokens.kind[indices[present]]
    kind = TokenKind(int(np.bincount(kinds, weights=own_weights).argmax()))
    token = _find_commonest(tokens, indices[present][kinds == kind], own_weights[kinds == kind])
    reference = Choices.of(SHORT_MENU, kind, tokens, np.array([token]))
    meets = np.zeros((len(indices), reference.keys.shape[1]), dtype=bool)
    for other_kind in np.unique(kinds):
        rows = present[kinds == other_kind]
        choices = Choices.of(SHORT_MENU, TokenKind(int(other_kind)), tokens, indices[rows])
        same = choices.keys[:, :, None] == reference.keys[0][None, None, :]
        meets[rows] = (same & choices.given[:, :, None]).any(axis=1)
    met = own_weights @ meets[present]
    kept = np.flatnonzero(reference.given[0] & (met >= own_weights.sum() - tolerated))
    shared = tuple(SHORT_MENU[kind][choice] for choice in kept)
    return GridPlace(kind, token, shared, reference.keys[0][kept], meets[:, kept], gap)


def _make_constant(tokens: TokenArrays, token: int, gap: Flags) -> GridPlace:
    """A place where all values have the same token, so that all of its choices are shared."""
    kind = TokenKind(int(tokens.kind[token]))
    reference = Choices.of(SHORT_MENU, kind, tokens, np.array([token]))
    kept = np.flatnonzero(reference.given[0])
    meets = np.repeat(~gap[:, None], len(kept), axis=1)
    shared = tuple(SHORT_MENU[kind][choice] for choice in kept)
    return GridPlace(kind, token, shared, reference.keys[0][kept], meets, gap)


def _find_commonest(tokens: TokenArrays, indices: Ints, weights: Ints) -> int:
    _, first, which = np.unique(tokens.key[indices], return_index=True, return_inverse=True)
    return int(indices[first[np.bincount(which, weights=weights).argmax()]])
