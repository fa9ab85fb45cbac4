"""Texts from data made safe to print: one line, no control characters, limited length."""

from __future__ import annotations

import unicodedata


def escape_line(text: str) -> str:
    """The text as one line, with line breaks, control and bidirectional characters escaped.

    >>> escape_line("a\\x1b[2J\\nb")
    'a\\\\u001b[2J\\\\u000ab'
    """
    return "".join(char if char.isprintable() else f"\\u{ord(char):04x}" for char in text)


def escape_controls(text: str) -> str:
    """Like `escape_line`, but line breaks and tabs stay: for texts of several lines.

    >>> escape_controls("a\\x1b[2J\\nb")
    'a\\\\u001b[2J\\nb'
    """
    return "".join(char if char in "\n\t" else escape_line(char) for char in text)


def clean(text: str, most: int) -> str:
    """A text from data as one line of at most `most` characters, with control and bidirectional characters escaped.

    >>> clean("a\\x1b[2Jb", 20), clean("a long name", 6)
    ('a\\\\u001b[2Jb', 'a lon…')
    """
    escaped = escape_line(text[: most + 1])
    return escaped if len(escaped) <= most else escaped[: most - 1] + "…"


def shorten(text: str, most: int) -> str:
    """Like `clean`, but cut in the middle, because a sentence about a long name ends with the point.

    >>> shorten("a very long name is empty", 15)
    'a very lo…empty'
    """
    tail = most // 3
    cut = text if len(text) <= most else f"{text[: most - tail - 1]}…{text[-tail:]}"
    return clean(cut, 10 * most)  # an escaped character takes six or more


def width_of(text: str) -> int:
    """The width of a text in a terminal, in cells."""
    wide = sum(unicodedata.east_asian_width(char) in "WF" for char in text)
    return len(text) + wide - sum(bool(unicodedata.combining(char)) for char in text)
