"""Small pictures made of block characters, which stand in a line of text."""

from __future__ import annotations

import math
from collections.abc import Sequence

_HEIGHTS = "▁▂▃▄▅▆▇█"
_WIDTHS = "▏▎▍▌▋▊▉█"


def sparkline(shares: Sequence[float]) -> str:
    """A column for each share, the largest as high as the line; only where there is nothing is it lowest.

    >>> sparkline([1, 4, 8, 0, 2])
    '▂▅█▁▃'
    """
    most = max(shares, default=0.0)
    return "".join(_HEIGHTS[math.ceil(each / most * 7)] if each > 0 else _HEIGHTS[0] for each in shares)


def draw_level(value: float, low: float, high: float) -> str:
    """A column as high as the value stands between the smallest and the largest.

    >>> "".join(draw_level(value, 0, 10) for value in (0, 5, 10)), draw_level(1, 1, 1)
    ('▁▅█', '▄')
    """
    if high == low:
        return _HEIGHTS[3]
    return _HEIGHTS[min(len(_HEIGHTS) - 1, int((value - low) / (high - low) * len(_HEIGHTS)))]


def draw_bar(share: float, width: int = 10) -> str:
    """A bar that is as long as the share of `width` characters; what is there at all is seen.

    >>> draw_bar(0.25), draw_bar(0.0001), draw_bar(0.0)
    ('██▌', '▏', '')
    """
    eighths = math.ceil(min(share, 1.0) * width * 8)
    whole, rest = divmod(eighths, 8)
    return "█" * whole + (_WIDTHS[rest - 1] if rest else "")
