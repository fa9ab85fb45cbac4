"""Classifies characters as symbols, digits and letters, in the same way as the character classes of patterns do.

Beyond ASCII, the blocks of punctuation, spaces and currencies are symbols and every other character is a letter
without case. Ranges of code points are used because Python, RE2 and Java agree on them and on nothing finer.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

SYMBOL, DIGIT, UPPER, LOWER, LETTER = range(5)

Codes: TypeAlias = npt.NDArray[np.uint32]
Classes: TypeAlias = npt.NDArray[np.uint8]
Numbers: TypeAlias = npt.NDArray[Any]

# The first and the last code point of each block of symbols beyond ASCII.
SYMBOL_BLOCKS = ((0x80, 0xBF), (0x2000, 0x206F), (0x20A0, 0x20CF), (0x3000, 0x303F))
LAST_CODE = 0x10FFFF

PHRASE_SYMBOLS = " .,'&/()\u2019-"
"""The symbols allowed between the words of a phrase. The hyphen is last, where a character class takes it literally."""


def _make_table() -> Classes:
    table = np.full(256, SYMBOL, dtype=np.uint8)
    table[ord("0") : ord("9") + 1] = DIGIT
    table[ord("A") : ord("Z") + 1] = UPPER
    table[ord("a") : ord("z") + 1] = LOWER
    table[0xC0:] = LETTER
    return table


_CLASS_BELOW_256 = _make_table()


def classify_codes(codes: Codes) -> Classes:
    """The class of each code point."""
    classes = _CLASS_BELOW_256[np.minimum(codes, 255)]
    beyond = codes > 255
    if beyond.any():
        classes[beyond] = LETTER
        for first, last in SYMBOL_BLOCKS[1:]:
            classes[(codes >= first) & (codes <= last)] = SYMBOL
    return classes


def _letters_beyond() -> str:
    """The ranges of code points beyond ASCII that are letters, as members of a character class."""
    starts = [last + 1 for _, last in SYMBOL_BLOCKS]
    ends = [first - 1 for first, _ in SYMBOL_BLOCKS[1:]] + [LAST_CODE]
    return "".join(f"{chr(start)}-{chr(end)}" for start, end in zip(starts, ends, strict=True))


LETTERS_BEYOND = _letters_beyond()
