"""A page opened from a file, as a reader opens it, and everything that happens then."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from benchmarks.report.chromium import DESKTOP, PHONE
from benchmarks.report.look import SIGHT

__all__ = ["DESKTOP", "PHONE", "Visit", "Visitor", "Windows"]

# Closed parts are opened, so that everything is laid out; then everything is pointed at, as a curious reader would.
_OPEN = "() => document.querySelectorAll('details').forEach((each) => { each.open = true; })"
_TOUCH = """() => document.querySelectorAll("body *").forEach((each) => {
  for (const kind of ["mouseover", "mouseenter", "focus", "toggle", "load", "error", "animationstart", "begin"])
    each.dispatchEvent(new Event(kind, { bubbles: false }));
})"""
_ELEMENTS = """() => [...document.querySelectorAll("*")].map(
  (each) => [each.tagName.toLowerCase(), ...[...each.attributes].map((one) => one.name).sort()].join(" ")
)"""


class Visit:
    """What a page did while it was open."""

    def __init__(self, page: Any) -> None:
        self.page = page
        self.address = ""
        self.requests: list[str] = []
        self.dialogs: list[str] = []
        self.complaints: list[str] = []
        page.on("request", lambda request: self.requests.append(request.url))
        page.on("dialog", self._dismissed)
        page.on("console", lambda said: self.complaints.append(said.text) if said.type == "error" else None)
        page.on("pageerror", lambda error: self.complaints.append(str(error)))

    def _dismissed(self, dialog: Any) -> None:
        self.dialogs.append(dialog.message)
        dialog.dismiss()

    def open_all(self) -> None:
        self.page.evaluate(_OPEN)

    def touch_all(self) -> None:
        self.open_all()
        self.page.evaluate(_TOUCH)

    def sight(self) -> dict[str, Any]:
        return self.page.evaluate(SIGHT)

    def elements(self) -> list[str]:
        """Every element as its tag and the names of its attributes."""
        return self.page.evaluate(_ELEMENTS)

    def ask(self, script: str) -> Any:
        return self.page.evaluate(script)

    def ask_of(self, script: str, given: Any) -> Any:
        return self.page.evaluate(script, given)


class Windows:
    """The windows of a browser by what they are like."""

    def __init__(self, browser: Any) -> None:
        self._browser = browser
        self._known: dict[str, Any] = {}

    def of(self, **wanted: Any) -> Any:
        kind = repr(sorted(wanted.items()))
        if kind not in self._known:
            self._known[kind] = self._browser.new_context(**wanted)
        return self._known[kind]


class Visitor:
    """Opens pages, each from a file of its own. Windows of one kind are opened once for all tests."""

    def __init__(self, windows: Windows, folder: Path) -> None:
        self._windows = windows
        self._folder = folder
        self._tabs: list[Any] = []
        self._count = 0

    def __enter__(self) -> Visitor:
        return self

    def __exit__(self, *_: object) -> None:
        for each in self._tabs:
            each.close()

    def open(self, page: str | Path, size: dict[str, int] = DESKTOP, scheme: str = "light", **given: Any) -> Visit:
        """A page by its text or its file. On a phone it is laid out as a mobile browser does."""
        phone = size is PHONE
        tab = self._tab(viewport=size, color_scheme=scheme, is_mobile=phone, has_touch=phone, **given)
        return self._visited(Visit(tab), page)

    def each(self, pages: Iterable[str | Path]) -> Iterator[Visit]:
        """One page after the other in the same tab; a visit is over when the next begins."""
        tab = self._tab(viewport=DESKTOP)
        for page in pages:
            yield self._visited(Visit(tab), page)

    def _tab(self, **wanted: Any) -> Any:
        tab = self._windows.of(**wanted).new_page()
        self._tabs.append(tab)
        return tab

    def _visited(self, visit: Visit, page: str | Path) -> Visit:
        visit.address = self._file(page).as_uri()
        visit.page.goto(visit.address, wait_until="load")
        return visit

    def _file(self, page: str | Path) -> Path:
        if isinstance(page, Path):
            return page
        self._count += 1
        file = self._folder / f"page-{self._count}.html"
        file.write_text(page, encoding="utf-8", errors="replace")
        return file
