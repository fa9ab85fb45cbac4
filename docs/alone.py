"""Fails when a page of the built site would load anything from elsewhere: `python -m docs.alone build/site`."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

ELSEWHERE = re.compile(r"\s*(?:https?:)?//", re.IGNORECASE)
IN_STYLES = re.compile(r"""(?:url\(|@import)\s*["']?\s*((?:https?:)?//[^"')\s]+)""", re.IGNORECASE)
LOADED = {"src", "srcset", "data", "poster", "action", "formaction", "background"}


class Loads(HTMLParser):
    """The addresses elsewhere that a browser would ask for by itself; a link that a reader may follow is none."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        for name, value in attributes:
            loads = name in LOADED or (name in {"href", "xlink:href"} and tag not in {"a", "area"})
            if loads and ELSEWHERE.match(value or ""):
                self.found.append(f"<{tag} {name}={value}>")
            elif name == "style":
                self.found += IN_STYLES.findall(value or "")


def loads_elsewhere(text: str) -> list[str]:
    """What a page loads from elsewhere.

    >>> loads_elsewhere('<a href="https://example.org">fine</a><img src="//example.org/x.png"><img src="x.png">')
    ['<img src=//example.org/x.png>']
    """
    page = Loads()
    page.feed(text)
    return [*page.found, *IN_STYLES.findall(text)]


def found_in(site: Path) -> Iterator[str]:
    for path in sorted(site.rglob("*")):
        if path.suffix == ".html":
            found = loads_elsewhere(path.read_text(encoding="utf-8"))
        elif path.suffix == ".css":
            found = IN_STYLES.findall(path.read_text(encoding="utf-8"))
        else:
            continue
        yield from (f"{path.relative_to(site)} loads {each}" for each in found)


def main(site: Path) -> int:
    if not (site / "index.html").exists():
        print(f"{site} has no index.html: build the site first, with `make site`.", file=sys.stderr)
        return 2
    found = list(found_in(site))
    print("\n".join(found) or f"{site}: no page loads anything from elsewhere")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
