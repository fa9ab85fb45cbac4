"""Charts as inline SVG: small, without script, readable in light and dark, each with a label for screen readers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache

import msgspec
import numpy as np
import numpy.typing as npt
from markupsafe import Markup

from headgate.report.label import draw_label, measure_label
from headgate.report.run_series import MARK_WORDS, RunMark

Floats = npt.NDArray[np.float64]

WIDTH, HEIGHT = 400, 156
_RIGHT, _TOP, _BOTTOM = 14, 10, 20
_WIDEST = 140  # the largest width of the label of a value
_APART = 8  # between two labels on one line
_SPARKLINE_SIZE = 96, 20
_HUGE = 1e307  # differences of numbers up to this size do not overflow


class Band(msgspec.Struct, frozen=True):
    """The range expected of the last value; None is an open end."""

    low: float | None = None
    high: float | None = None


class TrendLine(msgspec.Struct, frozen=True):
    """The values of a metric over runs; the last one is the current run."""

    title: str
    partitions: tuple[str, ...]
    values: Floats
    marks: tuple[RunMark, ...]
    format_value: Callable[[float], str]
    band: Band | None = None
    expected: str = ""

    def summary(self) -> str:
        """The chart in one sentence."""
        before, now = self.values[:-1], self.values[-1]
        finite = before[np.isfinite(before)]
        text = f"{self.title} over {len(self.values)} runs"
        if len(finite):
            text += f": before {self.format_value(float(finite.min()))} to {self.format_value(float(finite.max()))}"
        if np.isfinite(now):
            text += f", now {self.format_value(float(now))}"
        return text + (f"; allowed {self.expected}" if self.expected else "")


def clip_extremes(values: Floats | float) -> Floats:
    """Values clipped so that differences between them do not overflow."""
    return np.clip(values, -_HUGE, _HUGE)


class _HeightScale:
    """Maps values to heights in the chart. Ends of the band that lie far from all values are cut off."""

    def __init__(self, values: Floats, band: Band | None) -> None:
        finite = clip_extremes(values[np.isfinite(values)])
        low, high = (float(finite.min()), float(finite.max())) if len(finite) else (0.0, 1.0)
        spread = (high - low) or abs(high) * 0.1 or 1.0
        for end in (band.low, band.high) if band else ():
            if end is not None and low - spread <= end <= high + spread:
                low, high = min(low, end), max(high, end)
        self.ends = low, high
        margin = ((high - low) or abs(high) * 0.1 or 1.0) * 0.12
        self.low, self.high = low - margin, high + margin

    def __call__(self, value: float) -> float:
        share = (float(clip_extremes(value)) - self.low) / (self.high - self.low)
        return round(HEIGHT - _BOTTOM - share * (HEIGHT - _TOP - _BOTTOM), 1)


def draw_trend(line: TrendLine) -> Markup:
    """The last runs as a line, the expected range as a band, with marks at held runs and at the last run."""
    scale = _HeightScale(line.values, line.band)
    ticks = {each: line.format_value(each) for each in scale.ends}
    left = round(min(_WIDEST, max(map(measure_label, ticks.values()))) + 6)
    xs = np.linspace(left + 6, WIDTH - _RIGHT, max(len(line.values), 2))[-len(line.values) :].round(1)
    parts = [
        Markup('<svg class="trend" role="img" viewBox="0 0 {} {}" aria-label="{}">').format(
            WIDTH, HEIGHT, line.summary()
        ),
        _draw_band(line.band, scale, left),
        _draw_grid(ticks, scale, left),
        _draw_path(xs, line.values, scale),
        *(_draw_dot(line, index, x, scale) for index, x in enumerate(xs.tolist())),
        _draw_ends(line.partitions, left),
        Markup("</svg>"),
    ]
    return Markup("").join(parts)


def _draw_band(band: Band | None, scale: _HeightScale, left: int) -> Markup:
    if band is None:
        return Markup("")
    top = _TOP - 6 if band.high is None or band.high > scale.high else scale(band.high)
    bottom = HEIGHT - _BOTTOM if band.low is None or band.low < scale.low else scale(band.low)
    height = max(2.0, round(bottom - top, 1))
    return Markup('<rect class="band" x="{}" y="{}" width="{}" height="{}"/>').format(
        left, min(top, bottom), WIDTH - left - _RIGHT + 8, height
    )


def _draw_grid(ticks: Mapping[float, str], scale: _HeightScale, left: int) -> Markup:
    """A grid line at the smallest and at the largest value, each with its label."""
    line = Markup('<line class="grid" x1="{}" x2="{}" y1="{}" y2="{}"/>')
    return Markup("").join(
        line.format(left, WIDTH - _RIGHT + 8, y := scale(each), y)
        + draw_label(text, left - 5, y + 4, width=left - 5, anchor="end")
        for each, text in ticks.items()
    )


def _draw_path(xs: Floats, values: Floats, scale: _HeightScale) -> Markup:
    pieces, pen = [], "M"
    for x, value in zip(xs.tolist(), values.tolist(), strict=True):
        if not np.isfinite(value):
            pen = "M"
            continue
        pieces.append(f"{pen}{x:g} {scale(value):g}")
        pen = "L"
    return Markup('<path class="line" d="{}"/>').format("".join(pieces))


def _draw_dot(line: TrendLine, index: int, x: float, scale: _HeightScale) -> Markup:
    value = float(line.values[index])
    if not np.isfinite(value):
        return Markup("")
    last, mark = index == len(line.values) - 1, line.marks[index]
    outcome = "" if mark is RunMark.GOOD else f", {MARK_WORDS[mark]}"
    title = f"{line.partitions[index]}: {line.format_value(value)}{outcome}"
    if not last and mark is RunMark.GOOD:
        return Markup('<circle class="run" cx="{}" cy="{}" r="2"><title>{}</title></circle>').format(
            x, scale(value), title
        )
    y = scale(value)
    diamond = Markup('<path class="mark {}" d="M{} {}l{} {}l{} {}l{} {}z"><title>{}</title></path>')
    size = 6 if last else 4.5
    if mark is RunMark.GOOD:
        return Markup('<circle class="mark good" cx="{}" cy="{}" r="5"><title>{}</title></circle>').format(x, y, title)
    return diamond.format(mark.value, x, round(y - size, 1), size, size, -size, size, -size, -size, title)


def _draw_ends(partitions: Sequence[str], left: int) -> Markup:
    """The first and the last partition, in the two halves of the space below the chart."""
    y, right, half = HEIGHT - 6, WIDTH - 4, (WIDTH - 4 - left - _APART) / 2
    last = draw_label(partitions[-1], right, y, width=half, anchor="end")
    return last if len(partitions) == 1 else draw_label(partitions[0], left, y, width=half) + last


def draw_sparkline(values: Floats, marks: Sequence[RunMark] = ()) -> Markup:
    """A line without labels, for a cell of a table; held runs are dots. All of it is numbers, so nothing is escaped."""
    finite, values = np.isfinite(values), clip_extremes(values)
    if not finite.any():
        return Markup("")
    low, high = float(values[finite].min()), float(values[finite].max())
    width, height = _SPARKLINE_SIZE
    shares = (np.where(finite, values, low) - low) / (high - low) if high > low else np.full(len(values), 0.5)
    ys = (height - 3 - shares * (height - 6)).round().astype(int).tolist()
    known, xs = finite.tolist(), _place_runs(len(values))
    line = "".join(
        f"{'L' if at and known[at - 1] else 'M'}{x} {y}"
        for at, (x, y) in enumerate(zip(xs, ys, strict=True))
        if known[at]
    )
    dots = "".join(
        f"M{x} {y}h0"
        for x, y, seen, mark in zip(xs, ys, known, marks, strict=False)
        if seen and mark is not RunMark.GOOD
    )
    held = f'<path class="held" d="{dots}"/>' if dots else ""
    return Markup(
        f'<svg class="spark" aria-hidden="true" viewBox="0 0 {width} {height}"><path d="{line}"/>{held}</svg>'
    )


@cache
def _place_runs(runs: int) -> list[int]:
    xs: list[int] = np.linspace(2, _SPARKLINE_SIZE[0] - 3, max(runs, 2))[-runs:].round().astype(int).tolist()
    return xs


def draw_strip(marks: Sequence[tuple[str, RunMark]]) -> Markup:
    """The outcome of the last runs, a small box for each."""
    boxes = [
        Markup('<rect class="{}" x="{}" width="7" height="14" rx="1.5"><title>{}: {}</title></rect>').format(
            mark.value, at * 9, name, MARK_WORDS[mark]
        )
        for at, (name, mark) in enumerate(marks)
    ]
    held = sum(mark is RunMark.HELD for _, mark in marks)
    return Markup('<svg class="strip" role="img" viewBox="0 0 {} 14" width="{}" height="14" aria-label="{}">').format(
        max(1, len(marks) * 9), max(1, len(marks) * 9), f"{held} of the last {len(marks)} runs held"
    ) + Markup("").join([*boxes, Markup("</svg>")])
