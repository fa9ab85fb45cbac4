"""The class of every character of a text, by Unicode's categories.

A character is a letter (L), a digit (Nd), white space (Z, tab, newline and their kin), punctuation (P and S) or other
(marks, controls, numerals that are no digits).
"""

from __future__ import annotations

import unicodedata
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from headgate.metrics.base.codes import BLOCK, CONTROL, DIGIT, FIRST_SYMBOL, Bytes

Integers = npt.NDArray[np.int64]

CLASSES = ("letters", "digits", "punctuation", "spaces", "other")
_LETTER, _DIGIT, _PUNCTUATION, _SPACE, _OTHER = 1, 2, 3, 4, 5


def count_plain_classes(codes: Bytes) -> dict[str, int] | None:
    """The number of characters of each class in the codes of ASCII text; None if it has control characters."""
    words = digits = spaces = 0
    for start in range(0, len(codes), BLOCK):
        block = codes[start : start + BLOCK]
        mark = np.equal(block, CONTROL)
        if mark.any():
            return None
        spaces += int(np.count_nonzero(np.equal(block, 32, out=mark)))
        digits += int(np.count_nonzero(np.equal(block, DIGIT, out=mark)))
        words += int(np.count_nonzero(np.less(block, FIRST_SYMBOL, out=mark)))
    counts = (words - digits, digits, len(codes) - words - spaces, spaces, 0)
    return dict(zip(CLASSES, counts, strict=True))


def count_ascii_classes(data: Bytes, offsets: Integers, weights: Integers | None) -> dict[str, int]:
    """The same of ASCII text with any characters, with each value counted `weights` times."""
    repeated = None if weights is None else np.repeat(weights, offsets[1:] - offsets[:-1])
    return _sum_classes(_class_table()[:128], np.bincount(data, repeated, 128))


def count_unicode_classes(data: Bytes, offsets: Integers, weights: Integers | None) -> dict[str, int]:
    """The same of any text, a block of bytes at a time."""
    counts = np.zeros(len(CLASSES) + 1, np.int64)
    cuts = np.searchsorted(offsets, np.arange(BLOCK, len(data), BLOCK)).tolist()
    ends = sorted({*cuts, len(offsets) - 1} - {0})
    for start, end in zip([0, *ends], ends, strict=False):
        own = offsets[start : end + 1] - offsets[start]
        kinds = _classify_characters(data[offsets[start] : offsets[end]], own)
        repeated = None if weights is None else np.repeat(weights[start:end], own[1:] - own[:-1])
        counts += np.bincount(kinds, repeated, len(counts)).astype(np.int64)
    return dict(zip(CLASSES, counts[1:].tolist(), strict=True))


def _sum_classes(kinds: Bytes, counts: npt.NDArray[Any]) -> dict[str, int]:
    sums = np.bincount(kinds, counts, len(CLASSES) + 1).astype(np.int64)
    return dict(zip(CLASSES, sums[1:].tolist(), strict=True))


def _classify_characters(data: Bytes, offsets: Integers) -> Bytes:
    """The class of the character that begins at each byte; 0 inside a character."""
    kinds: Bytes = _class_table()[data.astype(np.int32) & 0x7F]
    foreign = np.flatnonzero(data >= 0x80)
    kinds[foreign] = 0
    leads = foreign[data[foreign] >= 0xC0]
    kinds[leads] = _class_table()[_code_points(data, offsets, leads)]
    return kinds


def _code_points(data: Bytes, offsets: Integers, leads: Integers) -> npt.NDArray[np.int32]:
    """The code points of the characters that begin at `leads`; invalid UTF-8 gives some code point, not an error."""
    padded = np.concatenate([data, np.zeros(3, np.uint8)]).astype(np.int32)
    starts = offsets[:-1][offsets[:-1] < len(data)]
    # a value that begins with a continuation byte must not complete a truncated character of the value before it
    padded[starts[_is_continuation(data[starts])]] = 0
    lead, second, third, fourth = (padded[leads + step] for step in range(4))
    two = (lead & 0x1F) << 6 | (second & 0x3F)
    three = (lead & 0x0F) << 12 | (second & 0x3F) << 6 | (third & 0x3F)
    four = (lead & 0x07) << 18 | (second & 0x3F) << 12 | (third & 0x3F) << 6 | (fourth & 0x3F)
    points = np.where(lead < 0xE0, two, np.where(lead < 0xF0, three, four))
    whole = (
        _is_continuation(second)
        & (_is_continuation(third) | (lead < 0xE0))
        & (_is_continuation(fourth) | (lead < 0xF0))
    )
    beyond = len(_class_table()) - 1
    return np.where(whole, np.minimum(points, beyond), beyond)


def _is_continuation(value: npt.NDArray[np.integer[Any]]) -> npt.NDArray[np.bool_]:
    """Whether a byte continues a character of UTF-8."""
    return np.asarray((value & 0xC0) == 0x80, np.bool_)


@cache
def _class_table() -> Bytes:
    """The class of every code point in the planes with scripts; all above count as other."""
    by_category = {"L": _LETTER, "P": _PUNCTUATION, "S": _PUNCTUATION, "Z": _SPACE}
    table = np.full(0x32000, _OTHER, np.uint8)
    for point in range(len(table) - 1):
        category = unicodedata.category(chr(point))
        table[point] = _DIGIT if category == "Nd" else by_category.get(category[0], _OTHER)
    table[9:14] = _SPACE
    return table
