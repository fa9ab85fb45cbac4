"""The generalisation hierarchy: what each token of a value may become in a pattern, for many values at once."""

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
from headgate.learn.patterns.lexer import Case, Flags, Ints, Kind, Tokens
from headgate.learn.patterns.pattern import Atom, Sort, class_keys, const_keys, mixed_keys


class Step(IntEnum):
    """A step up the hierarchy, from the constant to the classes above it; those with _K keep the length."""

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
"""What becomes of a token: one step for the whole of it, or one for each of its runs."""

Menu: TypeAlias = Mapping[Kind, tuple[Choice, ...]]
"""What may become of tokens of each kind."""

_SORT = {
    Step.DIGIT_K: Sort.DIGIT,
    Step.DIGIT: Sort.DIGIT,
    Step.NUM: Sort.NUM,
    Step.LETTER_K: Sort.LETTER,
    Step.LETTER: Sort.LETTER,
    Step.ALPHANUM_K: Sort.ALPHANUM,
    Step.ALPHANUM: Sort.ALPHANUM,
    Step.SYMBOL: Sort.SYMBOL,
}
_KEEPS_LENGTH = frozenset({Step.DIGIT_K, Step.LETTER_K, Step.ALPHANUM_K})
_SORT_OF_CASE = {Case.UPPER: Sort.UPPER, Case.LOWER: Sort.LOWER}

_WHOLE = ((Step.ALPHANUM_K,), (Step.ALPHANUM,))
_LETTERS_PART = (Step.CONST, Step.CASE_K, Step.LETTER_K, Step.LETTER)
_DIGITS_PART = (Step.CONST, Step.DIGIT_K, Step.DIGIT)
_FEW_LETTERS = (Step.CONST, Step.CASE_K, Step.LETTER)
_FEW_DIGITS = (Step.DIGIT_K, Step.DIGIT)


def _singly(*steps: Step) -> tuple[Choice, ...]:
    return tuple((step,) for step in steps)


def _pairs(first: tuple[Step, ...], second: tuple[Step, ...]) -> tuple[Choice, ...]:
    return tuple((a, b) for a in first for b in second if (a, b) != (Step.CONST, Step.CONST))


def _triples(outer: tuple[Step, ...], middle: tuple[Step, ...]) -> tuple[Choice, ...]:
    """Three runs, of which the first and the last go up in the same way or one of them stays."""
    return tuple((a, b, c) for a in outer for b in middle for c in outer)


FULL: Menu = {
    Kind.SYMBOLS: _singly(Step.CONST),
    Kind.DIGITS: _singly(Step.CONST, Step.DIGIT_K, Step.DIGIT, Step.NUM, Step.ALPHANUM_K, Step.ALPHANUM),
    Kind.LETTERS: _singly(
        Step.CONST, Step.CASE_K, Step.CASE, Step.LETTER_K, Step.LETTER, Step.ALPHANUM_K, Step.ALPHANUM
    ),
    Kind.NUMBER: _singly(Step.CONST, Step.DECIMAL, Step.NUM),
    Kind.LETTERS_DIGITS: (*_singly(Step.CONST), *_pairs(_LETTERS_PART, _DIGITS_PART), *_WHOLE),
    Kind.DIGITS_LETTERS: (*_singly(Step.CONST), *_pairs(_DIGITS_PART, _LETTERS_PART), *_WHOLE),
    Kind.LETTERS_DIGITS_LETTERS: (*_singly(Step.CONST), *_triples(_FEW_LETTERS, _FEW_DIGITS), *_WHOLE),
    Kind.DIGITS_LETTERS_DIGITS: (*_singly(Step.CONST), *_triples(_FEW_DIGITS, _FEW_LETTERS), *_WHOLE),
    Kind.MIXED: (*_singly(Step.CONST), *_WHOLE),
}
SHORT: Menu = {**FULL, Kind.SYMBOLS: _singly(Step.CONST, Step.SYMBOL)}
MIDDLING: Menu = {
    **FULL,
    Kind.LETTERS_DIGITS: (
        *_singly(Step.CONST),
        *((Step.CONST, step) for step in _FEW_DIGITS),
        (Step.CASE_K, Step.DIGIT),
        (Step.LETTER, Step.DIGIT),
        *_WHOLE,
    ),
    Kind.DIGITS_LETTERS: (
        *_singly(Step.CONST),
        *((step, Step.CONST) for step in _FEW_DIGITS),
        (Step.DIGIT, Step.CASE_K),
        (Step.DIGIT, Step.LETTER),
        *_WHOLE,
    ),
    Kind.LETTERS_DIGITS_LETTERS: (*_singly(Step.CONST), (Step.LETTER, Step.DIGIT, Step.LETTER), *_WHOLE),
    Kind.DIGITS_LETTERS_DIGITS: (*_singly(Step.CONST), (Step.DIGIT_K, Step.CONST, Step.DIGIT_K), *_WHOLE),
}
LEAN: Menu = {
    **MIDDLING,
    Kind.DIGITS: _singly(Step.DIGIT_K, Step.DIGIT, Step.NUM),
    Kind.LETTERS: _singly(Step.CASE, Step.LETTER_K, Step.LETTER),
    Kind.NUMBER: _singly(Step.DECIMAL, Step.NUM),
    Kind.LETTERS_DIGITS: ((Step.CONST, Step.DIGIT), *_WHOLE),
    Kind.DIGITS_LETTERS: ((Step.DIGIT, Step.CONST), *_WHOLE),
    Kind.LETTERS_DIGITS_LETTERS: _WHOLE,
    Kind.DIGITS_LETTERS_DIGITS: ((Step.DIGIT_K, Step.CONST, Step.DIGIT_K), *_WHOLE),
    Kind.MIXED: _WHOLE,
}
BARE: Menu = {
    **LEAN,
    Kind.DIGITS: _singly(Step.DIGIT_K, Step.DIGIT),
    Kind.LETTERS: _singly(Step.LETTER_K, Step.LETTER),
    Kind.LETTERS_DIGITS: _WHOLE,
    Kind.DIGITS_LETTERS: _WHOLE,
    Kind.DIGITS_LETTERS_DIGITS: _WHOLE,
}

FEW_SLOTS, THREE_SLOTS, SOME_SLOTS, MOST_SLOTS = 2, 3, 5, 8
_SHORT_TOKENS = 3
MOST_PATTERNS = 900


def menu_of(tokens: int, slots: int) -> Menu | None:
    """What may become of the tokens of a value with so many tokens and slots (tokens that are not symbols).

    The more slots, the fewer choices each has: no value has more than `MOST_PATTERNS` patterns.
    """
    if slots <= FEW_SLOTS:
        return SHORT if tokens <= _SHORT_TOKENS else FULL
    if slots <= THREE_SLOTS:
        return MIDDLING
    if slots <= SOME_SLOTS:
        return LEAN
    return BARE if slots <= MOST_SLOTS else None


class Choices(msgspec.Struct, frozen=True):
    """The choices for one token of each of many values: a row for a value, a column for a choice."""

    keys: Keys
    given: Flags  # whether the choice is there for the value

    @classmethod
    def of(cls, menu: Menu, kind: Kind, tokens: Tokens, at: Ints) -> Choices:
        columns = list(_columns(menu[kind], tokens, at))
        return cls(np.stack([keys for keys, _ in columns], axis=1), np.stack([given for _, given in columns], axis=1))


def _columns(choices: tuple[Choice, ...], tokens: Tokens, at: Ints) -> Iterator[tuple[Keys, Flags]]:
    for choice in choices:
        if len(choice) == 1:
            yield _whole(choice[0], tokens, at)
            continue
        parts = [_part(step, tokens, tokens.run[at] + place) for place, step in enumerate(choice)]
        yield mixed_keys([keys for keys, _ in parts]), np.logical_and.reduce([given for _, given in parts])


def _whole(step: Step, tokens: Tokens, at: Ints) -> tuple[Keys, Flags]:
    always = np.ones(len(at), dtype=bool)
    if step is Step.CONST:
        return const_keys(tokens.key[at]), always
    if step is Step.NUM:
        return class_keys(Sort.NUM, np.zeros(len(at), dtype=np.uint64)), ~_before_a_point(tokens, at)
    if step is Step.DECIMAL:
        return class_keys(Sort.DECIMAL, tokens.decimals[at].astype(np.uint64)), tokens.decimals[at] > 0
    return _class(step, tokens.length[at], tokens.case[at])


def _part(step: Step, tokens: Tokens, run: Ints) -> tuple[Keys, Flags]:
    if step is Step.CONST:
        return const_keys(tokens.pieces.key[run]), np.ones(len(run), dtype=bool)
    return _class(step, tokens.pieces.length[run], tokens.pieces.case[run])


def _class(step: Step, length: Ints, case: Classes) -> tuple[Keys, Flags]:
    counts = length.astype(np.uint64)
    if step is Step.CASE_K:
        keys = np.where(case == Case.UPPER, class_keys(Sort.UPPER, counts), class_keys(Sort.LOWER, counts))
        return keys, (case == Case.UPPER) | (case == Case.LOWER)
    if step is Step.CASE:
        none = np.zeros(len(length), dtype=np.uint64)
        keys = np.where(case == Case.UPPER, class_keys(Sort.UPPER, none), class_keys(Sort.LOWER, none))
        return np.where(case == Case.TITLE, class_keys(Sort.TITLE, none), keys), case != Case.ANY
    sort = _SORT[step]
    return class_keys(sort, counts if step in _KEEPS_LENGTH else np.zeros_like(counts)), np.ones(len(length), bool)


_POINTS = hashing.texts(
    np.array([ord("."), ord(",")], dtype=np.uint32), np.array([0, 1]), np.array([1, 1], dtype=np.int64)
)


def _before_a_point(tokens: Tokens, at: Ints) -> Flags:
    """Whether a lone point or comma follows: <num> could take it for its own, and matching would have to try twice."""
    after = np.minimum(at + 1, len(tokens.key) - 1)
    follows = (after > at) & (tokens.value[after] == tokens.value[at])
    return np.asarray(follows & np.isin(tokens.key[after], _POINTS))


def atoms(choice: Choice, tokens: Tokens, token: int) -> tuple[Atom, ...]:
    """The choice for one token, as atoms of a pattern."""
    if len(choice) > 1:
        run = int(tokens.run[token])
        return tuple(
            _atom(step, tokens.piece(run + at), Case(int(tokens.pieces.case[run + at])))
            for at, step in enumerate(choice)
        )
    if choice[0] is Step.DECIMAL:
        return (Atom(Sort.DECIMAL, int(tokens.decimals[token])),)
    return (_atom(choice[0], tokens.text(token), Case(int(tokens.case[token]))),)


def _atom(step: Step, text: str, case: Case) -> Atom:
    if step is Step.CONST:
        return Atom(Sort.CONST, text=text)
    if step is Step.CASE_K:
        return Atom(_SORT_OF_CASE[case], len(text))
    if step is Step.CASE:
        return Atom(_SORT_OF_CASE.get(case, Sort.TITLE))
    return Atom(_SORT[step], len(text) if step in _KEEPS_LENGTH else 0)


def is_open(choice: Choice, kind: Kind) -> bool:
    """Whether the choice tells no letter and no digit of a value."""
    return kind is Kind.SYMBOLS or Step.CONST not in choice


@lru_cache(maxsize=1_024)
def _clear(menu: tuple[tuple[Choice, ...], ...]) -> Flags:
    numbers, symbols = (np.zeros(1, dtype=bool) for _ in range(2))
    for choices in menu:
        is_number = np.array([choice == (Step.NUM,) for choice in choices])
        is_symbols = np.array([choice == (Step.SYMBOL,) for choice in choices])
        numbers = (numbers[:, None] | is_number[None, :]).reshape(-1)
        symbols = (symbols[:, None] | is_symbols[None, :]).reshape(-1)
    return ~(numbers & symbols)


def clear(menu: Menu, kinds: Sequence[Kind]) -> Flags:
    """Which combinations of choices can be told apart while reading: not <num> with any symbols.

    A sign, a point or a comma could be part of either, and matching would have to try both.
    """
    return _clear(tuple(menu[kind] for kind in kinds))
