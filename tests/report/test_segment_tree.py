"""The picture of the rows of a segment: bars as wide as the rows are many, and the same in words."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import pytest

from headgate.report.segment_tree import draw_segment_tree
from headgate.values.diagnosis import LocatedRows


def read_bars(picture: ET.Element, kind: str) -> list[float]:
    return [float(each.attrib["width"]) for each in picture if each.attrib.get("class") == kind]


def test_bars_are_as_wide_as_the_rows_are_many() -> None:
    picture = ET.fromstring(str(draw_segment_tree(LocatedRows(0.25, 0.8, 0.1), "carrier=EV")))
    every, inside, outside = read_bars(picture, "right")
    assert (every, outside) == (400, 300)
    assert inside == pytest.approx(100, abs=3)
    wrong = read_bars(picture, "wrong")
    assert wrong == pytest.approx([400 * 0.275, inside * 0.8, 30], abs=0.1)


def test_it_says_the_same_in_words() -> None:
    picture = ET.fromstring(str(draw_segment_tree(LocatedRows(0.25), "carrier=EV")))
    assert picture.attrib["aria-label"] == (
        "all rows: 25.0% wrong; carrier=EV (25.0% of the rows): 100% wrong; all others: 0% wrong"
    )
    assert [each.text for each in picture if each.tag == "text"] == picture.attrib["aria-label"].split("; ")


@pytest.mark.parametrize("share", [0.0, 0.0001, 0.9999, 1.0])
def test_the_smallest_part_can_be_seen(share: float) -> None:
    picture = ET.fromstring(str(draw_segment_tree(LocatedRows(share), "<b>&")))
    assert min(read_bars(picture, "right")) >= 1
    assert sum(read_bars(picture, "right")[1:]) <= 400
