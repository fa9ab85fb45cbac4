"""Charts are drawn where the values are, say what they show, and survive what data can be."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import numpy as np
import pytest

from headgate.report.chart import HEIGHT, WIDTH, Band, TrendLine, draw_sparkline, draw_strip, draw_trend
from headgate.report.run_series import RunMark

GOOD, HELD, OPEN = RunMark.GOOD, RunMark.HELD, RunMark.OPEN


def drawn(values: list[float], band: Band | None = None, marks: tuple[RunMark, ...] = ()) -> ET.Element:
    names = tuple(f"day {at}" for at in range(len(values)))
    made = marks or (GOOD,) * len(values)
    line = TrendLine("mean of price", names, np.array(values, float), made, "{:g}".format, band, "1 to 2")
    return ET.fromstring(str(draw_trend(line)))


def test_larger_values_stand_higher() -> None:
    dots = drawn([1.0, 3.0, 2.0]).findall("circle")
    heights = [float(each.attrib["cy"]) for each in dots]
    assert heights[1] < heights[2] < heights[0]


def test_the_band_covers_what_is_expected_and_nothing_else() -> None:
    picture = drawn([1.0, 3.0, 2.0], Band(1.5, 2.5))
    band = picture.find("rect")
    assert band is not None
    top, bottom = float(band.attrib["y"]), float(band.attrib["y"]) + float(band.attrib["height"])
    inside = [top <= float(each.attrib["cy"]) <= bottom for each in picture.findall("circle")]
    assert inside == [False, False, True]


@pytest.mark.parametrize("band", [Band(high=1e12), Band(low=-1e12, high=1e12), Band(low=0.0), Band(high=2.0)])
def test_a_band_that_reaches_far_does_not_squeeze_the_values(band: Band) -> None:
    picture = drawn([1.0, 3.0, 2.0], band)
    heights = [float(each.attrib["cy"]) for each in picture.findall("circle")]
    assert max(heights) - min(heights) > HEIGHT / 4
    rect = picture.find("rect")
    assert rect is not None
    assert float(rect.attrib["y"]) >= 0
    assert float(rect.attrib["y"]) + float(rect.attrib["height"]) <= HEIGHT


def test_held_runs_and_the_last_one_are_marked_and_named() -> None:
    picture = drawn([1.0, 9.0, 2.0, 8.0], marks=(GOOD, HELD, OPEN, HELD))
    marked = [
        (each.attrib["class"], each.findtext("title"))
        for each in picture.findall("path")
        if each.find("title") is not None
    ]
    assert marked == [
        ("mark held", "day 1: 9, held"),
        ("mark open", "day 2: 2, failed, not held"),
        ("mark held", "day 3: 8, held"),
    ]


def test_a_chart_says_in_words_what_it_shows() -> None:
    assert (
        drawn([1.0, 3.0, 20.0]).attrib["aria-label"]
        == "mean of price over 3 runs: before 1 to 3, now 20; allowed 1 to 2"
    )


@pytest.mark.parametrize(
    "values",
    [
        [5.0],
        [5.0, 5.0],
        [0.0, 0.0],
        [np.nan, 1.0, np.nan],
        [np.nan],
        [np.inf, 1.0, -np.inf],
        [1e300, -1e300],
        [1.7e308, -1.7e308],
        [1e-300, 2e-300],
    ],
)
def test_every_series_can_be_drawn_inside_its_frame(values: list[float]) -> None:
    picture = drawn(values)
    for each in picture.iter():
        for name in ("cx", "x", "x1", "x2"):
            assert -1 <= float(each.attrib.get(name, 0)) <= WIDTH
        for name in ("cy", "y", "y1", "y2"):
            assert -1 <= float(each.attrib.get(name, 0)) <= HEIGHT
    drawn_paths = [
        each.attrib.get("d", "")
        for each in (*picture.iter(), *ET.fromstring(f"<p>{draw_sparkline(np.array(values))}</p>").iter())
    ]
    assert not any("nan" in each or "inf" in each for each in drawn_paths)


def test_what_is_missing_breaks_the_line() -> None:
    line = drawn([1.0, 2.0, np.nan, 3.0]).findall("path")[0]
    assert line.attrib["d"].count("M") == 2


def test_names_of_runs_are_text_and_nothing_else() -> None:
    line = TrendLine('<b>"x', ('"><script>', "a&b"), np.array([1.0, 2.0]), (GOOD, HELD), lambda value: f"<{value}>")
    picture = ET.fromstring(str(draw_trend(line)))
    assert picture.attrib["aria-label"].startswith('<b>"x over 2 runs')
    assert not list(picture.iter("script"))


def test_a_strip_has_a_box_for_each_run() -> None:
    picture = ET.fromstring(str(draw_strip([("a", GOOD), ("b", HELD), ("c<", OPEN)])))
    assert [each.attrib["class"] for each in picture] == ["good", "held", "open"]
    assert picture.attrib["aria-label"] == "1 of the last 3 runs held"
    ET.fromstring(str(draw_strip([])))
