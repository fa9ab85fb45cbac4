"""The distribution of a column's values in this run and in earlier runs, computed from stored states."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec
import numpy as np
import numpy.typing as npt
from markupsafe import Markup

from headgate.metrics.distances.numbers import read_bins
from headgate.metrics.states.frequencies import Frequencies
from headgate.metrics.states.quantiles import Quantiles
from headgate.report.chart import clip_extremes
from headgate.report.label import draw_label
from headgate.stats.distances import EmpiricalDistribution

Floats = npt.NDArray[np.float64]
Undo = Callable[[Floats], Floats]

BEFORE = 5  # accepted runs that are merged for comparison
BINS = 24
LABELS = 8
_LOG = 20.0  # ratio of the two medians above which the bins are logarithmic
_WIDTH, _HEIGHT, _TOP, _BOTTOM = 400, 120, 8, 20
_FIRST = 130  # the largest width of the first label; the last one has a note beside it


class Bar(msgspec.Struct, frozen=True):
    """One value or pattern with its share of the values now and before. `name` is None if the store hides values."""

    name: str | None
    now: float
    before: float

    @property
    def is_new(self) -> bool:
        return self.before == 0 and self.now > 0


def bars_of(now: Frequencies, before: Sequence[Frequencies]) -> list[Bar]:
    """The labels that are or were frequent. Those that changed the most are kept, ordered by their earlier share."""
    past = Frequencies.merge_all(before)
    if not now.total or not past.total or now.hashed != past.hashed:
        return []
    new, old = now.labels(), past.labels()
    bars = [
        Bar(None if now.hashed else name, new.get(name, 0) / now.total, old.get(name, 0) / past.total)
        for name in {*new, *old}
    ]
    ranked = sorted(bars, key=lambda each: (-abs(each.now - each.before), -each.now, each.name or ""))[:LABELS]
    frequent = [each for each in ranked if max(each.now, each.before) > 1 / 200]
    return sorted(frequent, key=lambda each: (-each.before, -each.now, each.name or ""))


def draw_histogram(
    now: Quantiles,
    before: Sequence[Quantiles],
    title: str,
    format_value: Callable[[float], str],
    moments: bool = False,
    undo: Undo | None = None,
) -> Markup:
    """Histogram of the current numbers as bars, with the earlier ones as an outline; empty if there are none.

    With `undo`, a second outline shows the current numbers after a fault is undone.
    """
    past = Quantiles.merge_all(before)
    if not now.total or not past.total:
        return Markup("")
    new, old = read_bins(now).sample, read_bins(past).sample
    edges, logarithmic = _find_edges(new, old, moments)
    if len(edges) < 2:
        return Markup("")
    samples = [new, old] if undo is None else [new, old, _undo_sample(new, undo)]
    heights = [_bin_shares(each, edges) for each in samples]
    top = max(float(each.max()) for each in heights) or 1.0
    xs = np.linspace(2, _WIDTH - 2, len(edges)).round(1)
    bars, outline = (_draw_bars(xs, heights[0] / top), _draw_outline(xs, heights[1] / top, "before"))
    repaired = _draw_outline(xs, heights[2] / top, "repaired") if undo is not None else Markup("")
    typical = [format_value(_median_of(each)) for each in samples]
    label = f"{title}: a typical value is {typical[0]} now, {typical[1]} in the accepted runs before"
    if undo is not None:
        label += f", {typical[2]} after the repair"
    first, last = (format_value(float(edge)) for edge in (edges[0], edges[-1]))
    note = " (steps of equal ratio)" if logarithmic else ""
    return Markup("").join(
        [
            Markup('<svg class="histogram" role="img" viewBox="0 0 {} {}" aria-label="{}">').format(
                _WIDTH, _HEIGHT, label
            ),
            bars,
            outline,
            repaired,
            draw_label(first, 2, _HEIGHT - 6, width=_FIRST),
            draw_label(last + note, _WIDTH - 2, _HEIGHT - 6, width=_WIDTH - _FIRST - 12, anchor="end"),
            Markup("</svg>"),
        ]
    )


def _undo_sample(sample: EmpiricalDistribution, undo: Undo) -> EmpiricalDistribution:
    weights = np.diff(sample.shares, prepend=0.0) * sample.size
    return EmpiricalDistribution.of(undo(sample.values), weights)


def _median_of(sample: EmpiricalDistribution) -> float:
    return _quantile_of(sample, 0.5)


def _quantile_of(sample: EmpiricalDistribution, share: float) -> float:
    index = int(np.searchsorted(sample.shares, share))
    return float(sample.values[min(index, len(sample.values) - 1)])


def _find_edges(new: EmpiricalDistribution, old: EmpiricalDistribution, moments: bool) -> tuple[Floats, bool]:
    """Edges of bins that cover nearly all values of both, and whether they are logarithmic.

    They are logarithmic if all values are positive and one median is many times the other.
    """
    low = float(clip_extremes(min(_quantile_of(new, 0.005), _quantile_of(old, 0.005))))
    high = float(clip_extremes(max(_quantile_of(new, 0.995), _quantile_of(old, 0.995))))
    if not low < high:
        return np.array([]), False
    medians = sorted([_median_of(new), _median_of(old)])
    if not moments and low > 0 and medians[1] / medians[0] > _LOG:
        return np.geomspace(low, high, BINS + 1), True
    return np.linspace(low, high, BINS + 1), False


def _bin_shares(sample: EmpiricalDistribution, edges: Floats) -> Floats:
    """The share of values in each bin; values outside the edges count in the first and last bin."""
    counts = sample.count_in_bins(edges[1:-1]) / max(sample.size, 1.0)
    return np.asarray(counts, np.float64)


def _y_of(share: float) -> float:
    return round(_HEIGHT - _BOTTOM - share * (_HEIGHT - _TOP - _BOTTOM), 1)


def _draw_bars(xs: Floats, shares: Floats) -> Markup:
    bar = "M{:g} {:g}V{:g}H{:g}V{:g}z"
    floor = _HEIGHT - _BOTTOM
    drawn = [
        bar.format(left + 0.5, floor, _y_of(share), right - 0.5, floor)
        for left, right, share in zip(xs[:-1].tolist(), xs[1:].tolist(), shares.tolist(), strict=True)
        if share > 0
    ]
    return Markup('<path class="now" d="{}"/>').format("".join(drawn))


def _draw_outline(xs: Floats, shares: Floats, kind: str) -> Markup:
    steps = [f"M{xs[0]:g} {_HEIGHT - _BOTTOM}"]
    for right, share in zip(xs[1:].tolist(), shares.tolist(), strict=True):
        steps.append(f"V{_y_of(share):g}H{right:g}")
    return Markup('<path class="{}" d="{}V{}"/>').format(kind, "".join(steps), _HEIGHT - _BOTTOM)
