"""A page is one file: it names no other, asks nobody, and its policy lets nothing else in."""

from __future__ import annotations

import base64
import hashlib
import re

import pytest

from tests.browser.beacon import Beacon
from tests.browser.scenes import KINDS, scene
from tests.browser.visit import Visitor

_POLICY = re.compile(r'<meta http-equiv="Content-Security-Policy" content="([^"]*)">')


def _policy(page: str) -> dict[str, list[str]]:
    found = _POLICY.findall(page)
    assert len(found) == 1
    parts = [each.split() for each in found[0].replace("&#39;", "'").split(";")]
    return {name: sources for name, *sources in parts}


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


@pytest.mark.parametrize("kind", KINDS)
def test_the_policy_lets_in_the_one_style_and_the_one_script_and_nothing_else(kind: str) -> None:
    page = scene(kind).html
    (style,) = re.findall(r"<style>(.*?)</style>", page, re.DOTALL)
    (script,) = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    assert _policy(page) == {
        "default-src": ["'none'"],
        "style-src": [_hash(style)],
        "script-src": [_hash(script)],
        "base-uri": ["'none'"],
        "form-action": ["'none'"],
    }


@pytest.mark.parametrize("kind", KINDS)
def test_the_policy_stands_before_all_that_it_rules(kind: str) -> None:
    page = scene(kind).html
    at = page.index("Content-Security-Policy")
    assert all(tag not in page[:at] for tag in ("<style", "<script", "<link", "<img"))


@pytest.mark.parametrize("kind", KINDS)
def test_a_page_names_no_address_outside_itself(kind: str) -> None:
    page = re.sub(r"sha256-[A-Za-z0-9+/=]+", "", scene(kind).html)  # in which anything may stand
    assert re.findall(r"(?:https?:|\bwss?:|ftp:|data:|url\(|@import|//[a-z])[^\s]{0,40}", page) == []


@pytest.mark.parametrize("kind", KINDS)
def test_an_open_page_asks_nobody_and_complains_of_nothing(kind: str, visitor: Visitor, beacon: Beacon) -> None:
    visit = visitor.open(scene(kind).html)
    visit.touch_all()
    assert visit.requests[1:] == []
    assert visit.complaints == []
    assert beacon.calls == 0


def test_the_policy_stops_a_style_a_script_and_a_picture_that_were_added(visitor: Visitor, beacon: Beacon) -> None:
    added = (
        "<script>window.pwned = 1</script><style>body { display: none }</style>"
        f"<img src='http://{beacon.address}/i'><p id=late style='display:none'>x</p></main>"
    )
    visit = visitor.open(scene("fail").html.replace("</main>", added))
    assert visit.ask("() => window.pwned") is None
    assert visit.page.locator("h1").is_visible()
    assert visit.page.locator("#late").is_visible()
    assert beacon.calls == 0
    assert len(visit.complaints) >= 4


def test_the_page_works_without_scripts(visitor: Visitor) -> None:
    visit = visitor.open(scene("fail").html, java_script_enabled=False)
    assert visit.page.locator("h1").is_visible()
    assert visit.page.locator("section.cause").count() == 3


def test_the_script_of_the_page_runs_under_its_policy(visitor: Visitor) -> None:
    visit = visitor.open(scene("fail").html)
    assert visit.page.locator("button.copy").first.is_visible()
    visit.page.locator("button.copy").first.click()
    visit.page.wait_for_function("() => document.querySelector('button.copy').textContent !== 'copy'")
    assert visit.complaints == []
