"""Patterns and classes of characters equal a plain reference, value by value, however the values are laid out."""

from __future__ import annotations

import unicodedata
from collections import Counter
from itertools import groupby

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.metrics.base.codes import encode_bytes, pattern_label
from headgate.metrics.base.layout import find_layout
from headgate.metrics.base.patterns import _join_bits, _longest_run, _mark_runs
from headgate.metrics.base.text import LONGEST_PATTERNED, Texts

SYMBOLS = {"9": "9", "A": "A", "a": "a", "Aa": "Aa", "9A": "X", "9a": "x", "9Aa": "Xx", "": ""}
CHARACTERS = st.sampled_from("09aZ-_ .é中٣\x00\t\x7f\x1f")
VALUES = st.lists(st.text(CHARACTERS, max_size=12), min_size=1, max_size=60)
SHAPE = st.lists(st.sampled_from(["word", "-", ".", " ", "\t"]), min_size=1, max_size=24)


def describe(value: bytes) -> str:
    """The pattern of a value, read byte by byte."""
    kinds = ["word" if byte >= 128 or chr(byte).isalnum() else chr(byte) for byte in value[:LONGEST_PATTERNED]]
    parts, at = [], 0
    for kind, run in groupby("¶" if kind != "word" and (ord(kind) < 32 or kind == "\x7f") else kind for kind in kinds):
        size = len(list(run))
        piece = value[at : at + size]
        at += size
        plain = [chr(byte) for byte in piece if byte < 128]
        tests = {"9": str.isdigit, "A": str.isupper, "a": str.islower}
        found = "".join(name for name, test in tests.items() if any(map(test, plain)))
        parts.append(SYMBOLS[found] + "é" * (len(plain) < len(piece)) if kind == "word" else kind)
    return "".join(parts)


def count_patterns(array: pa.Array, weights: npt.NDArray[np.int64] | None = None) -> dict[str, int]:
    symbols, counts = Texts(array).patterns(weights)
    labels = [pattern_label(each) for each in symbols.to_pylist()]
    assert len(set(labels)) == len(labels)
    return dict(zip(labels, counts.tolist(), strict=True))


def expect(values: list[str], weights: list[int] | None = None) -> dict[str, int]:
    total: Counter[str] = Counter()
    for value, weight in zip(values, weights or [1] * len(values), strict=True):
        total[describe(value.encode())] += weight
    return dict(total)


@given(VALUES)
def test_any_values(values: list[str]) -> None:
    assert count_patterns(pa.array(values)) == expect(values)


@given(VALUES)
def test_runs_join_alike_whether_few_or_many(values: list[str]) -> None:
    codes = encode_bytes(np.frombuffer("-".join(["", *values, ""]).encode(), np.uint8))
    begins = _mark_runs(codes, np.zeros(1, np.int64))
    starts = np.flatnonzero(begins)
    many = _join_bits(codes, begins, _longest_run(starts, len(codes)))[starts]
    assert many.tolist() == np.bitwise_or.reduceat(codes, starts).tolist()


@given(VALUES, st.data())
def test_weighted_values(values: list[str], data: st.DataObject) -> None:
    weights = data.draw(st.lists(st.integers(1, 9), min_size=len(values), max_size=len(values)))
    assert count_patterns(pa.array(values), np.array(weights)) == expect(values, weights)


@given(SHAPE, st.data())
def test_values_of_one_layout(shape: list[str], data: st.DataObject) -> None:
    rows = st.tuples(*(st.sampled_from("09aZ") if each == "word" else st.just(each) for each in shape))
    few = data.draw(st.lists(rows.map("".join), min_size=1, max_size=8))
    values = [few[at % len(few)] for at in range(40)]
    words = sum(kind == "word" for kind, _ in groupby(shape, key=lambda each: each if each == "word" else ""))
    texts = Texts(pa.array(values))
    assert (find_layout(texts.codes, texts.offsets, LONGEST_PATTERNED) is None) == (words > 16)
    assert count_patterns(pa.array(values)) == expect(values)
    weights = list(range(1, 41))
    assert count_patterns(pa.array(values), np.array(weights)) == expect(values, weights)


@pytest.mark.parametrize("odd", ["a-b", "ab-1", "abc-d1", "abcd_1", "ab1d-é", ""])
def test_one_value_of_another_layout(odd: str) -> None:
    values = ["abcd-12"] * 50 + [odd]
    assert count_patterns(pa.array(values)) == expect(values)


def test_long_and_many_values() -> None:
    values = [f"{at:x}-{'Ab1' * (at % 200)}" for at in range(3_000)]
    assert count_patterns(pa.array(values)) == expect(values)
    assert count_patterns(pa.array(values).slice(5, 2_000)) == expect(values[5:2_005])


def test_hashes_with_16_and_17_words() -> None:
    for words in (1, 8, 9, 16, 17):
        values = ["-".join("1a"[(at >> word) & 1] for word in range(words)) for at in range(4_000)]
        assert count_patterns(pa.array(values)) == expect(values)


@given(VALUES, st.data())
def test_classes(values: list[str], data: st.DataObject) -> None:
    weights = data.draw(st.lists(st.integers(1, 9), min_size=len(values), max_size=len(values)))
    expected: Counter[str] = Counter()
    for value, weight in zip(values, weights, strict=True):
        for character in value:
            expected[classify(character)] += weight
    texts = Texts(pa.array(values))
    assert {name: count for name, count in texts.classes(np.array(weights)).items() if count} == expected
    repeated = Texts(pa.array([value for value, weight in zip(values, weights, strict=True) for _ in range(weight)]))
    assert repeated.classes() == texts.classes(np.array(weights))


def classify(character: str) -> str:
    category = unicodedata.category(character)
    if category.startswith("Z") or character in "\t\n\v\f\r":
        return "spaces"
    names = {"L": "letters", "P": "punctuation", "S": "punctuation"}
    return "digits" if category == "Nd" else names.get(category[0], "other")
