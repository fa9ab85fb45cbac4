"""The pages hold together: each is on the site, every link leads somewhere, and what a page names is there."""

from __future__ import annotations

import importlib
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

import headgate
from docs import alone, api
from tests.readme import FENCE, PLACES, pages

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
OF_ROOT = ("CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md")
PAGES = sorted({*(page for place in PLACES for page in ROOT.glob(place)), *(ROOT / name for name in OF_ROOT)})

TREE = re.compile(r"^```\{toctree\}\n(?P<inside>.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"(?<!\\)\]\((?P<target>[^)\s]+)\)")
CODE = re.compile(r"(`+)[^`].*?\1")
HEADING = re.compile(r"^#{1,6} +(?P<title>.+?) *$", re.MULTILINE)
PUBLIC = re.compile(r"\bhg\.(?P<name>[A-Za-z_]\w*)")
MODULE = re.compile(r"\b(?:from|import) (?P<module>headgate(?:\.\w+)+)(?: import (?P<names>\w+(?:, \w+)*))?")
FILE = re.compile(r"`(?P<path>(?:src|tests|benchmarks|examples|docs|release)/[\w./-]+\.\w+)`")
TARGET = re.compile(r"(?:`|^)make (?P<target>[a-z-]+)", re.MULTILINE)
MADE_UP = {"UpperShare"}  # the metric that how-it-works.md shows how to add


def named(page: Path) -> str:
    return str(page.relative_to(ROOT))


each_page = pytest.mark.parametrize("page", PAGES, ids=named)


def prose(page: Path) -> str:
    """The text of a page without its fenced blocks."""
    kept, ticks = [], ""
    for line in page.read_text(encoding="utf-8").splitlines():
        fence = FENCE.match(line)
        if fence and not ticks:
            ticks = fence["ticks"]
        elif fence and fence["ticks"] == ticks and not fence["info"].strip():
            ticks = ""
        elif not ticks:
            kept.append(line)
    return "\n".join(kept)


def anchors(page: Path) -> set[str]:
    """How GitHub and the site call the headings of a page."""
    titles = (re.sub(r"[`*]|\]\([^)]*\)|\[", "", found["title"]) for found in HEADING.finditer(prose(page)))
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def entries() -> list[str]:
    """What the trees of the landing page name."""
    blocks = TREE.findall((DOCS / "index.md").read_text(encoding="utf-8"))
    lines = (line.strip() for block in blocks for line in block.splitlines())
    return [re.sub(r"^.* <(.+)>$", r"\1", line) for line in lines if line and not line.startswith(":")]


def test_every_page_is_on_the_site_once() -> None:
    decisions = [f"decisions/{page.stem}" for page in (DOCS / "decisions").glob("0*.md")]  # listed by their own page
    on_the_site = Counter(["index", *decisions, *entries()])
    there = Counter(str(page.relative_to(DOCS).with_suffix("")) for page in DOCS.rglob("*.md"))
    assert on_the_site == there, "add the page to a toctree of docs/index.md"


def broken_links(page: Path) -> Iterator[str]:
    for found in LINK.finditer(CODE.sub("", prose(page))):
        target, _, anchor = found["target"].partition("#")
        if re.match(r"[a-z]+:", target):
            continue
        place = (page.parent / target).resolve() if target else page
        if not place.exists() or (anchor and anchor not in anchors(place)):
            yield found["target"]


@each_page
def test_every_link_of_a_page_leads_somewhere(page: Path) -> None:
    assert list(broken_links(page)) == []


def test_a_link_to_nowhere_is_seen(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("# A `b` c\n[x](#a-b-c) [y](no.md) [z](#no) [w](page.md#a-b-c)\n```\n[v](no.md)\n```\n", "utf-8")
    assert list(broken_links(page)) == ["no.md", "#no"]


@each_page
def test_a_page_names_only_public_names_that_are_there(page: Path) -> None:
    said = {found["name"] for found in PUBLIC.finditer(page.read_text(encoding="utf-8"))}
    assert {name for name in said - MADE_UP if not hasattr(headgate, name)} == set()


@each_page
def test_a_page_imports_only_what_is_there(page: Path) -> None:
    for found in MODULE.finditer(page.read_text(encoding="utf-8")):
        module = importlib.import_module(found["module"])
        names = (found["names"] or "").split(", ")
        assert [name for name in names if name and not hasattr(module, name)] == []


@each_page
def test_a_page_names_only_files_that_are_there(page: Path) -> None:
    said = {found["path"] for found in FILE.finditer(page.read_text(encoding="utf-8"))}
    assert {path for path in said if not (ROOT / path).exists()} == set()


@each_page
def test_a_page_names_only_commands_of_the_makefile(page: Path) -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    said = {found["target"] for found in TARGET.finditer(page.read_text(encoding="utf-8"))}
    assert said - targets == set()


@each_page
def test_a_block_that_is_not_run_says_why(page: Path) -> None:
    infos = [found["info"] for line in page.read_text(encoding="utf-8").splitlines() if (found := FENCE.match(line))]
    assert [info for info in infos if "no-run" in info and not re.search(r"no-run \(.{5,}\)$", info)] == []


def test_pages_with_python_are_found_by_themselves() -> None:
    found = {named(page) for page in pages()}
    assert found >= {"README.md", "docs/gate.md", "docs/methods/series.md", "docs/guides/spark-job.md"}


def test_the_reference_has_every_public_name_once() -> None:
    page = (DOCS / "reference" / "python.md").read_text(encoding="utf-8")
    shown = Counter(name for room in api.rooms_of(page) for name in api.names_in([room]))
    assert shown == Counter(headgate._HOME.keys()), "name the room of a new public name in docs/reference/python.md"


def test_a_docstring_is_shown_as_it_is_written() -> None:
    assert api.readable(["The `mean` of |x|, `key`s."]) == [r"The ``mean`` of \|x\|, ``key``\ s."]
    assert api.readable([">>> a * b_", "2"]) == [">>> a * b_", "2"]


@pytest.mark.parametrize(
    ("text", "loads"),
    [
        ('<a href="https://example.org">a link</a>', False),
        ('<script src="https://example.org/x.js"></script>', True),
        ('<link rel="stylesheet" href="//example.org/x.css">', True),
        ('<img src="x.png" srcset="https://example.org/x.png 2x">', True),
        ("<style>@import 'https://example.org/x.css';</style>", True),
        ('<p style="background: url(https://example.org/x.png)">', True),
        ('<link rel="stylesheet" href="_static/x.css"><img src="x.png">', False),
    ],
)
def test_what_a_page_of_the_site_loads_from_elsewhere_is_seen(text: str, loads: bool) -> None:
    assert bool(alone.loads_elsewhere(text)) is loads
