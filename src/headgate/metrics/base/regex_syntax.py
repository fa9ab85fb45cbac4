"""Reads a regular expression as a tree, for the analysis of what matching costs.

It reads RE2's syntax, which the folds match, and what Java's has beyond it, which Spark matches in predicates. A class
of characters is a set of bits: one for each ASCII character, and one for all others. It may be larger than what the
pattern means, never smaller.
"""

from __future__ import annotations

import re
import string
import unicodedata
from typing import NamedTuple, TypeAlias

from headgate.values.errors import BadPredicate

OTHER = 1 << 128  # the bit of all characters that are not ASCII
ANY = (1 << 129) - 1

_QUANTIFIER = re.compile(r"\{([0-9]+)(?:(,)([0-9]*))?\}")
_GROUP = re.compile(r"\((?:\?(?:P?<[A-Za-z_]\w*>|>|([a-zA-Z]*)(?:-[a-zA-Z]*)?([:)])))?")
_POSIX = re.compile(r"\[:\^?([a-z]+):\]")
_PROPERTY = re.compile(r"\\([pP])(?:\{(\^?)([^}]*)\}|([A-Za-z]))")
_CODE = re.compile(r"\\(?:x\{([0-9A-Fa-f]+)\}|x([0-9A-Fa-f]{2})|u([0-9A-Fa-f]{4})|0?([0-7]{3})|0([0-7]{1,2}))")
_CONTROLS = dict(zip("aefnrtv", "\a\x1b\f\n\r\t\v", strict=True))
_EDGES = "AbBzZG"  # escapes that match between characters
_DEEPEST = 100


def _mask(characters: str) -> int:
    return sum(1 << ord(char) for char in set(characters))


_DIGITS, _SPACES = _mask(string.digits), _mask(string.whitespace)
_LETTERS = _mask(string.ascii_letters)
_WORD = _LETTERS | _DIGITS | _mask("_")
_ESCAPED = {"d": _DIGITS, "s": _SPACES, "w": _WORD, "D": ANY & ~_DIGITS, "S": ANY & ~_SPACES, "W": ANY & ~_WORD}
_NAMED = {
    "alnum": _LETTERS | _DIGITS, "alpha": _LETTERS, "blank": _mask(" \t"), "digit": _DIGITS, "space": _SPACES,
    "lower": _mask(string.ascii_lowercase), "upper": _mask(string.ascii_uppercase), "word": _WORD,
    "punct": _mask(string.punctuation), "xdigit": _mask(string.hexdigits), "latin": _LETTERS,
}  # fmt: skip


class Chars(NamedTuple):
    """One character of a class."""

    mask: int
    span: tuple[int, int]


class Empty(NamedTuple):
    """No character: flags, or a condition on the place in the text. `anchors`: it holds only at the start."""

    span: tuple[int, int]
    condition: bool = True
    anchors: bool = False


class Sequence(NamedTuple):
    """One part after the other."""

    parts: tuple[Node, ...]
    span: tuple[int, int]


class Choice(NamedTuple):
    """One of several parts."""

    parts: tuple[Node, ...]
    span: tuple[int, int]


class Repeat(NamedTuple):
    """A part from `low` to `high` times; `high` is None for any number of times."""

    part: Node
    low: int
    high: int | None
    span: tuple[int, int]


Node: TypeAlias = Chars | Empty | Sequence | Choice | Repeat


def parse_regex(pattern: str, java: bool = False) -> Node:
    """The tree of a pattern. With `java`, what Java reads in another way than RE2 is refused."""
    return _Parser(pattern, java).parse()


def without_leading_any(pattern: str) -> str:
    """The pattern without `.*` at its beginning, which changes nothing: it is found wherever the rest is found.

    >>> without_leading_any(".*@.*"), without_leading_any("^.*@"), without_leading_any(".*a|b")
    ('@.*', '^.*@', '.*a|b')
    """
    match parse_regex(pattern):
        case Sequence((Repeat(Chars(mask), 0, None, (_, end)), *_)) if mask == ANY:
            return pattern[end:]
    return pattern


class _Parser:
    def __init__(self, pattern: str, java: bool) -> None:
        self.pattern = pattern
        self.java = java
        self.position = self.depth = 0
        flags = "".join(found[1] or "" for found in _GROUP.finditer(pattern))
        self.ignores_case, self.multiline = "i" in flags, "m" in flags
        self.unicode = java and "U" in flags
        if "x" in flags:
            raise self.refusal("the flag x", "Leave it out, with the spaces.")

    def parse(self) -> Node:
        tree = self.parse_choice()
        if self.position < len(self.pattern):
            raise self.refusal("a bracket without its partner", "Write \\) for the character.")
        return tree

    def refusal(self, what: str, hint: str) -> BadPredicate:
        return BadPredicate(f"{self.pattern!r}: {what} may not be used in a pattern.", hint=hint)

    def starts(self, text: str) -> bool:
        return self.pattern.startswith(text, self.position)

    def parse_choice(self) -> Node:
        start, parts = self.position, [self.parse_sequence()]
        while self.starts("|"):
            self.position += 1
            parts.append(self.parse_sequence())
        return parts[0] if len(parts) == 1 else Choice(tuple(parts), (start, self.position))

    def parse_sequence(self) -> Node:
        start, parts = self.position, []
        while self.position < len(self.pattern) and self.pattern[self.position] not in "|)":
            if self.starts(r"\Q"):
                parts += self.parse_quote()
            else:
                parts.append(self.parse_repeat())
        return Sequence(tuple(parts), (start, self.position))

    def parse_quote(self) -> list[Node]:
        start, end = self.position + 2, self.pattern.find(r"\E", self.position)
        end = len(self.pattern) if end < 0 else end
        self.position = min(len(self.pattern), end + 2)
        return [Chars(self.mask_of(self.pattern[at]), (at, at + 1)) for at in range(start, end)]

    def parse_repeat(self) -> Node:
        start = self.position
        node = self.parse_atom()
        while self.position < len(self.pattern):
            quantifier = _QUANTIFIER.match(self.pattern, self.position)
            if quantifier:
                low = int(quantifier[1])
                high = low if quantifier[2] is None else int(quantifier[3]) if quantifier[3] else None
                self.position = quantifier.end()
            elif self.pattern[self.position] in "*+?":
                low, high = {"*": (0, None), "+": (1, None), "?": (0, 1)}[self.pattern[self.position]]
                self.position += 1
            else:
                break
            if self.starts("?") or self.starts("+"):  # lazy or possessive: the same texts, tried in another order
                self.position += 1
            node = Repeat(node, low, high, (start, self.position))
        return node

    def parse_atom(self) -> Node:
        start, char = self.position, self.pattern[self.position]
        if char == "(":
            return self.parse_group()
        if char == "\\" and self.pattern[start + 1 : start + 2] in tuple(_EDGES):
            self.position += 2
            return Empty((start, self.position), anchors=self.pattern[start + 1] == "A")
        if char in "^$":
            self.position += 1
            return Empty((start, self.position), anchors=char == "^" and not self.multiline)
        mask = self.parse_class() if char == "[" else self.parse_escape() if char == "\\" else self.parse_plain()
        return Chars(mask, (start, self.position))

    def parse_group(self) -> Node:
        start, opened = self.position, _GROUP.match(self.pattern, self.position)
        assert opened is not None
        if opened[0] == "(" and self.starts("(?"):
            raise self.refusal("look-around", "It makes matching slow: write two patterns, or none of it.")
        self.position = opened.end()
        if opened[2] == ")":
            return Empty((start, self.position), condition=False)
        self.depth += 1
        if self.depth > _DEEPEST:
            raise self.refusal(f"more than {_DEEPEST} brackets in each other", "Write fewer.")
        inner = self.parse_choice()
        if not self.starts(")"):
            raise self.refusal("a bracket without its partner", "Write \\( for the character.")
        self.depth -= 1
        self.position += 1
        return inner._replace(span=(start, self.position))

    def parse_plain(self) -> int:
        char = self.pattern[self.position]
        self.position += 1
        return ANY if char == "." else self.mask_of(char)

    def mask_of(self, char: str) -> int:
        mask = _mask(char) if char.isascii() else OTHER
        return _fold_case(mask) if self.ignores_case else mask

    def parse_escape(self) -> int:
        code, named = (each.match(self.pattern, self.position) for each in (_CODE, _PROPERTY))
        if code:
            self.position = code.end()
            return self.mask_of_code(
                next(each for each in code.groups() if each), base=16 if any(code.groups()[:3]) else 8
            )
        if named:
            self.position = named.end()
            mask = _mask_of_property(named[3] if named[4] is None else named[4])
            negated = (named[1] == "P") != bool(named[2])
            return ANY & ~(mask & ~OTHER) if negated else mask
        char = self.pattern[self.position + 1 : self.position + 2]
        if char in "123456789kRX" or char == "":
            raise self.refusal(f"\\{char}", "Back-references and the like make matching slow: write out what is meant.")
        self.position += 3 if char == "c" else 2
        if char in _ESCAPED:
            return _ESCAPED[char] | (OTHER if self.unicode else 0)
        return self.mask_of(_CONTROLS.get(char, char)) if not char.isalpha() or char in "aefnrt" else ANY

    def mask_of_code(self, digits: str, base: int) -> int:
        number = int(digits, base)
        return self.mask_of(chr(number)) if number < 128 else OTHER

    def parse_class(self) -> int:
        self.position += 1
        negated = self.starts("^")
        self.position += negated
        ignores_case, self.ignores_case = self.ignores_case, False  # ranges are of the characters as they are written
        mask, first = 0, True
        while first or not self.starts("]"):
            if self.position >= len(self.pattern):
                raise self.refusal("a class without its end", "Write \\[ for the character.")
            mask |= self.parse_member()
            first = False
        self.position += 1
        self.ignores_case = ignores_case
        mask = _fold_case(mask) if ignores_case else mask
        return ANY & ~(mask & ~OTHER) if negated else mask

    def parse_member(self) -> int:
        posix = _POSIX.match(self.pattern, self.position)
        if posix and not self.java:
            self.position = posix.end()
            mask = _mask_of_property(posix[1])
            return ANY & ~(mask & ~OTHER) if posix[0][2] == "^" else mask
        if self.java and (self.starts("[") or self.starts("&&")):
            raise self.refusal("a class in a class", "Write \\[ and \\& for the characters.")
        mask = self.parse_escape() if self.starts("\\") else self.mask_of(self.parse_member_char())
        if not self.starts("-") or self.pattern[self.position + 1 : self.position + 2] in ("]", ""):
            return mask
        self.position += 1
        end = self.parse_escape() if self.starts("\\") else self.mask_of(self.parse_member_char())
        # all bits from the first of one end to the last of the other, also where an end is no single character
        return sum(1 << at for at in range((mask & -mask).bit_length() - 1, end.bit_length())) | mask | end

    def parse_member_char(self) -> str:
        self.position += 1
        return self.pattern[self.position - 1]


def _fold_case(mask: int) -> int:
    """The characters with their partners in the other case."""
    letters = mask & _LETTERS
    swapped = sum(1 << (at ^ 32) for at in range(128) if letters >> at & 1)
    partners = _mask("kKsS")  # two letters have partners that are not ASCII
    return mask | swapped | (OTHER if mask & partners else 0) | (partners if mask & OTHER else 0)


def _mask_of_property(name: str) -> int:
    """The characters of a POSIX class, a general category or a script; all of them if its name is not known."""
    plain = name.removeprefix("Is").removeprefix("In").lower()
    if plain in _NAMED:
        return _NAMED[plain] | OTHER
    if len(name) <= 2 and name[:1] in "LMNPSZC":
        return sum(1 << at for at in range(128) if unicodedata.category(chr(at)).startswith(name)) | OTHER
    return ANY
