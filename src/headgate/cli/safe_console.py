"""A console of rich on which no name of the data can move the cursor, colour the text or turn its direction.

Tested by `tests/attack/test_terminal.py`.
"""

from __future__ import annotations

from collections.abc import Iterable

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

from headgate.display.text import escape_controls


class SafeConsole(Console):
    """Escapes the text of everything that is drawn. Controls that rich itself makes, such as those of a bar, pass."""

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        for segment in super().render(renderable, options):
            yield segment if segment.control else Segment(escape_controls(segment.text), segment.style)
