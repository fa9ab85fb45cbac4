"""The language of patterns: atoms in a row, which print as in the paper and compile to one regular expression."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from enum import IntEnum

import msgspec
import numpy as np

from headgate.learn.patterns import hashing
from headgate.learn.patterns.alphabet import LETTERS_BEYOND, PHRASE_SYMBOLS, SYMBOL, classify_codes
from headgate.learn.patterns.hashing import Keys
from headgate.learn.patterns.lexer import MOST_GROUPS

LANGUAGE = 1
"""The form of patterns and of their keys: an index of another form answers no question of this one."""


class AtomKind(IntEnum):
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
    AtomKind.DIGIT: "[0-9]",
    AtomKind.UPPER: "[A-Z]",
    AtomKind.LOWER: "[a-z]",
    AtomKind.LETTER: f"[{_LETTER}]",
    AtomKind.ALPHANUM: f"[0-9{_LETTER}]",
    AtomKind.SYMBOL: f"[^0-9{_LETTER}]",
}
_HOST = r"[0-9A-Za-z.:@_~%-]+"
_WHOLE = {
    AtomKind.NUM: rf"[+-]?[0-9](?:[0-9]*|[0-9]{{0,2}}(?:,[0-9]{{3}}){{1,{MOST_GROUPS}}})(?:\.[0-9]+)?",
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
    """A constant, or a class of characters: `count` of them, or one and more where it is 0."""

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
        """Whether it stands for letters and digits alone."""
        if self.kind is AtomKind.CONST:
            return bool((classify_codes(_encode_text(self.text)) != SYMBOL).all())
        return self.kind in _WORDS

    @property
    def is_open(self) -> bool:
        """Whether it says nothing of a value but its shape: no constant letter or digit."""
        return self.kind is not AtomKind.CONST or bool((classify_codes(_encode_text(self.text)) == SYMBOL).all())

    @property
    def key(self) -> Keys:
        if self.kind is AtomKind.CONST:
            codes = _encode_text(self.text)
            return const_keys(hashing.hash_texts(codes, np.zeros(1, dtype=np.int64), np.array([len(codes)])))
        return class_keys(self.kind, np.array([self.count], dtype=np.uint64))


def class_keys(kind: AtomKind, counts: Keys) -> Keys:
    """The keys of a class with these counts of characters."""
    return hashing.mix(np.uint64(int(kind) << 32) + counts)


def const_keys(texts: Keys) -> Keys:
    """The keys of constants, from the keys of their texts."""
    return hashing.mix(texts)


def combine_keys(parts: Sequence[Keys]) -> Keys:
    """The keys of tokens of several runs, from those of their parts."""
    together = hashing.place_keys(parts[0], 1)
    for at, part in enumerate(parts[1:], start=2):
        together = together + hashing.place_keys(part, at)
    return hashing.mix(~together)


class Pattern(msgspec.Struct, frozen=True):
    """Atoms that follow one another; the whole of a value must match.

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
            total = total + hashing.place_keys(keys[0] if len(keys) == 1 else combine_keys(keys), place)
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


def _encode_text(text: str) -> np.ndarray[tuple[int], np.dtype[np.uint32]]:
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)


def _escape_char(char: str) -> str:
    if char in _SPECIAL:
        return f"\\{char}"
    return char if ord(char) >= ord(" ") and char != "\x7f" else f"\\x{ord(char):02x}"
