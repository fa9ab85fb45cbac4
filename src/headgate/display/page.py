"""The page of a result, which displays itself as plain text, in a terminal and in a notebook."""

from __future__ import annotations

from typing import Any

from headgate.display.blocks import PageData


class Page(PageData, frozen=True):
    """A headline and blocks, with the display hooks of terminals (rich) and notebooks."""

    def html(self) -> str:
        """A fragment of HTML for a notebook: without script, with inline styles only, all data escaped."""
        from headgate.display.html import render_html

        return render_html(self)

    def __rich__(self) -> Any:
        from headgate.display.terminal import render_rich

        return render_rich(self)

    def _repr_html_(self) -> str:
        return self.html()


class Paged:
    """Base of results that have a page: it gives them their text, terminal and notebook display."""

    __slots__ = ()

    def page(self) -> Page:
        """The page that displays this result."""
        raise NotImplementedError

    def __repr__(self) -> str:
        return self.page().text()

    def __str__(self) -> str:
        return repr(self)

    def __rich__(self) -> Any:
        return self.page().__rich__()

    def _repr_html_(self) -> str:
        return self.page().html()
