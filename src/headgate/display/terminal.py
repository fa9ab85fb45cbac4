"""A page in a terminal, drawn by rich. Colours only emphasise what the text says, and data are never read as markup."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich import box
from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.padding import Padding
from rich.table import Table as RichTable
from rich.text import Text

from headgate.display.blocks import LONGEST, Block, Command, Commands, Facts, Grid, Note, PageData, Points, Tone
from headgate.display.text import shorten

_CELL = 300  # characters of a cell that are shown
_STYLES = {Tone.GOOD: "bold green", Tone.BAD: "bold red", Tone.UNSURE: "bold yellow", Tone.PLAIN: ""}
_BADGES = {
    Tone.GOOD: "bold black on green",
    Tone.BAD: "bold white on red",
    Tone.UNSURE: "bold black on yellow",
    Tone.PLAIN: "bold reverse",
}
_LEAST = 18  # the least width of a column of text
_GAP = 2  # spaces between columns
_APART = 3  # spaces between pairs of a paragraph


def render_rich(page: PageData) -> RenderableType:
    """The page, with an empty line between its blocks."""
    return Group(*_render_parts(page))


def _render_parts(page: PageData) -> Iterator[RenderableType]:
    if page.headline:
        yield _render_headline(page)
    for index, block in enumerate(page.blocks):
        if isinstance(block, Grid) and block.folded:
            continue
        follows = isinstance(block, Note) and not block.apart  # such a note belongs to the block before it
        if (index or page.headline) and not follows:
            yield Text("")
        yield _render_block(block)


def _render_headline(page: PageData) -> Text:
    badge = Text(f" {shorten(page.status, LONGEST)} ", _BADGES[page.tone]) if page.status else Text("")
    style = "bold" if page.status else _STYLES[page.tone] or "bold"
    return Text.assemble(badge, " " if page.status else "", (page.title, style), overflow="fold")


def _render_block(block: Block) -> RenderableType:
    match block:
        case Note(words):
            return _format_text(words)
        case Points():
            return _render_points(block)
        case Facts(items):
            grid = _make_pair_grid()
            for fact in items:
                grid.add_row(Text(f"{fact.label}:", "bold"), _format_text(fact.words, most=2 * LONGEST))
            return _add_indent(grid)
        case Commands():
            return RichCommands(block)
        case Grid():
            return RichGrid(block)


def _render_points(block: Points) -> RenderableType:
    grid = _make_pair_grid()
    if not any(each.mark for each in block.items):
        return _add_indent(Group(*(_format_text(each.title) for each in block.items)))
    for point in block.items:
        details = Text("\n").join(_format_text(detail) for detail in point.details)
        inner = [_format_text(point.title, "bold"), *([details] if point.details else [])]
        grid.add_row(Text(point.mark, _STYLES[point.tone] or "bold"), Group(*inner))
    more = [Text(block.more)] if block.more else []
    return _add_indent(Group(grid, *more))


def _make_pair_grid() -> RichTable:
    grid = RichTable.grid(padding=(0, 1, 0, 0))
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold")
    return grid


def _add_indent(inner: RenderableType, by: int = 2) -> Padding:
    return Padding(inner, (0, 0, 0, by), expand=False)


def _format_text(text: str, style: str = "", most: int = LONGEST) -> Text:
    return Text(shorten(text, most), style, overflow="fold")


class RichCommands:
    """Commands that can be copied at any width: one that is too long continues on the next line as its shell allows."""

    def __init__(self, block: Commands) -> None:
        self._block = block

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        # indented by hand: rich's padding fills the line, and a space after a backslash breaks a copied command
        yield Text(f"  {self._block.label}:", "bold")
        for command in self._block.items:
            for line in self._wrap_command(command, options.max_width - 4):
                yield Text(f"    {line}", "cyan", overflow="fold")
            if command.note:
                yield _add_indent(_format_text(command.note), 6)

    def _wrap_command(self, command: Command, width: int) -> list[str]:
        if cell_len(command.whole) <= width or not command.rest:
            return [command.whole]
        return [command.code + (" \\" if self._block.shell else ""), f"    {command.rest}"]


class RichGrid:
    """A table; if it is too wide for the terminal, each row becomes a short paragraph."""

    def __init__(self, grid: Grid) -> None:
        self._caption = grid.caption
        self._drawn = grid.draw_table()

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        if self._caption:
            yield _format_text(self._caption, "bold")
        if self._least_width() <= options.max_width:
            yield self._build_table()
        else:
            yield from self._render_paragraphs(options.max_width)

    def _least_width(self) -> int:
        """The width below which the columns are unreadable."""
        table = self._drawn.table
        widths = [
            max(cell_len(shorten(cell, _CELL)) for cell in column) for column in zip(*self._all_cells(), strict=True)
        ]
        unwrapped = {*table.numeric, self._drawn.pictured}
        return sum(
            width if index in unwrapped else min(width, _LEAST) for index, width in enumerate(widths)
        ) + _GAP * len(widths)

    def _all_cells(self) -> list[tuple[str, ...]]:
        return [self._drawn.table.headers, *self._drawn.table.rows]

    def _build_table(self) -> RichTable:
        table = self._drawn.table
        drawn = RichTable(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0))
        for index, header in enumerate(table.headers):
            unwrapped = index in table.numeric or index == self._drawn.pictured
            side = "right" if index in table.numeric else "left"
            drawn.add_column(_format_text(header, "bold"), justify=side, no_wrap=unwrapped, overflow="fold")  # type: ignore[arg-type]
        for row, cells in enumerate(table.rows):
            drawn.add_row(*(self._render_cell(row, index, cell) for index, cell in enumerate(cells)))
        return drawn

    def _render_cell(self, row: int, column: int, cell: str) -> Text:
        return _format_text(cell, _STYLES[self._drawn.tone_at(row, column)], _CELL)

    def _render_paragraphs(self, width: int) -> Iterator[RenderableType]:
        headers = self._drawn.table.headers
        named = 1 if headers[0] or len(headers) < 2 else 2  # a symbol alone does not name the row
        for row, cells in enumerate(self._drawn.table.rows):
            title = Text(" ").join(self._render_cell(row, index, cell) for index, cell in enumerate(cells[:named]))
            title.stylize("bold")
            bare = 0 not in self._drawn.table.numeric  # a number needs its header
            yield title if bare else self._render_pair(row, 0, cells[0])
            pairs = [
                self._render_pair(row, index, cells[index])
                for index in range(named, len(cells))
                if cells[index].strip()
            ]
            yield from (_add_indent(line) for line in _pack_pairs(pairs, width - 2))

    def _render_pair(self, row: int, column: int, cell: str) -> Text:
        name = shorten(self._drawn.table.headers[column], _CELL)
        return Text.assemble(
            (f"{name} " if name else "", "cyan"), self._render_cell(row, column, cell), overflow="fold"
        )


def _pack_pairs(pairs: Sequence[Text], width: int) -> Iterator[Text]:
    """Pairs packed into lines of at most `width`; a value stays on one line with its name."""
    line = Text(overflow="fold")
    for pair in pairs:
        if line and line.cell_len + _APART + pair.cell_len > width:
            yield line
            line = Text(overflow="fold")
        line = Text.assemble(line, " " * _APART if line else "", pair, overflow="fold")
    if line:
        yield line
