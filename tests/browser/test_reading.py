"""A page for the keyboard and for a screen reader: every part is reached, named, and in order."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest

from benchmarks.report.look import FOCUSED
from tests.browser.scenes import KINDS, scene
from tests.browser.visit import PHONE, Visit, Visitor

_CAN_BE_USED = "a[href], button:not([hidden]), summary, input, [tabindex='0']"
_NAMED_CHARTS = """() => [...document.querySelectorAll("svg")].map((each) => [
    each.getAttribute("role"), each.getAttribute("aria-label") || "", each.getAttribute("aria-hidden") === "true"
])"""
_HEADINGS = """() => [...document.querySelectorAll("h1, h2, h3, h4, h5, h6")].map((each) => Number(each.tagName[1]))"""
_TABLES = """() => [...document.querySelectorAll("table")].map((each) => ({
    heads: [...each.querySelectorAll("thead th")].filter((one) => one.scope === "col").length,
    columns: Math.max(...[...each.rows].map((row) => row.cells.length)),
    bare: [...each.querySelectorAll("tbody th")].filter((one) => one.scope !== "row").length,
}))"""


def _stops(visit: Visit) -> list[dict[str, Any]]:
    """Where the Tab key leads, until it has led there before."""
    found: dict[str, dict[str, Any]] = {}
    for _ in range(400):
        visit.page.keyboard.press("Tab")
        at = visit.ask(FOCUSED)
        if at is None or at["id"] in found:
            break
        found[at["id"]] = at
    return list(found.values())


def _usable(visit: Visit) -> int:
    return visit.page.locator(_CAN_BE_USED).locator("visible=true").count()


@pytest.mark.parametrize("kind", KINDS)
def test_the_keyboard_reaches_every_part_and_shows_where_it_is(kind: str, visitor: Visitor) -> None:
    visit = visitor.open(scene(kind).html)
    stops = _stops(visit)
    assert len(stops) >= _usable(visit)
    assert [each for each in stops if not each["seen"]] == []


def test_a_focus_that_cannot_be_seen_is_noticed(visitor: Visitor) -> None:
    visit = visitor.open("<!doctype html><style>:focus{outline:none}</style><button>x</button>")
    assert [each["seen"] for each in _stops(visit)] == [False]


def test_details_open_with_the_keyboard(visitor: Visitor) -> None:
    visit = visitor.open(scene("fail").html)
    before = visit.page.locator("details[open]").count()
    visit.page.locator("details:not([open]) > summary").first.focus()
    visit.page.keyboard.press("Enter")
    assert visit.page.locator("details[open]").count() == before + 1


def test_the_first_stop_skips_to_the_verdict(visitor: Visitor) -> None:
    visit = visitor.open(scene("fail").html)
    visit.page.keyboard.press("Tab")
    assert visit.ask("() => document.activeElement.getAttribute('href')") == "#main"
    assert visit.ask("() => document.activeElement.getBoundingClientRect().left") >= 0


@pytest.mark.parametrize("kind", KINDS)
def test_a_page_has_its_landmarks_a_title_and_a_language(kind: str, visitor: Visitor) -> None:
    visit = visitor.open(scene(kind).html)
    counts = [visit.page.locator(each).count() for each in ("main", "header", "nav", "footer", "h1")]
    assert counts == [1] * 5
    assert visit.page.title()
    assert visit.ask("() => document.documentElement.lang") == "en"


@pytest.mark.parametrize("kind", KINDS)
def test_headings_leave_out_no_level(kind: str, visitor: Visitor) -> None:
    levels = visitor.open(scene(kind).html).ask(_HEADINGS)
    assert levels[0] == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))


@pytest.mark.parametrize("kind", KINDS)
def test_every_chart_has_a_name_or_is_left_out_of_what_is_read(kind: str, visitor: Visitor) -> None:
    charts = visitor.open(scene(kind).html).ask(_NAMED_CHARTS)
    assert charts
    assert all(hidden or (role == "img" and len(name) > 10) for role, name, hidden in charts)


def test_the_chart_of_a_cause_says_what_it_shows(visitor: Visitor) -> None:
    name = visitor.open(scene("fail").html).page.locator(".cause svg.trend").first.get_attribute("aria-label")
    assert name is not None
    assert "runs" in name
    assert "now" in name


@pytest.mark.parametrize("kind", KINDS)
def test_every_table_has_heads(kind: str, visitor: Visitor) -> None:
    for table in visitor.open(scene(kind).html).ask(_TABLES):
        assert table["heads"] == table["columns"]
        assert table["bare"] == 0


@pytest.mark.parametrize("kind", KINDS)
def test_names_that_refer_to_others_refer_to_something(kind: str, visitor: Visitor) -> None:
    visit = visitor.open(scene(kind).html)
    lost = visit.ask(
        """() => [...document.querySelectorAll("[aria-labelledby]")]
            .filter((each) => !document.getElementById(each.getAttribute("aria-labelledby"))).length"""
    )
    ids = visit.ask("() => [...document.querySelectorAll('[id]')].map((each) => each.id)")
    assert lost == 0
    assert len(ids) == len(set(ids))


def test_what_is_touched_on_a_phone_is_large_enough(visitor: Visitor) -> None:
    """24 by 24 pixels: WCAG 2.2, 2.5.8."""
    visit = visitor.open(scene("fail").html, PHONE)
    small = visit.ask(
        """() => [...document.querySelectorAll("button:not([hidden]), summary")]
            .map((each) => each.getBoundingClientRect())
            .filter((box) => box.width && (box.height < 24 || box.width < 24)).map((box) => [box.width, box.height])"""
    )
    assert small == []
