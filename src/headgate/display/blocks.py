"""The content of a page as data: a headline, then notes, points, facts, commands and tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import StrEnum
from typing import TypeAlias

import msgspec

from headgate.display.text import clean, shorten, width_of

LONGEST = 800
"""The most characters of one sentence that are shown, so that a very long name does not hide the rest."""


class Tone(StrEnum):
    """How a text is coloured. The text itself always says the same without the colour."""

    GOOD = "good"
    BAD = "bad"
    UNSURE = "unsure"
    PLAIN = "plain"


class Note(msgspec.Struct, frozen=True):
    """A sentence or two; with `apart`, after an empty line."""

    words: str
    apart: bool = False

    def text(self) -> str:
        return shorten(self.words, LONGEST)


class Point(msgspec.Struct, frozen=True):
    """One item of a list, with details below it."""

    title: str
    details: tuple[str, ...] = ()
    mark: str = ""
    tone: Tone = Tone.PLAIN


class Points(msgspec.Struct, frozen=True):
    """A list of items, the most important first. `more` says how many are left out."""

    items: tuple[Point, ...]
    more: str = ""
    apart: bool = False

    def text(self) -> str:
        return "\n".join(self._point_lines())

    def _point_lines(self) -> Iterator[str]:
        for each in self.items:
            start = f"  {each.mark} " if each.mark else "  "
            yield start + shorten(each.title, LONGEST)
            yield from (" " * len(start) + shorten(detail, LONGEST) for detail in each.details)
        if self.more:
            yield f"  {self.more}"


class Fact(msgspec.Struct, frozen=True):
    """A label with its text."""

    label: str
    words: str


class Facts(msgspec.Struct, frozen=True):
    """Facts, one in each line."""

    items: tuple[Fact, ...]
    apart: bool = False

    def text(self) -> str:
        return "\n".join(f"  {each.label}: {shorten(each.words, 2 * LONGEST)}" for each in self.items)


class Command(msgspec.Struct, frozen=True):
    """A command to copy. A line that is too long may break between `code` and `rest`; `note` says what it is for."""

    code: str
    rest: str = ""
    note: str = ""

    @property
    def whole(self) -> str:
        return f"{self.code} {self.rest}".rstrip()


class Commands(msgspec.Struct, frozen=True):
    """Commands to copy, never cut. With `shell`, a note is printed below its command: not every shell has comments."""

    items: tuple[Command, ...]
    label: str = "Then"
    shell: bool = False
    apart: bool = False

    def text(self) -> str:
        start = f"  {self.label}: "
        lines = (line for each in self.items for line in self._command_lines(each))
        return start + f"\n{' ' * len(start)}".join(lines)

    def _command_lines(self, each: Command) -> Iterator[str]:
        if self.shell:
            yield each.whole
            if each.note:
                yield f"  {each.note}"
        else:
            yield each.whole + (f"   # {each.note}" if each.note else "")


class TableData(msgspec.Struct, frozen=True):
    """Headers, rows of text, and the indices of columns of numbers, which are aligned right."""

    headers: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    numeric: frozenset[int] = frozenset()

    def text(self, widest: int = 48, last: int = 120) -> str:
        """Aligned text, two spaces between columns. Cells longer than `widest` (`last` in the last column) are cut."""
        limits = [widest] * (len(self.headers) - 1) + [last]
        cells = [list(map(clean, row, limits)) for row in (self.headers, *self.rows)]
        widths = [max(map(width_of, column)) for column in zip(*cells, strict=True)]
        lines = [self._format_line(row, widths) for row in cells]
        rule = "  ".join("─" * width for width in widths)
        return "\n".join([lines[0], rule, *lines[1:]])

    def __str__(self) -> str:
        return self.text()

    def _format_line(self, cells: Sequence[str], widths: Sequence[int]) -> str:
        padded = []
        for index, (cell, width) in enumerate(zip(cells, widths, strict=True)):
            gap = " " * (width - width_of(cell))
            padded.append(gap + cell if index in self.numeric else cell + gap)
        return "  ".join(padded).rstrip()


class Mark(msgspec.Struct, frozen=True):
    """The tone of one row of a table, and a word that is added to its cell if the cell is only a symbol."""

    tone: Tone
    word: str = ""


class Grid(msgspec.Struct, frozen=True):
    """A table, with what a terminal and a notebook show in addition to its text.

    `marks`, one for each row, colour the cells of column `marked`. `pictures`, one for each row, form a column of
    block characters before column `pictured`, with the header `picture`. `beyond` are further rows. A table with
    `folded` is shown in notebooks only, folded under this text.
    """

    table: TableData
    caption: str = ""
    widest: int = 48
    last: int = 120
    marks: tuple[Mark, ...] = ()
    marked: int = 0
    pictures: tuple[str, ...] = ()
    pictured: int = 0
    picture: str = ""
    beyond: tuple[tuple[str, ...], ...] = ()
    folded: str = ""
    apart: bool = True

    def text(self) -> str:
        table = self.table.text(self.widest, self.last)
        return f"{shorten(self.caption, LONGEST)}\n{table}" if self.caption else table

    def draw_table(self) -> DrawnTable:
        """The table with its pictures and the words of its marks, for a terminal or a notebook."""
        table = self.table
        rows = [list(row) for row in (*table.rows, *self.beyond)]
        for row, mark in zip(rows, self.marks, strict=False):
            if mark.word and mark.word not in row[self.marked]:
                row[self.marked] = f"{row[self.marked]} {mark.word}"
        tones = tuple(mark.tone for mark in self.marks)
        if not any(self.pictures):
            return DrawnTable(TableData(table.headers, tuple(map(tuple, rows)), table.numeric), tones, self.marked)
        index = self.pictured
        for row, picture in zip(rows, self.pictures, strict=True):
            row.insert(index, picture)
        headers = (*table.headers[:index], self.picture, *table.headers[index:])
        numeric = frozenset(each + (each >= index) for each in table.numeric)
        drawn = TableData(headers, tuple(map(tuple, rows)), numeric)
        return DrawnTable(drawn, tones, self.marked + (self.marked >= index), index)


class DrawnTable(msgspec.Struct, frozen=True):
    """A table as it is drawn: `tones`, one for each row, colour column `marked`; column `pictured` holds pictures."""

    table: TableData
    tones: tuple[Tone, ...] = ()
    marked: int = 0
    pictured: int | None = None

    def tone_at(self, row: int, column: int) -> Tone:
        return self.tones[row] if column == self.marked and row < len(self.tones) else Tone.PLAIN


Block: TypeAlias = Note | Points | Facts | Commands | Grid


class PageData(msgspec.Struct, frozen=True):
    """A headline with its tone, then blocks. `status` is a word that is shown in colour before the headline.

    >>> page = PageData("2 of 3 files were read.", Tone.UNSURE, blocks=(Points((Point("c.csv is empty", mark="-"),)),))
    >>> print(page)
    2 of 3 files were read.
      - c.csv is empty
    """

    headline: str = ""
    tone: Tone = Tone.PLAIN
    status: str = ""
    blocks: tuple[Block, ...] = ()

    @property
    def title(self) -> str:
        """The headline without the status, if it begins with it."""
        return shorten(self.headline.removeprefix(f"{self.status}: "), LONGEST)

    def text(self) -> str:
        text = shorten(self.headline, LONGEST)
        for block in self.blocks:
            if isinstance(block, Grid) and block.folded:
                continue
            gap = "\n\n" if block.apart else "\n"
            text += (gap if text else "") + block.text()
        return text

    def __str__(self) -> str:
        return self.text()
