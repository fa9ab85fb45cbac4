"""A small table that prints itself as aligned text and as HTML, with all data escaped."""

from __future__ import annotations

import html
import unicodedata
from collections.abc import Sequence

import msgspec


class Table(msgspec.Struct, frozen=True):
    """Headers, rows of text, and the columns that are numbers (aligned right)."""

    headers: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    numeric: frozenset[int] = frozenset()

    def text(self, widest: int = 48, last: int = 120) -> str:
        """Columns two spaces apart, cells longer than `widest` (in the last column `last`) cut with an ellipsis."""
        limits = [widest] * (len(self.headers) - 1) + [last]
        cells = [list(map(_shown, row, limits)) for row in (self.headers, *self.rows)]
        widths = [max(map(_width, column)) for column in zip(*cells, strict=True)]
        lines = [self._line(row, widths) for row in cells]
        rule = "  ".join("─" * width for width in widths)
        return "\n".join([lines[0], rule, *lines[1:]])

    def html(self, caption: str = "") -> str:
        def row(cells: Sequence[str], mark: str) -> str:
            inner = "".join(
                f'<{mark} style="text-align:{"right" if at in self.numeric else "left"}">{html.escape(cell)}</{mark}>'
                for at, cell in enumerate(cells)
            )
            return f"<tr>{inner}</tr>"

        body = "".join(row(cells, "td") for cells in self.rows)
        title = f"<caption>{html.escape(caption)}</caption>" if caption else ""
        return f"<table>{title}<thead>{row(self.headers, 'th')}</thead><tbody>{body}</tbody></table>"

    def _line(self, cells: Sequence[str], widths: Sequence[int]) -> str:
        padded = []
        for at, (cell, width) in enumerate(zip(cells, widths, strict=True)):
            gap = " " * (width - _width(cell))
            padded.append(gap + cell if at in self.numeric else cell + gap)
        return "  ".join(padded).rstrip()


def _shown(cell: str, widest: int) -> str:
    # a control character in a name must not move the reader's cursor
    clean = "".join(char if char.isprintable() else f"\\u{ord(char):04x}" for char in cell[: widest + 1])
    return clean if len(clean) <= widest else clean[: widest - 1] + "…"


def _width(text: str) -> int:
    wide = sum(unicodedata.east_asian_width(char) in "WF" for char in text)
    return len(text) + wide - sum(bool(unicodedata.combining(char)) for char in text)
