"""Defines patterns: sequences of atoms that print as in the paper and compile to one regular expression."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from enum import IntEnum

import msgspec
import numpy as np

from headgate.learn.patterns import hashing
from headgate.learn.patterns.alphabet import LETTERS_BEYOND, PHRASE_SYMBOLS, SYMBOL, classify_codes
from headgate.learn.patterns.hashing import Keys
from headgate.learn.patterns.lexer import MAX_GROUPS

LANGUAGE = 1
"""The version of patterns and their keys. An index with another version cannot be used."""


class AtomKind(IntEnum):
    """What an atom matches. The numbers are part of every key: they never change, and new ones go at the end."""

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
    AtomKind.DIGIT: "[0-9]",
    AtomKind.UPPER: "[A-Z]",
    AtomKind.LOWER: "[a-z]",
    AtomKind.LETTER: f"[{_LETTER}]",
    AtomKind.ALPHANUM: f"[0-9{_LETTER}]",
    AtomKind.SYMBOL: f"[^0-9{_LETTER}]",
}
_HOST = r"[0-9A-Za-z.:@_~%-]+"
_WHOLE = {
    AtomKind.NUM: rf"[+-]?[0-9](?:[0-9]*|[0-9]{{0,2}}(?:,[0-9]{{3}}){{1,{MAX_GROUPS}}})(?:\.[0-9]+)?",
    AtomKind.TITLE: "[A-Z][a-z]+",
    AtomKind.PHRASE: f"[{_LETTER}][{_LETTER}{PHRASE_SYMBOLS}]*",
    AtomKind.URL: rf"https?://{_HOST}(?:[/?#][^ ]*)?",
    AtomKind.EMAIL: r"[0-9A-Za-z._%+-]+@[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+){1,8}",
    AtomKind.PATH: r"(?:[/?#][^ ]*)?",
}
_NAMES = {AtomKind.TITLE: "<upper><lower>+"}
_WORDS = frozenset({AtomKind.DIGIT, AtomKind.UPPER, AtomKind.LOWER, AtomKind.TITLE, AtomKind.LETTER, AtomKind.ALPHANUM})
_SPECIAL = frozenset(".^$*+?()[]{}|\\")


class Atom(msgspec.Struct, frozen=True):
    """A constant text, or a class of characters: exactly `count` of them, or one or more if `count` is 0."""

    kind: AtomKind
    count: int = 0
    text: str = ""

    def __str__(self) -> str:
        if self.kind is AtomKind.CONST:
            return self.text.replace("\\", "\\\\").replace("<", "\\<")
        if self.kind is AtomKind.DECIMAL:
            return f"<digit>+.<digit>{{{self.count}}}"
        if self.kind not in _CLASS:
            return _NAMES.get(self.kind, f"<{self.kind.name.lower()}>")
        return f"<{self.kind.name.lower()}>" + (f"{{{self.count}}}" if self.count else "+")

    @property
    def regex(self) -> str:
        if self.kind is AtomKind.CONST:
            return "".join(map(_escape_char, self.text))
        if self.kind is AtomKind.DECIMAL:
            return rf"[0-9]+\.[0-9]{{{self.count}}}"
        if self.kind in _WHOLE:
            return _WHOLE[self.kind]
        return _CLASS[self.kind] + (f"{{{self.count}}}" if self.count > 1 else "" if self.count else "+")

    @property
    def is_word(self) -> bool:
        """Whether it matches only letters and digits."""
        if self.kind is AtomKind.CONST:
            return bool((classify_codes(_encode_text(self.text)) != SYMBOL).all())
        return self.kind in _WORDS

    @property
    def is_open(self) -> bool:
        """Whether it has no constant letter or digit."""
        return self.kind is not AtomKind.CONST or bool((classify_codes(_encode_text(self.text)) == SYMBOL).all())

    @property
    def key(self) -> Keys:
        if self.kind is AtomKind.CONST:
            codes = _encode_text(self.text)
            return const_keys(hashing.hash_texts(codes, np.zeros(1, dtype=np.int64), np.array([len(codes)])))
        return class_keys(self.kind, np.array([self.count], dtype=np.uint64))


def class_keys(kind: AtomKind, counts: Keys) -> Keys:
    """The keys of atoms of a class of characters, one for each count."""
    return hashing.mix(np.uint64(int(kind) << 32) + counts)


def const_keys(texts: Keys) -> Keys:
    """The keys of constant atoms, from the hashes of their texts."""
    return hashing.mix(texts)


def combine_keys(parts: Sequence[Keys]) -> Keys:
    """The keys of tokens of several runs, from the keys of their runs."""
    total = hashing.place_keys(parts[0], 1)
    for position, part in enumerate(parts[1:], start=2):
        total = total + hashing.place_keys(part, position)
    # The complement keeps the key of one token of several runs apart from the key of several tokens.
    return hashing.mix(~total)


class Pattern(msgspec.Struct, frozen=True):
    """A sequence of atoms, which the whole of a value must match.

    >>> date = Pattern((Atom(AtomKind.LETTER, 3), Atom(AtomKind.CONST, text=" "), Atom(AtomKind.DIGIT, 2)))
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
        """The regular expression without `^` and `$`, to be combined with others."""
        return "".join(atom.regex for atom in self.atoms)

    @property
    def regex(self) -> str:
        """The regular expression for RE2, Java and `re.fullmatch`; with `re.match`, `$` would allow a final newline."""
        return f"^{self.body}$"

    def matches(self, value: str) -> bool:
        return re.fullmatch(self.body, value) is not None

    @property
    def is_open(self) -> bool:
        return all(atom.is_open for atom in self.atoms)

    @property
    def key(self) -> int:
        """The key of the pattern in an index."""
        total = np.zeros(1, dtype=np.uint64)
        for position, token in enumerate(self.tokens()):
            keys = [atom.key for atom in token]
            total = total + hashing.place_keys(keys[0] if len(keys) == 1 else combine_keys(keys), position)
        return int(hashing.mix(total)[0])

    def tokens(self) -> Iterator[tuple[Atom, ...]]:
        """The atoms of each token: adjacent atoms of letters and digits are one token."""
        token: list[Atom] = []
        for atom in self.atoms:
            if token and not (atom.is_word and token[-1].is_word):
                yield tuple(token)
                token = []
            token.append(atom)
        if token:
            yield tuple(token)


def _encode_text(text: str) -> np.ndarray[tuple[int], np.dtype[np.uint32]]:
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)


def _escape_char(char: str) -> str:
    if char in _SPECIAL:
        return f"\\{char}"
    return char if ord(char) >= ord(" ") and char != "\x7f" else f"\\x{ord(char):02x}"
