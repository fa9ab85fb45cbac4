"""What a browser and a terminal see of a result, and names that would like to be more than text."""

from __future__ import annotations

import io
import re
from html.parser import HTMLParser
from typing import Any

from rich.cells import cell_len
from rich.console import Console

TAGS = frozenset({"div", "span", "table", "caption", "thead", "tbody", "tr", "th", "td", "details", "summary", "code"})
STYLE = re.compile(r"[a-z-]+:[^;:<>\"\\]+(;[a-z-]+:[^;:<>\"\\]+)*")
HOSTILE = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "</td></table></div><b>",
    "[red]x[/red] [link=http://x]y[/link] [/] [bold",
    ":smile: **b** `c`",
    "a\x1b[31mb\x1b]0;t\x07c\rd\ne\tf\x00g",
    "\u202eright to left\u202c \u2066x",
    "שלום עולם مرحبا",
    "x" * 5_000,
    "中文 \N{GRINNING FACE} e\u0301",
    "&lt;b&gt; &amp; {{ 7*7 }} {% x %}",
    "javascript:alert(1)",
)


class Seen(HTMLParser):
    """The tags, styles and text that a browser would see; any attribute but `style` and `dir` is refused."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[str] = []
        self.styles: list[str] = []
        self.said: list[str] = []
        self.open: list[str] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.open.append(tag)
        assert tag in TAGS, tag
        for name, value in attrs:
            assert (name, value) == ("dir", "ltr") or name == "style"
            if name == "style":
                assert value is not None
                assert STYLE.fullmatch(value), value
                assert "url" not in value
                self.styles.append(value)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.said.append(data)

    def handle_comment(self, data: str) -> None:
        raise AssertionError(f"a comment: {data}")

    @property
    def text(self) -> str:
        return " ".join(self.said)


def terminal(result: Any, width: int = 100, *, colours: bool = False) -> str:
    """What a terminal shows; with its escape sequences if it has colours."""
    screen = io.StringIO()
    system = "truecolor" if colours else None
    Console(file=screen, width=width, force_terminal=colours, color_system=system).print(result)  # type: ignore[arg-type]
    return screen.getvalue()


def coloured(result: Any, width: int = 150) -> set[tuple[str, str]]:
    """The words of a terminal that have a colour or are bold, with its code."""
    found = re.findall(r"\x1b\[([\d;]+)m([^\x1b]*)\x1b\[0m", terminal(result, width, colours=True))
    return {(code, words.strip()) for code, words in found}


def assert_harmless(result: Any) -> None:
    """Whatever the data say, a browser sees only text and known tags, a terminal no character that moves its cursor."""
    html = result._repr_html_()
    assert all(char.isprintable() for char in html)
    Seen(html)
    assert all(char.isprintable() for char in str(result).replace("\n", ""))
    for width in (60, 100, 200):
        lines = terminal(result, width).split("\n")
        assert all(char.isprintable() for line in lines for char in line)
        assert max(map(cell_len, lines)) <= width
