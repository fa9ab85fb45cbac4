"""What the tokens at one place of a grid may all become."""

from __future__ import annotations

import msgspec
import numpy as np

from headgate.learn.patterns.align import GAP
from headgate.learn.patterns.generalize import SHORT, Choice, Choices, Menu, Step, make_atoms
from headgate.learn.patterns.hashing import Keys
from headgate.learn.patterns.lexer import Flags, Ints, TokenArrays, TokenKind
from headgate.learn.patterns.pattern import Atom


class Place(msgspec.Struct, frozen=True):
    """One place of a grid: the choices of its reference token that enough values meet, and which values meet each."""

    kind: TokenKind
    token: int
    choices: tuple[Choice, ...]
    keys: Keys
    meets: Flags  # a row for each value, a column for each choice
    gap: Flags  # values that have nothing here

    @property
    def is_constant(self) -> bool:
        """Whether it holds the same symbols in nearly all values, which need no evidence."""
        return self.kind is TokenKind.SYMBOLS and (Step.CONST,) in self.choices

    def choices_on(self, menu: Menu) -> list[int]:
        """Which of the choices are on a menu."""
        return [at for at, choice in enumerate(self.choices) if choice in menu[self.kind]]

    def atoms_of(self, tokens: TokenArrays, choice: int) -> tuple[Atom, ...]:
        return make_atoms(self.choices[choice], tokens, self.token)


def place_of(tokens: TokenArrays, at: Ints, weights: Ints, tolerated: float) -> Place:
    """Where the tokens `at` stand (GAP where a value has none); choices that more than `tolerated` miss are left out.

    The reference is the most frequent token of the most frequent kind: what nearly all values can become, it can.
    """
    gap = at == GAP
    there = np.flatnonzero(~gap)
    if (tokens.key[at[there]] == tokens.key[at[there[0]]]).all():
        return _make_constant(tokens, int(at[there[0]]), gap)
    own_weights = weights[there]
    kinds = tokens.kind[at[there]]
    kind = TokenKind(int(np.bincount(kinds, weights=own_weights).argmax()))
    token = _find_commonest(tokens, at[there][kinds == kind], own_weights[kinds == kind])
    own = Choices.of(SHORT, kind, tokens, np.array([token]))
    meets = np.zeros((len(at), own.keys.shape[1]), dtype=bool)
    for each in np.unique(kinds):
        rows = there[kinds == each]
        theirs = Choices.of(SHORT, TokenKind(int(each)), tokens, at[rows])
        same = theirs.keys[:, :, None] == own.keys[0][None, None, :]
        meets[rows] = (same & theirs.given[:, :, None]).any(axis=1)
    met = own_weights @ meets[there]
    kept = np.flatnonzero(own.given[0] & (met >= own_weights.sum() - tolerated))
    return Place(kind, token, tuple(SHORT[kind][each] for each in kept), own.keys[0][kept], meets[:, kept], gap)


def _make_constant(tokens: TokenArrays, token: int, gap: Flags) -> Place:
    """A place where all values have the same: what one can become, all can."""
    kind = TokenKind(int(tokens.kind[token]))
    own = Choices.of(SHORT, kind, tokens, np.array([token]))
    kept = np.flatnonzero(own.given[0])
    meets = np.repeat(~gap[:, None], len(kept), axis=1)
    return Place(kind, token, tuple(SHORT[kind][each] for each in kept), own.keys[0][kept], meets, gap)


def _find_commonest(tokens: TokenArrays, at: Ints, weights: Ints) -> int:
    _, first, which = np.unique(tokens.key[at], return_index=True, return_inverse=True)
    return int(at[first[np.bincount(which, weights=weights).argmax()]])
