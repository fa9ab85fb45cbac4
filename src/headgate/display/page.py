"""The page of a result, shown everywhere: as plain text, in a terminal and in a notebook."""

from __future__ import annotations

from typing import Any

from headgate.display.blocks import PageData


class Page(PageData, frozen=True):
    """A headline and blocks that a terminal and a notebook draw by themselves."""

    def html(self) -> str:
        """A fragment for a notebook: no script, no style of its own beside that of its elements, all data escaped."""
        from headgate.display.html import render_html

        return render_html(self)

    def __rich__(self) -> Any:
        from headgate.display.terminal import render_rich

        return render_rich(self)

    def _repr_html_(self) -> str:
        return self.html()


class Paged:
    """What says its page, and thereby shows itself everywhere."""

    __slots__ = ()

    def page(self) -> Page:
        """What it shows of itself."""
        raise NotImplementedError

    def __repr__(self) -> str:
        return self.page().text()

    def __str__(self) -> str:
        return repr(self)

    def __rich__(self) -> Any:
        return self.page().__rich__()

    def _repr_html_(self) -> str:
        return self.page().html()
