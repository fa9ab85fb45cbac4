"""Distributions now and before: of numbers as bars and an outline, of labels as shares."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET

import numpy as np
import pytest

from headgate.metrics.states.frequencies import Frequencies
from headgate.metrics.states.quantiles import Quantiles
from headgate.report.compare import LABELS, bars_of, draw_histogram

SECRET = b"s" * 32


def frequencies(**counts: int) -> Frequencies:
    names = list(counts)
    return Frequencies.of(np.array(list(counts.values())), lambda at: [names[one] for one in at.tolist()], 512)


def test_shares_are_of_all_values_now_and_before() -> None:
    bars = {
        each.name: (each.now, each.before)
        for each in bars_of(frequencies(a=1, b=3), [frequencies(a=1), frequencies(a=2, c=1)])
    }
    assert bars == {"a": (0.25, 0.75), "b": (0.75, 0.0), "c": (0.0, 0.25)}


def test_a_value_that_no_run_had_is_new_and_one_that_is_gone_is_not() -> None:
    bars = bars_of(frequencies(a=1, b=3), [frequencies(a=3, c=1)])
    assert {each.name: each.is_new for each in bars} == {"a": False, "b": True, "c": False}


def test_hidden_values_have_no_name() -> None:
    now, before = (frequencies(a=5, b=5).hide_values(SECRET), frequencies(a=9, b=1).hide_values(SECRET))
    bars = bars_of(now, [before])
    assert [each.name for each in bars] == [None, None]
    assert sorted(each.before for each in bars) == [0.1, 0.9]


def test_values_under_two_secrets_are_not_compared() -> None:
    assert bars_of(frequencies(a=5).hide_values(SECRET), [frequencies(a=5).hide_values(b"t" * 32)]) == []


def test_only_the_largest_changes_are_shown() -> None:
    now = frequencies(**{f"v{at}": 10 + at for at in range(50)})
    assert len(bars_of(now, [frequencies(v0=500)])) == LABELS


def test_nothing_is_compared_with_nothing() -> None:
    assert bars_of(frequencies(a=1), []) == []
    assert draw_histogram(Quantiles(), [Quantiles.of(np.ones(5))], "x", str) == ""
    assert draw_histogram(Quantiles.of(np.ones(5)), [], "x", str) == ""


@pytest.mark.parametrize(("factor", "logarithmic"), [(1.0, False), (100.0, True), (-1.0, False)])
def test_values_of_another_size_are_laid_out_by_ratio(factor: float, logarithmic: bool) -> None:
    prices = np.random.default_rng(1).lognormal(3, 0.5, 400)
    picture = ET.fromstring(
        str(draw_histogram(Quantiles.of(prices * factor), [Quantiles.of(prices)], "price", "{:.3g}".format))
    )
    assert ("equal ratio" in "".join(picture.itertext())) is logarithmic


def test_bars_stand_where_the_values_are() -> None:
    old, new = np.linspace(0, 1, 200), np.linspace(9, 10, 200)
    picture = ET.fromstring(str(draw_histogram(Quantiles.of(new), [Quantiles.of(old)], "x", "{:g}".format)))
    now, before = (each.attrib["d"] for each in picture.findall("path"))
    assert min(float(each) for each in re.findall(r"M([\d.]+) ", now)) > 300
    heights = [float(each) for each in re.findall(r"V([\d.]+)H", before)]
    assert heights.index(min(heights)) < 5


def test_all_values_equal_are_no_picture() -> None:
    assert draw_histogram(Quantiles.of(np.ones(9)), [Quantiles.of(np.ones(9))], "x", str) == ""


def test_a_second_outline_shows_the_values_after_the_repair() -> None:
    values = np.random.default_rng(0).lognormal(3.0, 0.5, 2_000)
    now, before = Quantiles.of(values * 2), [Quantiles.of(values)]
    picture = ET.fromstring(str(draw_histogram(now, before, "price", "{:.3g}".format, undo=lambda each: each / 2)))
    paths = {each.attrib["class"]: each.attrib["d"] for each in picture if each.tag == "path"}
    assert paths["repaired"] == paths["before"]
    typical = [float(each) for each in re.findall(r"[0-9.]+", picture.attrib["aria-label"])]
    assert typical == pytest.approx([2 * typical[1], typical[1], typical[1]], rel=0.02)
    flipped = str(draw_histogram(Quantiles.of(-values), before, "price", "{:.3g}".format, undo=np.negative))
    assert 'class="repaired"' in flipped
    assert "repaired" not in str(draw_histogram(now, before, "price", str))
