"""Labels of charts that lie inside their space, also with the wide fonts that a reader's browser may have.

Tested by `tests/attack/test_chart_labels.py`.
"""

from __future__ import annotations

from typing import Literal

from markupsafe import Markup

_FONT_SIZE = 11  # of `svg text` in style.css
# Widths of characters in wide fonts (DejaVu Sans, Verdana), in sizes of the font; what is not ASCII may be an emoji.
_ORDINARY, _NOT_ASCII = 0.66, 1.3
_WIDE = {**dict.fromkeys("ABCDEFGHIJKLNOPQRSTUVXYZw&+<=>~^#", 0.86), **dict.fromkeys("%@mMW", 1.1)}


def measure_label(text: str) -> float:
    """The space that a label may need, in units of the chart.

    >>> measure_label("33.3%") > measure_label("33.3")
    True
    """
    return sum(_WIDE.get(char, _ORDINARY if char.isascii() else _NOT_ASCII) for char in text) * _FONT_SIZE


def draw_label(text: str, x: float, y: float, *, width: float, anchor: Literal["start", "end"] = "start") -> Markup:
    """A label that takes at most `width`: a longer text is cut.

    Args:
        text: What the label says.
        x: Where it starts, or ends if `anchor` is "end".
        y: The line on which it stands.
        width: The space for it.
        anchor: Which end of it is at `x`.
    """
    return Markup('<text x="{}" y="{}" text-anchor="{}">{}</text>').format(x, y, anchor, _cut(text, width))


def _cut(text: str, width: float) -> str:
    if measure_label(text) <= width:
        return text
    kept = min(len(text), int(width / (_ORDINARY * _FONT_SIZE)))
    while kept and measure_label(text[:kept] + "…") > width:
        kept -= 1
    return text[:kept] + "…"
