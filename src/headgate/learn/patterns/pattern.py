"""The language of patterns: atoms in a row, which print as in the paper and compile to one regular expression."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from enum import IntEnum

import msgspec
import numpy as np

from headgate.learn.patterns import hashing
from headgate.learn.patterns.alphabet import LETTERS_BEYOND, PHRASE_SYMBOLS, SYMBOL, classes
from headgate.learn.patterns.hashing import Keys
from headgate.learn.patterns.lexer import MOST_GROUPS

LANGUAGE = 1
"""The form of patterns and of their keys: an index of another form answers no question of this one."""


class Sort(IntEnum):
    """What an atom stands for. The numbers are part of every key: they never change, new ones are added at the end."""

    CONST = 0
    DIGIT = 1
    NUM = 2
    DECIMAL = 3
    UPPER = 4
    LOWER = 5
    TITLE = 6
    LETTER = 7
    ALPHANUM = 8
    SYMBOL = 9
    PHRASE = 10
    URL = 11
    EMAIL = 12
    PATH = 13


_LETTER = f"A-Za-z{LETTERS_BEYOND}"
_CLASS = {
    Sort.DIGIT: "[0-9]",
    Sort.UPPER: "[A-Z]",
    Sort.LOWER: "[a-z]",
    Sort.LETTER: f"[{_LETTER}]",
    Sort.ALPHANUM: f"[0-9{_LETTER}]",
    Sort.SYMBOL: f"[^0-9{_LETTER}]",
}
_HOST = r"[0-9A-Za-z.:@_~%-]+"
_WHOLE = {
    Sort.NUM: rf"[+-]?[0-9](?:[0-9]*|[0-9]{{0,2}}(?:,[0-9]{{3}}){{1,{MOST_GROUPS}}})(?:\.[0-9]+)?",
    Sort.TITLE: "[A-Z][a-z]+",
    Sort.PHRASE: f"[{_LETTER}][{_LETTER}{PHRASE_SYMBOLS}]*",
    Sort.URL: rf"https?://{_HOST}(?:[/?#][^ ]*)?",
    Sort.EMAIL: r"[0-9A-Za-z._%+-]+@[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+){1,8}",
    Sort.PATH: r"(?:[/?#][^ ]*)?",
}
_NAMES = {Sort.TITLE: "<upper><lower>+"}
_WORDS = frozenset({Sort.DIGIT, Sort.UPPER, Sort.LOWER, Sort.TITLE, Sort.LETTER, Sort.ALPHANUM})
_SPECIAL = frozenset(".^$*+?()[]{}|\\")


class Atom(msgspec.Struct, frozen=True):
    """A constant, or a class of characters: `count` of them, or one and more where it is 0."""

    sort: Sort
    count: int = 0
    text: str = ""

    def __str__(self) -> str:
        if self.sort is Sort.CONST:
            return self.text.replace("\\", "\\\\").replace("<", "\\<")
        if self.sort is Sort.DECIMAL:
            return f"<digit>+.<digit>{{{self.count}}}"
        if self.sort not in _CLASS:
            return _NAMES.get(self.sort, f"<{self.sort.name.lower()}>")
        return f"<{self.sort.name.lower()}>" + (f"{{{self.count}}}" if self.count else "+")

    @property
    def regex(self) -> str:
        if self.sort is Sort.CONST:
            return "".join(map(_escaped, self.text))
        if self.sort is Sort.DECIMAL:
            return rf"[0-9]+\.[0-9]{{{self.count}}}"
        if self.sort in _WHOLE:
            return _WHOLE[self.sort]
        return _CLASS[self.sort] + (f"{{{self.count}}}" if self.count > 1 else "" if self.count else "+")

    @property
    def is_word(self) -> bool:
        """Whether it stands for letters and digits alone."""
        if self.sort is Sort.CONST:
            return bool((classes(_codes(self.text)) != SYMBOL).all())
        return self.sort in _WORDS

    @property
    def is_open(self) -> bool:
        """Whether it says nothing of a value but its shape: no constant letter or digit."""
        return self.sort is not Sort.CONST or bool((classes(_codes(self.text)) == SYMBOL).all())

    @property
    def key(self) -> Keys:
        if self.sort is Sort.CONST:
            codes = _codes(self.text)
            return const_keys(hashing.texts(codes, np.zeros(1, dtype=np.int64), np.array([len(codes)])))
        return class_keys(self.sort, np.array([self.count], dtype=np.uint64))


def class_keys(sort: Sort, counts: Keys) -> Keys:
    """The keys of a class with these counts of characters."""
    return hashing.mix(np.uint64(int(sort) << 32) + counts)


def const_keys(texts: Keys) -> Keys:
    """The keys of constants, from the keys of their texts."""
    return hashing.mix(texts)


def mixed_keys(parts: Sequence[Keys]) -> Keys:
    """The keys of tokens of several runs, from those of their parts."""
    together = hashing.placed(parts[0], 1)
    for at, part in enumerate(parts[1:], start=2):
        together = together + hashing.placed(part, at)
    return hashing.mix(~together)


class Pattern(msgspec.Struct, frozen=True):
    """Atoms that follow one another; the whole of a value must match.

    >>> date = Pattern((Atom(Sort.LETTER, 3), Atom(Sort.CONST, text=" "), Atom(Sort.DIGIT, 2)))
    >>> print(date)
    <letter>{3} <digit>{2}
    >>> date.matches("Mar 01"), date.matches("March 01")
    (True, False)
    """

    atoms: tuple[Atom, ...]

    def __str__(self) -> str:
        return "".join(map(str, self.atoms))

    def __add__(self, other: Pattern) -> Pattern:
        return Pattern(self.atoms + other.atoms)

    @property
    def body(self) -> str:
        """The regular expression without its ends, to be put together with others."""
        return "".join(atom.regex for atom in self.atoms)

    @property
    def regex(self) -> str:
        """For RE2, for Java through `headgate`, and for `re.fullmatch`: Python's `$` alone lets a line end through."""
        return f"^{self.body}$"

    def matches(self, value: str) -> bool:
        return re.fullmatch(self.body, value) is not None

    @property
    def is_open(self) -> bool:
        return all(atom.is_open for atom in self.atoms)

    @property
    def key(self) -> int:
        """What the index knows the pattern by."""
        total = np.zeros(1, dtype=np.uint64)
        for place, token in enumerate(self.tokens()):
            keys = [atom.key for atom in token]
            total = total + hashing.placed(keys[0] if len(keys) == 1 else mixed_keys(keys), place)
        return int(hashing.mix(total)[0])

    def tokens(self) -> Iterator[tuple[Atom, ...]]:
        """The atoms of each token: letters and digits without a symbol between them are one."""
        held: list[Atom] = []
        for atom in self.atoms:
            if held and not (atom.is_word and held[-1].is_word):
                yield tuple(held)
                held = []
            held.append(atom)
        if held:
            yield tuple(held)


def _codes(text: str) -> np.ndarray[tuple[int], np.dtype[np.uint32]]:
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)


def _escaped(char: str) -> str:
    if char in _SPECIAL:
        return f"\\{char}"
    return char if ord(char) >= ord(" ") and char != "\x7f" else f"\\x{ord(char):02x}"
