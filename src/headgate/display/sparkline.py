"""Small charts made of block characters, for use in a line of text."""

from __future__ import annotations

import math
from collections.abc import Sequence

_HEIGHTS = "▁▂▃▄▅▆▇█"
_WIDTHS = "▏▎▍▌▋▊▉█"


def sparkline(shares: Sequence[float]) -> str:
    """A column for each share, scaled to the largest. Only a share of 0 has the lowest column.

    >>> sparkline([1, 4, 8, 0, 2])
    '▂▅█▁▃'
    """
    most = max(shares, default=0.0)
    return "".join(_HEIGHTS[math.ceil(each / most * 7)] if each > 0 else _HEIGHTS[0] for each in shares)


def draw_level(value: float, low: float, high: float) -> str:
    """A column whose height shows where the value lies between `low` and `high`.

    >>> "".join(draw_level(value, 0, 10) for value in (0, 5, 10)), draw_level(1, 1, 1)
    ('▁▅█', '▄')
    """
    if high == low:
        return _HEIGHTS[3]
    return _HEIGHTS[min(len(_HEIGHTS) - 1, int((value - low) / (high - low) * len(_HEIGHTS)))]


def draw_bar(share: float, width: int = 10) -> str:
    """A bar as long as this share of `width` characters; any share above 0 is visible.

    >>> draw_bar(0.25), draw_bar(0.0001), draw_bar(0.0)
    ('██▌', '▏', '')
    """
    eighths = math.ceil(min(share, 1.0) * width * 8)
    whole, rest = divmod(eighths, 8)
    return "█" * whole + (_WIDTHS[rest - 1] if rest else "")
