"""A small table that prints itself as aligned text, in a terminal and as HTML, with all data escaped."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from typing import Any

import msgspec


class Table(msgspec.Struct, frozen=True):
    """Headers, rows of text, and the columns that are numbers (aligned right)."""

    headers: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    numeric: frozenset[int] = frozenset()

    def text(self, widest: int = 48, last: int = 120) -> str:
        """Columns two spaces apart, cells longer than `widest` (in the last column `last`) cut with an ellipsis."""
        limits = [widest] * (len(self.headers) - 1) + [last]
        cells = [list(map(clean, row, limits)) for row in (self.headers, *self.rows)]
        widths = [max(map(width_of, column)) for column in zip(*cells, strict=True)]
        lines = [self._line(row, widths) for row in cells]
        rule = "  ".join("─" * width for width in widths)
        return "\n".join([lines[0], rule, *lines[1:]])

    def html(self, caption: str = "") -> str:
        from headgate.values.page import Grid
        from headgate.values.page_html import table_html

        return table_html(Grid(self, caption))

    def __str__(self) -> str:
        return self.text()

    def __rich__(self) -> Any:
        from headgate.values.page import Grid
        from headgate.values.page_rich import RichGrid

        return RichGrid(Grid(self))

    def _repr_html_(self) -> str:
        return self.html()

    def _line(self, cells: Sequence[str], widths: Sequence[int]) -> str:
        padded = []
        for at, (cell, width) in enumerate(zip(cells, widths, strict=True)):
            gap = " " * (width - width_of(cell))
            padded.append(gap + cell if at in self.numeric else cell + gap)
        return "  ".join(padded).rstrip()


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
