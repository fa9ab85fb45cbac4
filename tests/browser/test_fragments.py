"""What results show in a notebook is a part of the notebook's page, which has no policy: it is inert by itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pytest

import headgate as hg
from headgate.display.table import Table
from headgate.store.memory import MemoryStore
from tests.browser.beacon import Beacon
from tests.browser.hostile import payloads
from tests.browser.visit import Visit, Visitor


def _table(texts: list[str]) -> pa.Table:
    """Columns named by some of the texts, each with all of them as values."""
    return pa.table({text: [*texts, None] for text in texts[::4]})


def _verdict(texts: list[str]) -> Any:
    gate = hg.Gate(texts[0], store=MemoryStore(hide=False), checks=_check(texts), owner=texts[1], learn=())
    return gate.judge(_table(texts), texts[2])


def _check(texts: list[str]) -> hg.Check:
    made = hg.Check(texts[0])
    for text in texts[::4]:
        made = made.is_complete(text).is_contained_in(text, texts[:2])
    return made


MADE: dict[str, Callable[[list[str]], Any]] = {
    "the verdict of a gate": _verdict,
    "a verification": lambda texts: hg.verify(_table(texts), _check(texts)),
    "a profile": lambda texts: hg.profile(_table(texts)),
    "suggestions": lambda texts: hg.suggest(pa.table({text: [text, texts[0]] * 200 for text in texts[::4]})),
    "an analysis": lambda texts: hg.analyze(_table(texts), [hg.Completeness(text) for text in texts[::4]]),
    "a table": lambda texts: Table(tuple(texts), (tuple(texts),)),
}


def _harm(visit: Visit) -> list[str]:
    visit.touch_all()
    visit.page.wait_for_timeout(50)
    scripts, elements, loud = visit.ask(
        """() => [window.pwned, document.querySelectorAll("[pwned]").length, [...document.querySelectorAll("*")]
            .filter((each) => /^(script|iframe|img|link|object|embed|base|form)$/i.test(each.tagName)
                || each.getAttributeNames().some((name) => name.startsWith("on"))).length]"""
    )
    found = [f"asked for {url}" for url in visit.requests[1:]] + visit.dialogs + visit.complaints
    return found + [
        word
        for word, there in (("a script ran", scripts), ("an element came from data", elements), ("a loud tag", loud))
        if there
    ]


@pytest.mark.parametrize("kind", MADE)
def test_a_result_in_a_notebook_is_inert(kind: str, visitor: Visitor, beacon: Beacon) -> None:
    texts = list(payloads(beacon.address).values())
    fragment = MADE[kind](texts)._repr_html_()
    assert "pwned" in fragment  # the texts are in it
    assert _harm(visitor.open(f"<!doctype html><meta charset=utf-8><title>notebook</title>{fragment}")) == []
    assert beacon.calls == 0


def test_a_fragment_that_is_not_escaped_is_caught(visitor: Visitor, beacon: Beacon) -> None:
    text = payloads(beacon.address)["image that breaks"]
    harm = _harm(visitor.open(f"<!doctype html><table><td>{text}</td></table>"))
    assert "a script ran" in harm
    assert "an element came from data" in harm
