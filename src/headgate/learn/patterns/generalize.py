"""Generalises tokens: lists the atoms that may replace each token in a pattern, for many values at once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from enum import IntEnum
from functools import lru_cache
from typing import TypeAlias

import msgspec
import numpy as np

from headgate.learn.patterns import hashing
from headgate.learn.patterns.alphabet import Classes
from headgate.learn.patterns.hashing import Keys
from headgate.learn.patterns.lexer import Case, Flags, Ints, TokenArrays, TokenKind
from headgate.learn.patterns.pattern import Atom, AtomKind, class_keys, combine_keys, const_keys


class Step(IntEnum):
    """A step of the generalisation hierarchy from the constant to general classes; steps with _K fix the length."""

    CONST = 0
    DIGIT_K = 1
    DIGIT = 2
    NUM = 3
    DECIMAL = 4
    CASE_K = 5
    CASE = 6
    LETTER_K = 7
    LETTER = 8
    ALPHANUM_K = 9
    ALPHANUM = 10
    SYMBOL = 11


Choice: TypeAlias = tuple[Step, ...]
"""How a token is generalised: one step for the whole token, or one step for each of its runs."""

Menu: TypeAlias = Mapping[TokenKind, tuple[Choice, ...]]
"""The choices for tokens of each kind."""

_ATOM_KIND = {
    Step.DIGIT_K: AtomKind.DIGIT,
    Step.DIGIT: AtomKind.DIGIT,
    Step.NUM: AtomKind.NUM,
    Step.LETTER_K: AtomKind.LETTER,
    Step.LETTER: AtomKind.LETTER,
    Step.ALPHANUM_K: AtomKind.ALPHANUM,
    Step.ALPHANUM: AtomKind.ALPHANUM,
    Step.SYMBOL: AtomKind.SYMBOL,
}
_KEEPS_LENGTH = frozenset({Step.DIGIT_K, Step.LETTER_K, Step.ALPHANUM_K})
_ATOM_KIND_OF_CASE = {Case.UPPER: AtomKind.UPPER, Case.LOWER: AtomKind.LOWER}

_WHOLE_TOKEN = ((Step.ALPHANUM_K,), (Step.ALPHANUM,))
_LETTERS_PART = (Step.CONST, Step.CASE_K, Step.LETTER_K, Step.LETTER)
_DIGITS_PART = (Step.CONST, Step.DIGIT_K, Step.DIGIT)
_FEW_LETTERS = (Step.CONST, Step.CASE_K, Step.LETTER)
_FEW_DIGITS = (Step.DIGIT_K, Step.DIGIT)


def _make_singles(*steps: Step) -> tuple[Choice, ...]:
    return tuple((step,) for step in steps)


def _make_pairs(first: tuple[Step, ...], second: tuple[Step, ...]) -> tuple[Choice, ...]:
    return tuple((a, b) for a in first for b in second if (a, b) != (Step.CONST, Step.CONST))


def _make_triples(outer: tuple[Step, ...], middle: tuple[Step, ...]) -> tuple[Choice, ...]:
    """Choices for three runs, of which the first and the last are of the same kind."""
    return tuple((a, b, c) for a in outer for b in middle for c in outer)


FULL_MENU: Menu = {
    TokenKind.SYMBOLS: _make_singles(Step.CONST),
    TokenKind.DIGITS: _make_singles(Step.CONST, Step.DIGIT_K, Step.DIGIT, Step.NUM, Step.ALPHANUM_K, Step.ALPHANUM),
    TokenKind.LETTERS: _make_singles(
        Step.CONST, Step.CASE_K, Step.CASE, Step.LETTER_K, Step.LETTER, Step.ALPHANUM_K, Step.ALPHANUM
    ),
    TokenKind.NUMBER: _make_singles(Step.CONST, Step.DECIMAL, Step.NUM),
    TokenKind.LETTERS_DIGITS: (*_make_singles(Step.CONST), *_make_pairs(_LETTERS_PART, _DIGITS_PART), *_WHOLE_TOKEN),
    TokenKind.DIGITS_LETTERS: (*_make_singles(Step.CONST), *_make_pairs(_DIGITS_PART, _LETTERS_PART), *_WHOLE_TOKEN),
    TokenKind.LETTERS_DIGITS_LETTERS: (
        *_make_singles(Step.CONST),
        *_make_triples(_FEW_LETTERS, _FEW_DIGITS),
        *_WHOLE_TOKEN,
    ),
    TokenKind.DIGITS_LETTERS_DIGITS: (
        *_make_singles(Step.CONST),
        *_make_triples(_FEW_DIGITS, _FEW_LETTERS),
        *_WHOLE_TOKEN,
    ),
    TokenKind.MIXED: (*_make_singles(Step.CONST), *_WHOLE_TOKEN),
}
SHORT_MENU: Menu = {**FULL_MENU, TokenKind.SYMBOLS: _make_singles(Step.CONST, Step.SYMBOL)}
MEDIUM_MENU: Menu = {
    **FULL_MENU,
    TokenKind.LETTERS_DIGITS: (
        *_make_singles(Step.CONST),
        *((Step.CONST, step) for step in _FEW_DIGITS),
        (Step.CASE_K, Step.DIGIT),
        (Step.LETTER, Step.DIGIT),
        *_WHOLE_TOKEN,
    ),
    TokenKind.DIGITS_LETTERS: (
        *_make_singles(Step.CONST),
        *((step, Step.CONST) for step in _FEW_DIGITS),
        (Step.DIGIT, Step.CASE_K),
        (Step.DIGIT, Step.LETTER),
        *_WHOLE_TOKEN,
    ),
    TokenKind.LETTERS_DIGITS_LETTERS: (
        *_make_singles(Step.CONST),
        (Step.LETTER, Step.DIGIT, Step.LETTER),
        *_WHOLE_TOKEN,
    ),
    TokenKind.DIGITS_LETTERS_DIGITS: (
        *_make_singles(Step.CONST),
        (Step.DIGIT_K, Step.CONST, Step.DIGIT_K),
        *_WHOLE_TOKEN,
    ),
}
LEAN_MENU: Menu = {
    **MEDIUM_MENU,
    TokenKind.DIGITS: _make_singles(Step.DIGIT_K, Step.DIGIT, Step.NUM),
    TokenKind.LETTERS: _make_singles(Step.CASE, Step.LETTER_K, Step.LETTER),
    TokenKind.NUMBER: _make_singles(Step.DECIMAL, Step.NUM),
    TokenKind.LETTERS_DIGITS: ((Step.CONST, Step.DIGIT), *_WHOLE_TOKEN),
    TokenKind.DIGITS_LETTERS: ((Step.DIGIT, Step.CONST), *_WHOLE_TOKEN),
    TokenKind.LETTERS_DIGITS_LETTERS: _WHOLE_TOKEN,
    TokenKind.DIGITS_LETTERS_DIGITS: ((Step.DIGIT_K, Step.CONST, Step.DIGIT_K), *_WHOLE_TOKEN),
    TokenKind.MIXED: _WHOLE_TOKEN,
}
BARE_MENU: Menu = {
    **LEAN_MENU,
    TokenKind.DIGITS: _make_singles(Step.DIGIT_K, Step.DIGIT),
    TokenKind.LETTERS: _make_singles(Step.LETTER_K, Step.LETTER),
    TokenKind.LETTERS_DIGITS: _WHOLE_TOKEN,
    TokenKind.DIGITS_LETTERS: _WHOLE_TOKEN,
    TokenKind.DIGITS_LETTERS_DIGITS: _WHOLE_TOKEN,
}

FEW_SLOTS, THREE_SLOTS, SOME_SLOTS, MAX_SLOTS = 2, 3, 5, 8
_SHORT_TOKENS = 3
MAX_PATTERNS = 900


def menu_of(tokens: int, slots: int) -> Menu | None:
    """The menu for a value with this many tokens, of which `slots` are not symbols; None for too many slots.

    The more slots, the fewer choices each has: no value has more than `MAX_PATTERNS` patterns.
    """
    if slots <= FEW_SLOTS:
        return SHORT_MENU if tokens <= _SHORT_TOKENS else FULL_MENU
    if slots <= THREE_SLOTS:
        return MEDIUM_MENU
    if slots <= SOME_SLOTS:
        return LEAN_MENU
    return BARE_MENU if slots <= MAX_SLOTS else None


class Choices(msgspec.Struct, frozen=True):
    """The choices for one token of each of many values: a row for a value, a column for a choice."""

    keys: Keys
    given: Flags  # whether the value has the choice

    @classmethod
    def of(cls, menu: Menu, kind: TokenKind, tokens: TokenArrays, indices: Ints) -> Choices:
        """The choices on a menu for the tokens at these indices, which are all of one kind."""
        columns = list(_make_columns(menu[kind], tokens, indices))
        return cls(np.stack([keys for keys, _ in columns], axis=1), np.stack([given for _, given in columns], axis=1))


def _make_columns(choices: tuple[Choice, ...], tokens: TokenArrays, indices: Ints) -> Iterator[tuple[Keys, Flags]]:
    for choice in choices:
        if len(choice) == 1:
            yield _keys_of_whole(choice[0], tokens, indices)
            continue
        parts = [_keys_of_part(step, tokens, tokens.run[indices] + run) for run, step in enumerate(choice)]
        yield combine_keys([keys for keys, _ in parts]), np.logical_and.reduce([given for _, given in parts])


def _keys_of_whole(step: Step, tokens: TokenArrays, indices: Ints) -> tuple[Keys, Flags]:
    always = np.ones(len(indices), dtype=bool)
    if step is Step.CONST:
        return const_keys(tokens.key[indices]), always
    if step is Step.NUM:
        return class_keys(AtomKind.NUM, np.zeros(len(indices), dtype=np.uint64)), ~_before_a_point(tokens, indices)
    if step is Step.DECIMAL:
        return class_keys(AtomKind.DECIMAL, tokens.decimals[indices].astype(np.uint64)), tokens.decimals[indices] > 0
    return _keys_of_class(step, tokens.length[indices], tokens.case[indices])


def _keys_of_part(step: Step, tokens: TokenArrays, run: Ints) -> tuple[Keys, Flags]:
    if step is Step.CONST:
        return const_keys(tokens.pieces.key[run]), np.ones(len(run), dtype=bool)
    return _keys_of_class(step, tokens.pieces.length[run], tokens.pieces.case[run])


def _keys_of_class(step: Step, length: Ints, case: Classes) -> tuple[Keys, Flags]:
    counts = length.astype(np.uint64)
    if step is Step.CASE_K:
        keys = np.where(case == Case.UPPER, class_keys(AtomKind.UPPER, counts), class_keys(AtomKind.LOWER, counts))
        return keys, (case == Case.UPPER) | (case == Case.LOWER)
    if step is Step.CASE:
        zeros = np.zeros(len(length), dtype=np.uint64)
        keys = np.where(case == Case.UPPER, class_keys(AtomKind.UPPER, zeros), class_keys(AtomKind.LOWER, zeros))
        return np.where(case == Case.TITLE, class_keys(AtomKind.TITLE, zeros), keys), case != Case.ANY
    kind = _ATOM_KIND[step]
    return class_keys(kind, counts if step in _KEEPS_LENGTH else np.zeros_like(counts)), np.ones(len(length), bool)


_POINTS = hashing.hash_texts(
    np.array([ord("."), ord(",")], dtype=np.uint32), np.array([0, 1]), np.array([1, 1], dtype=np.int64)
)


def _before_a_point(tokens: TokenArrays, indices: Ints) -> Flags:
    """Whether a lone point or comma follows: <num> could match it too, and matching would have to backtrack."""
    after = np.minimum(indices + 1, len(tokens.key) - 1)
    follows = (after > indices) & (tokens.value[after] == tokens.value[indices])
    return np.asarray(follows & np.isin(tokens.key[after], _POINTS))


def make_atoms(choice: Choice, tokens: TokenArrays, token: int) -> tuple[Atom, ...]:
    """The atoms that a choice makes of one token."""
    if len(choice) > 1:
        run = int(tokens.run[token])
        return tuple(
            _make_atom(step, tokens.piece(run + offset), Case(int(tokens.pieces.case[run + offset])))
            for offset, step in enumerate(choice)
        )
    if choice[0] is Step.DECIMAL:
        return (Atom(AtomKind.DECIMAL, int(tokens.decimals[token])),)
    return (_make_atom(choice[0], tokens.text(token), Case(int(tokens.case[token]))),)


def _make_atom(step: Step, text: str, case: Case) -> Atom:
    if step is Step.CONST:
        return Atom(AtomKind.CONST, text=text)
    if step is Step.CASE_K:
        return Atom(_ATOM_KIND_OF_CASE[case], len(text))
    if step is Step.CASE:
        return Atom(_ATOM_KIND_OF_CASE.get(case, AtomKind.TITLE))
    return Atom(_ATOM_KIND[step], len(text) if step in _KEEPS_LENGTH else 0)


def is_open(choice: Choice, kind: TokenKind) -> bool:
    """Whether the choice has no constant letter or digit."""
    return kind is TokenKind.SYMBOLS or Step.CONST not in choice


@lru_cache(maxsize=1_024)
def _find_unambiguous(menu: tuple[tuple[Choice, ...], ...]) -> Flags:
    numbers, symbols = (np.zeros(1, dtype=bool) for _ in range(2))
    for choices in menu:
        is_number = np.array([choice == (Step.NUM,) for choice in choices])
        is_symbols = np.array([choice == (Step.SYMBOL,) for choice in choices])
        numbers = (numbers[:, None] | is_number[None, :]).reshape(-1)
        symbols = (symbols[:, None] | is_symbols[None, :]).reshape(-1)
    return ~(numbers & symbols)


def find_unambiguous(menu: Menu, kinds: Sequence[TokenKind]) -> Flags:
    """Which combinations of choices can be matched without backtracking: those without both <num> and <symbol>.

    A sign, a point or a comma could be part of either, and matching would have to try both.
    """
    return _find_unambiguous(tuple(menu[kind] for kind in kinds))
