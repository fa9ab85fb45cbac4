"""Translates regular expressions of RE2 to Java's, so that Spark's RLIKE matches what the folds matched."""

from __future__ import annotations

import re

from headgate.metrics.base.regex_syntax import without_leading_any

_FLAGS = re.compile(r"\(\?([a-zA-Z]+)[-:)]")
_QUANTIFIER = re.compile(r"\{[0-9]+(,[0-9]*)?\}")
_CODE = re.compile(r"\\x\{[0-9A-Fa-f]+\}")
_OCTAL = re.compile(r"\\([0-7]{3})")
_POSIX = re.compile(r"\[:(\^?)([a-z]+):\]")
_PROPERTY = re.compile(r"\\([pP])\{(\^?)([A-Za-z_]+)\}")
_SPACES = r"\t\n\f\r "
_POSIX_NAMES = {
    "alnum": "Alnum", "alpha": "Alpha", "ascii": "ASCII", "blank": "Blank", "cntrl": "Cntrl", "digit": "Digit",
    "graph": "Graph", "lower": "Lower", "print": "Print", "punct": "Punct", "space": "Space", "upper": "Upper",
    "xdigit": "XDigit",
}  # fmt: skip


def java_regex(pattern: str) -> str:
    r"""The pattern for Java: only \n ends a line for `.` and `^`, `$` is the end of the text, and classes do not nest.

    >>> java_regex("^a.c$"), java_regex(r"^[$[]\s(?i:x)$")
    ('(?d)^a.c\\z', '(?du)^[$\\[][\\t\\n\\f\\r ](?i:x)\\z')
    """
    pattern = without_leading_any(pattern)
    flags = "".join(_FLAGS.findall(pattern))
    return f"(?d{'u' * ('i' in flags)})" + _Translator(pattern, multiline="m" in flags).translate()


class _Translator:
    """Reads a pattern from left to right, a piece at a time."""

    def __init__(self, pattern: str, multiline: bool) -> None:
        self.pattern = pattern
        self.multiline = multiline
        self.position = 0

    def translate(self) -> str:
        pieces = []
        while self.position < len(self.pattern):
            pieces.append(self.translate_piece())
        return "".join(pieces)

    def translate_piece(self) -> str:
        char = self.pattern[self.position]
        if char == "\\":
            return self.translate_escape(inside=False)
        if char == "[":
            return self.translate_class()
        if char == "{":
            quantifier = _QUANTIFIER.match(self.pattern, self.position)
            return self.take(len(quantifier[0])) if quantifier else "\\" + self.take(1)
        if self.pattern.startswith("(?P<", self.position):
            self.position += 4
            return "(?<"
        self.position += 1
        return r"\z" if char == "$" and not self.multiline else char

    def take(self, count: int) -> str:
        taken = self.pattern[self.position : self.position + count]
        self.position += count
        return taken

    def translate_escape(self, inside: bool) -> str:
        if self.pattern.startswith(r"\Q", self.position):
            end = self.pattern.find(r"\E", self.position)
            return self.take(len(self.pattern) if end < 0 else end + 2 - self.position)
        code = _CODE.match(self.pattern, self.position)
        if code:
            return self.take(len(code[0]))
        octal, named = _OCTAL.match(self.pattern, self.position), _PROPERTY.match(self.pattern, self.position)
        if octal:
            self.position += 4
            return rf"\0{octal[1]}"
        if named:
            self.position += len(named[0])
            return _translate_property(named[1], bool(named[2]), named[3])
        two = self.take(2)
        if two == r"\v":
            return r"\x0B"
        if two == r"\s":
            return _SPACES if inside else f"[{_SPACES}]"
        return rf"[^{_SPACES}]" if two == r"\S" else two

    def translate_class(self) -> str:
        pieces = [self.take(2 if self.pattern.startswith("[^", self.position) else 1)]
        if self.pattern.startswith("]", self.position):  # a bracket in first position is a member
            pieces.append("\\" + self.take(1))
        while self.position < len(self.pattern) and self.pattern[self.position] != "]":
            pieces.append(self.translate_member())
        return "".join([*pieces, self.take(1)])

    def translate_member(self) -> str:
        char = self.pattern[self.position]
        posix = _POSIX.match(self.pattern, self.position)
        if posix:
            self.position += len(posix[0])
            return _translate_posix(bool(posix[1]), posix[2])
        if char == "\\":
            return self.translate_escape(inside=True)
        # in Java a bracket begins a class in a class, and && is an intersection
        return ("\\" if char in "[&" else "") + self.take(1)


def _translate_posix(negated: bool, name: str) -> str:
    if name == "word":
        return r"\W" if negated else r"\w"
    return rf"\{'P' if negated else 'p'}{{{_POSIX_NAMES.get(name, name)}}}"


def _translate_property(letter: str, negated: bool, name: str) -> str:
    """A Unicode property for Java: a general category keeps its name, a script gets the prefix Is."""
    opposite = {"p": "P", "P": "p"}[letter] if negated else letter
    return rf"\{opposite}{{{name if len(name) <= 2 else f'Is{name}'}}}"
