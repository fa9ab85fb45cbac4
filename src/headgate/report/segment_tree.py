"""A picture of which rows have a fault: all rows, and below them the segment and the others, each as wide as it is.

Tested by `tests/report/test_segment_tree.py`.
"""

from __future__ import annotations

from markupsafe import Markup

from headgate.display.numbers import format_share
from headgate.report.label import draw_label
from headgate.values.diagnosis import LocatedRows

_WIDTH, _HEIGHT = 400, 106
_LINE = 14
_BAR, _ALL, _PARTS = 18, 18, 54  # the height of a bar, and where the two rows of bars begin
_GAP = 2
_LEAST = 3  # of a bar, so that it can be seen


def draw_segment_tree(located: LocatedRows, segment: str) -> Markup:
    """The picture of a segment.

    Args:
        located: How the wrong rows lie in the batch.
        segment: The rows of the segment in words, such as "carrier is EV".
    """
    share, inside, outside = (_format_rate(each) for each in (located.share, located.inside, located.outside))
    wrong = located.share * located.inside + (1 - located.share) * located.outside
    cut = min(max(round(located.share * _WIDTH, 1), _LEAST), _WIDTH - _LEAST)
    titles = (
        f"all rows: {_format_rate(wrong)} wrong",
        f"{segment} ({share} of the rows): {inside} wrong",
        f"all others: {outside} wrong",
    )
    drawing = Markup("").join(
        [
            draw_label(titles[0], 0, _ALL - 5, width=_WIDTH),
            _draw_bar(0, _WIDTH, _ALL, wrong),
            Markup('<path class="branch" d="M{0:g} {1}V{2}M{3:g} {1}V{2}"/>').format(
                cut / 2, _ALL + _BAR, _PARTS, (cut + _WIDTH) / 2
            ),
            _draw_bar(0, cut - _GAP, _PARTS, located.inside),
            _draw_bar(cut, _WIDTH - cut, _PARTS, located.outside),
            *(
                draw_label(title, 0, _PARTS + _BAR + at * _LINE, width=_WIDTH)
                for at, title in enumerate(titles[1:], start=1)
            ),
        ]
    )
    frame = Markup('<svg class="tree" role="img" viewBox="0 0 {} {}" aria-label="{}">{}</svg>')
    return frame.format(_WIDTH, _HEIGHT, "; ".join(titles), drawing)


def _format_rate(share: float) -> str:
    return format_share(share, 0 if share in (0.0, 1.0) else 1)


def _draw_bar(x: float, width: float, y: int, wrong: float) -> Markup:
    """A bar of rows, the wrong ones first."""
    width = max(width, 1.0)
    bar = Markup('<rect class="{}" x="{:g}" y="{}" width="{:g}" height="{}"/>')
    return bar.format("right", x, y, width, _BAR) + bar.format("wrong", x, y, round(width * wrong, 1), _BAR)
