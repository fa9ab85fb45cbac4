"""A page as a fragment of HTML for notebooks, light or dark, with inline styles and all data escaped."""

from __future__ import annotations

import html

from headgate.display.blocks import (
    LONGEST,
    Block,
    Command,
    Commands,
    DrawnTable,
    Fact,
    Facts,
    Grid,
    Note,
    PageData,
    Point,
    Points,
    Tone,
)
from headgate.display.text import shorten

_CELL = 300  # characters of a cell that are shown
# colours of badges, which carry their own background: white on them reads on a light and on a dark page alike
_COLOURS = {Tone.GOOD: "#1a7f37", Tone.BAD: "#cf222e", Tone.UNSURE: "#9a6700", Tone.PLAIN: "#57606a"}
_LINE = "1px solid rgba(127,127,127,.4)"
_BADGE = "color:#fff;border-radius:3px;padding:0 .45em;font-weight:600;background:"
# most rows of a table are good, so their mark is the least prominent
_MARKS = {
    Tone.GOOD: "border:1px solid #1a7f37;border-radius:3px;padding:0 .4em",
    Tone.BAD: f"{_BADGE}{_COLOURS[Tone.BAD]}",
    Tone.UNSURE: f"{_BADGE}{_COLOURS[Tone.UNSURE]}",
}
_ROOT = "color:inherit;line-height:1.5;overflow-wrap:anywhere;padding:.1em 0 .1em .8em;border-left:4px solid "
_MONO = "font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,monospace"
_CODE = (
    f"{_MONO};background:rgba(127,127,127,.15);color:inherit;padding:.1em .4em;border-radius:3px;"
    "white-space:pre-wrap;user-select:all"
)
_TABLE = "border-collapse:collapse;margin:0;font-size:.93em;color:inherit;border:0"
_CAPTION = "text-align:left;color:inherit;font-weight:600;padding:.2em 0;caption-side:top"
_PADDED = "vertical-align:top;padding:.15em .9em .15em 0;background:transparent;border:0;max-width:60em"
_BOLD = "font-weight:600"


def render_html(page: PageData) -> str:
    """The whole page."""
    head = f'<div style="{_BOLD};font-size:1.1em">{_render_badge(page)}{html.escape(page.title)}</div>'
    body = "".join(_render_block(each) for each in page.blocks)
    edge = "rgba(127,127,127,.45)" if page.tone is Tone.PLAIN else _COLOURS[page.tone]
    # the base direction is fixed, so that a name in Arabic does not turn the sentence around
    return f'<div dir="ltr" style="{_ROOT}{edge}">{head if page.headline else ""}{body}</div>'


def table_html(grid: Grid) -> str:
    """One table, which scrolls inside its own box if it is too wide."""
    drawn = grid.draw_table()
    title = f'<caption style="{_CAPTION}">{_escape_text(grid.caption)}</caption>' if grid.caption else ""
    head = "".join(_render_cell(drawn, "th", at, cell) for at, cell in enumerate(drawn.table.headers))
    body = "".join(_render_row(drawn, row, cells) for row, cells in enumerate(drawn.table.rows))
    inner = f'<table style="{_TABLE}">{title}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'
    return f'<div style="overflow-x:auto;margin:.5em 0">{inner}</div>'


def _render_row(drawn: DrawnTable, row: int, cells: tuple[str, ...]) -> str:
    rendered = (_render_cell(drawn, "td", at, cell, drawn.tone_at(row, at)) for at, cell in enumerate(cells))
    return f"<tr>{''.join(rendered)}</tr>"


def _render_cell(drawn: DrawnTable, tag: str, column: int, cell: str, tone: Tone = Tone.PLAIN) -> str:
    number = column in drawn.table.numeric
    style = f"text-align:{'right' if number else 'left'};{_PADDED}"
    if tag == "th":
        style += f";border-bottom:{_LINE};font-weight:600;white-space:nowrap"
    elif column == drawn.pictured:
        style += f";{_MONO};white-space:pre;line-height:1.2;opacity:.7"
    elif number:
        style += ";font-variant-numeric:tabular-nums;white-space:nowrap"
    text = _escape_text(cell, _CELL)
    inner = text if tone is Tone.PLAIN or not cell else f'<span style="{_MARKS[tone]}">{text}</span>'
    return f'<{tag} style="{style}">{inner}</{tag}>'


def _render_badge(page: PageData) -> str:
    if not page.status:
        return ""
    return f'<span style="{_BADGE}{_COLOURS[page.tone]};margin-right:.5em">{_escape_text(page.status)}</span>'


def _render_block(block: Block) -> str:
    match block:
        case Note(words):
            return f'<div style="margin:.5em 0">{_escape_text(words)}</div>'
        case Points():
            return _render_points(block)
        case Facts(items):
            return f'<div style="margin:.5em 0">{"".join(map(_render_fact, items))}</div>'
        case Commands():
            return _render_commands(block)
        case Grid(folded="") as grid:
            return table_html(grid)
        case Grid(folded=words) as grid:
            opener = f'<summary style="cursor:pointer">{_escape_text(words)}</summary>'
            return f'<details style="margin:.5em 0">{opener}{table_html(grid)}</details>'


def _render_fact(fact: Fact) -> str:
    return (
        f'<div><span style="{_BOLD}">{_escape_text(fact.label)}:</span> {_escape_text(fact.words, 2 * LONGEST)}</div>'
    )


def _render_points(block: Points) -> str:
    more = f"<div>{_escape_text(block.more)}</div>" if block.more else ""
    return f'<div style="margin:.5em 0">{"".join(map(_render_point, block.items))}{more}</div>'


def _render_point(point: Point) -> str:
    mark = _escape_text(point.mark)
    if point.mark and point.tone is not Tone.PLAIN:
        mark = f'<span style="{_BADGE}{_COLOURS[point.tone]}">{mark.removesuffix(":")}</span>'
    start = f'<div style="flex:none;min-width:1.2em">{mark}</div>' if mark else ""
    details = "".join(f"<div>{_escape_text(detail)}</div>" for detail in point.details)
    inner = f'<div style="min-width:0"><div style="{_BOLD}">{_escape_text(point.title)}</div>{details}</div>'
    return f'<div style="display:flex;gap:.5em;margin:.3em 0">{start}{inner}</div>'


def _render_commands(block: Commands) -> str:
    lines = "".join(map(_render_command, block.items))
    return f'<div style="margin:.5em 0"><span style="{_BOLD}">{_escape_text(block.label)}:</span>{lines}</div>'


def _render_command(command: Command) -> str:
    note = f' <span style="opacity:.85">{_escape_text(command.note)}</span>' if command.note else ""
    return f'<div style="margin:.15em 0"><code style="{_CODE}">{html.escape(command.whole)}</code>{note}</div>'


def _escape_text(text: str, most: int = LONGEST) -> str:
    return html.escape(shorten(text, most))
