"""A small table that prints itself as aligned text, in a terminal and as HTML, with all data escaped."""

from __future__ import annotations

from typing import Any

from headgate.display.blocks import Grid, TableData


class Table(TableData, frozen=True):
    """A table with the display hooks of terminals (rich) and notebooks."""

    def html(self, caption: str = "") -> str:
        from headgate.display.html import table_html

        return table_html(Grid(self, caption))

    def __rich__(self) -> Any:
        from headgate.display.terminal import RichGrid

        return RichGrid(Grid(self))

    def _repr_html_(self) -> str:
        return self.html()
