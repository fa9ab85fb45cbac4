"""Texts from data made fit to print: one line, no control characters, no longer than asked."""

from __future__ import annotations

import unicodedata


def clean(text: str, most: int) -> str:
    """A text from data as one line of at most `most` characters, without any that moves the cursor or turns the line.

    >>> clean("a\\x1b[2Jb", 20), clean("a long name", 6)
    ('a\\\\u001b[2Jb', 'a lon…')
    """
    seen = "".join(char if char.isprintable() else f"\\u{ord(char):04x}" for char in text[: most + 1])
    return seen if len(seen) <= most else seen[: most - 1] + "…"


def shorten(text: str, most: int) -> str:
    """The same, cut in its middle: what is said of a long name stands behind it.

    >>> shorten("a very long name is empty", 15)
    'a very lo…empty'
    """
    tail = most // 3
    kept = text if len(text) <= most else f"{text[: most - tail - 1]}…{text[-tail:]}"
    return clean(kept, 10 * most)  # a character may be spelled as six and more


def width_of(text: str) -> int:
    """How many places of a terminal a text takes."""
    wide = sum(unicodedata.east_asian_width(char) in "WF" for char in text)
    return len(text) + wide - sum(bool(unicodedata.combining(char)) for char in text)
