"""Labels of charts, measured in Chromium with a wide font.

Before, the space for a label was computed for a narrow font: with DejaVu Sans, the font of a plain Linux, the first
digits of a label lay outside the chart, and 33.3% read as 13.3%.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks.report.chromium import executable, opened
from headgate import report
from headgate.metrics.states.quantiles import Quantiles
from headgate.report.chart import Band, TrendLine, draw_trend
from headgate.report.compare import draw_histogram
from headgate.report.run_series import RunMark
from tests.browser.scenes import KINDS, scene

FONTS = ("sans-serif", "DejaVu Sans", "DejaVu Sans Mono", "DejaVu Serif", "monospace")
STYLE = (Path(report.__file__).parent / "templates" / "style.css").read_text(encoding="utf-8")
# The texts of charts that are not inside their chart, with the distance by which they leave it.
OUTSIDE = """() => [...document.querySelectorAll("svg text")].flatMap((text) => {
  const inner = text.getBoundingClientRect(), outer = text.ownerSVGElement.getBoundingClientRect();
  const across = [outer.left - inner.left, inner.right - outer.right];
  const beyond = Math.max(...across, outer.top - inner.top, inner.bottom - outer.bottom);
  return beyond > 0.5 ? [`${text.textContent}: ${beyond.toFixed(1)}`] : [];
})"""
# Pairs of labels on one line that cover each other.
COVERED = """() => [...document.querySelectorAll("svg")].flatMap((chart) => {
  const boxes = [...chart.querySelectorAll("text")].map((text) => [text.textContent, text.getBoundingClientRect()]);
  return boxes.flatMap(([one, a], at) => boxes.slice(at + 1).filter(
    ([, b]) => a.left < b.right && b.left < a.right && a.top < b.bottom - 6 && b.top < a.bottom - 6
  ).map(([two]) => `${one} | ${two}`));
})"""
COUNT = "() => document.querySelectorAll('svg text').length"

VALUES: dict[str, Callable[[float], str]] = {
    "short": "{:.0f}".format,
    "shares": lambda value: f"{value / 300:.1%}",
    "large numbers": lambda value: f"{value * 1e9:,.3f}",
    "wide letters": lambda value: f"{'W' * 30}{value:g}",
    "moments": lambda value: f"2026-11-{14 + value % 9:02.0f} 10:00:00.000000",
    "Chinese": lambda value: f"{value:g}" + "年月日時分" * 8,
    "emoji": lambda value: f"{value:g}" + "\U0001f6a8" * 12,
    "one character": lambda _: "%",
}
PARTITIONS = {
    "short": "1",
    "days": "2026-11-14",
    "long": "region=Mecklenburg-Vorpommern/day=2026-11-14",
    "wide": "WWW%%@@@MMM" * 9,
    "Chinese": "二〇二六年十一月十四日" * 4,
}


@pytest.fixture(scope="module")
def page() -> Iterator[Any]:
    if executable() is None:
        word = "there is no Chromium on this machine: apt install chromium"
        pytest.fail(word) if os.environ.get("HEADGATE_NEED_BROWSER") else pytest.skip(word)
    with opened() as browser:
        yield browser.new_context(bypass_csp=True).new_page()


def draw_all(values: str, partitions: str) -> list[str]:
    """Charts of every kind that have labels."""
    numbers = np.array([100.0, 120.0, 90.0, 260.0])
    names = tuple(f"{PARTITIONS[partitions]}{at}" for at in range(len(numbers)))
    marks = (RunMark.GOOD, RunMark.HELD, RunMark.GOOD, RunMark.HELD)
    lines = [
        TrendLine("t", names, numbers, marks, VALUES[values], Band(80, 130)),
        TrendLine("t", names[:1], numbers[:1], marks[:1], VALUES[values]),
        TrendLine("t", names, -numbers * 1e6, marks, VALUES[values], Band(None, 0)),
    ]
    now, before = Quantiles.of(numbers.repeat(20)), Quantiles.of(numbers.repeat(10) / 3)
    histograms = [
        draw_histogram(now, [before], "h", VALUES[values]),
        draw_histogram(now, [Quantiles.of(numbers * 1e5)], "h", VALUES[values]),
    ]
    assert all(histograms)
    return [*(str(draw_trend(line)) for line in lines), *map(str, histograms)]


def look(page: Any, font: str) -> tuple[int, list[str], list[str]]:
    page.add_style_tag(content=f"svg text {{ font-family: {font} !important; }}")
    return page.evaluate(COUNT), page.evaluate(OUTSIDE), page.evaluate(COVERED)


@pytest.mark.parametrize("font", FONTS)
@pytest.mark.parametrize("values", VALUES)
def test_every_label_lies_inside_its_chart(page: Any, values: str, font: str) -> None:
    charts = "".join(chart for partitions in PARTITIONS for chart in draw_all(values, partitions))
    page.set_content(f"<!doctype html><style>{STYLE}</style><main>{charts}</main>")
    count, outside, covered = look(page, f'"{font}"' if " " in font else font)
    assert count == (4 + 2 + 4 + 2 + 2) * len(PARTITIONS)
    assert outside == []
    assert covered == []


@pytest.mark.parametrize("font", FONTS[:2])
@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in ("error", "fleet")])
def test_so_do_the_labels_of_whole_pages(page: Any, kind: str, font: str) -> None:
    page.set_content(scene(kind).html)
    page.evaluate("() => document.querySelectorAll('details').forEach((each) => { each.open = true; })")
    count, outside, covered = look(page, f'"{font}"' if " " in font else font)
    assert (outside, covered) == ([], [])
    assert count > 0 or kind == "pass"


def test_a_label_that_is_cut_is_noticed(page: Any) -> None:
    page.set_content('<svg viewBox="0 0 100 20" width="100"><text x="20" y="15" text-anchor="end">33.3%</text></svg>')
    _, outside, _ = look(page, "sans-serif")
    assert len(outside) == 1
