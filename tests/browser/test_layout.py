"""What an eye meets: the cause in the first screen, nothing beyond the edge, text that is read in light and dark."""

from __future__ import annotations

import pyarrow as pa
import pytest

from benchmarks.report.look import READABLE
from headgate.checks.check import Check
from headgate.gate.gate import Gate
from headgate.report.html import Report
from headgate.store.memory import MemoryStore
from tests.browser.scenes import KINDS, failed, scene
from tests.browser.visit import DESKTOP, PHONE, Visit, Visitor

SIZES = {"desktop": DESKTOP, "phone": PHONE, "narrow phone": {"width": 320, "height": 568}}
LONG = "a_column_whose_name_is_" + "very_" * 30 + "long"


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("size", SIZES)
def test_no_page_is_wider_than_the_screen(kind: str, size: str, visitor: Visitor) -> None:
    visit = visitor.open(scene(kind).html, SIZES[size])
    visit.open_all()
    assert visit.sight()["overflow"] == 0


@pytest.mark.parametrize("size", ["desktop", "phone"])
def test_long_names_do_not_widen_a_page(size: str, visitor: Visitor) -> None:
    gate = Gate(LONG, store=MemoryStore(), checks=Check(LONG).is_complete(LONG), owner=LONG)
    verdict = gate.judge(pa.table({LONG: [None, "1"]}), LONG)
    gate.release(LONG, note="x" * 500, who=LONG)
    for page in (Report.of(gate, verdict), Report.of(gate)):
        visit = visitor.open(page.html, SIZES[size])
        visit.open_all()
        assert visit.sight()["overflow"] == 0


def test_overflow_is_noticed(visitor: Visitor) -> None:
    assert visitor.open("<!doctype html><p style='width:1400px'>x</p>").sight()["overflow"] > 0


@pytest.mark.parametrize("size", ["desktop", "phone"])
def test_the_first_screen_says_the_verdict_and_the_first_cause(size: str, visitor: Visitor) -> None:
    visit = visitor.open(scene("fail").html, SIZES[size])
    height = SIZES[size]["height"]
    assert visit.page.locator("h1").inner_text() == failed().headline
    for place in ("h1", ".cause h2", ".cause dl dd"):
        box = visit.page.locator(place).first.bounding_box()
        assert box is not None
        assert box["y"] + box["height"] <= height, place
    assert failed().causes[0].title in visit.page.locator(".cause h2").first.inner_text()


@pytest.mark.parametrize("kind", ["error", "dataset", "fleet"])
@pytest.mark.parametrize("size", ["desktop", "phone"])
def test_the_first_screen_of_other_pages_says_what_is_wrong(kind: str, size: str, visitor: Visitor) -> None:
    visit = visitor.open(scene(kind).html, SIZES[size])
    box = visit.page.locator("section.hero").bounding_box()
    assert box is not None
    assert box["y"] + box["height"] <= SIZES[size]["height"]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("kind", KINDS)
def test_every_text_has_contrast(kind: str, scheme: str, visitor: Visitor) -> None:
    visit = visitor.open(scene(kind).html, scheme=scheme)
    visit.open_all()
    sight = visit.sight()
    assert len(sight["texts"]) > 20
    assert [(each["text"], round(each["ratio"], 2)) for each in sight["texts"] if each["ratio"] < READABLE] == []


@pytest.mark.parametrize(("style", "poor"), [("color:#777", True), ("color:#767676", False), ("opacity:.4", True)])
def test_poor_contrast_is_noticed(style: str, poor: bool, visitor: Visitor) -> None:
    visit = visitor.open(f"<!doctype html><p style='{style}'>words</p>")
    assert [each["ratio"] < READABLE for each in visit.sight()["texts"]] == [poor]


def test_the_page_follows_the_scheme_of_the_reader(visitor: Visitor) -> None:
    light, dark = (visitor.open(scene("fail").html, scheme=scheme).sight() for scheme in ("light", "dark"))
    assert light["background"] > 0.8
    assert dark["background"] < 0.1


def test_status_is_told_in_words_and_not_by_colour_alone(visitor: Visitor) -> None:
    words = {kind: visitor.open(scene(kind).html).page.locator(".pill").inner_text() for kind in ("pass", "fail")}
    assert words["fail"].lower().endswith("held")
    assert words["pass"].lower().endswith("published")


def test_nothing_moves(visitor: Visitor) -> None:
    """There is no motion that a reader would have to ask to be spared."""
    visit = visitor.open(scene("fail").html, reduced_motion="reduce")
    moving = visit.ask(
        """() => [...document.querySelectorAll("*")].filter((each) => {
            const style = getComputedStyle(each);
            return style.animationName !== "none" || parseFloat(style.transitionDuration) > 0;
        }).length"""
    )
    assert moving == 0


def _printed(visit: Visit) -> Visit:
    visit.page.emulate_media(media="print")
    return visit


def test_on_paper_the_page_has_everything_but_buttons(visitor: Visitor) -> None:
    visit = _printed(visitor.open(scene("fail").html))
    assert not visit.page.locator("button.copy").first.is_visible()
    assert visit.page.locator("h1").is_visible()
    assert visit.page.locator("section.cause").count() == 3
    hidden = visit.ask(
        """() => [...document.querySelectorAll("details > :not(summary)")]
            .filter((each) => !each.checkVisibility()).length"""
    )
    assert hidden == 0


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_what_is_printed_is_dark_on_light(scheme: str, visitor: Visitor) -> None:
    sight = _printed(visitor.open(scene("fail").html, scheme=scheme)).sight()
    assert sight["background"] > 0.8
    assert min(each["ratio"] for each in sight["texts"]) >= READABLE
