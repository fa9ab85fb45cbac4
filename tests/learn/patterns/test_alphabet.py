"""Classes of characters: the table and the ranges of regular expressions agree."""

from __future__ import annotations

import re
import sys

import numpy as np
import pytest

from headgate.learn.patterns import alphabet
from headgate.learn.patterns.alphabet import DIGIT, LETTER, LETTERS_BEYOND, LOWER, SYMBOL, UPPER, classify_codes


def classes_of(text: str) -> list[int]:
    return classify_codes(np.array([ord(char) for char in text], dtype=np.uint32)).tolist()


def test_ascii_has_digits_cases_and_symbols() -> None:
    assert classes_of("09AZaz") == [DIGIT, DIGIT, UPPER, UPPER, LOWER, LOWER]
    assert set(classes_of("/:@[`{ \x00\x7f")) == {SYMBOL}


@pytest.mark.parametrize("char", ["\xa0", "\xbf", "\u2019", "\u20ac", "\u3000"])
def test_punctuation_spaces_and_currencies_beyond_ascii_are_symbols(char: str) -> None:
    assert classes_of(char) == [SYMBOL]


@pytest.mark.parametrize("char", ["\xc0", "é", "中", "\u2070", "😀", "\U0010ffff"])
def test_everything_else_beyond_ascii_is_a_letter_without_case(char: str) -> None:
    assert classes_of(char) == [LETTER]


def test_the_regular_expression_and_the_table_agree_on_every_code_point_beyond_ascii() -> None:
    codes = np.arange(0x80, sys.maxunicode + 1, dtype=np.uint32)
    letters = "".join(chr(code) for code in codes[classify_codes(codes) == LETTER])
    symbols = "".join(chr(code) for code in codes[classify_codes(codes) == SYMBOL])
    assert re.fullmatch(f"[{LETTERS_BEYOND}]*", letters)
    assert re.fullmatch(f"[^{LETTERS_BEYOND}]*", symbols)


def test_the_symbols_of_a_phrase_are_taken_literally_in_a_character_class() -> None:
    inside = re.compile(f"[{alphabet.PHRASE_SYMBOLS}]")
    assert all(inside.fullmatch(char) for char in alphabet.PHRASE_SYMBOLS)
    assert not any(inside.fullmatch(char) for char in "0aA*+:")
