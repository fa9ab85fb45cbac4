"""Tokens of whole columns against a plain reading of each value."""

from __future__ import annotations

import unicodedata
from datetime import date, datetime
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.metrics.base.arrow import kind_of
from headgate.metrics.base.batch import ColumnBatch
from headgate.metrics.base.tokens import BUCKETS, tokens_of

MOST = 5


def tokens(array: pa.Array, place: int = 0, most: int = MOST) -> list[list[int]]:
    found = tokens_of(ColumnBatch(array, kind_of(array.type)), np.arange(len(array)), place, most)
    flat, ends = found.in_a_row().tolist(), np.cumsum(found.sizes).tolist()
    return [flat[end - size : end] for end, size in zip(ends, found.sizes.tolist(), strict=True)]


def read(text: str | None) -> list[tuple[str, str]]:
    """The whole value, then its words, in lower case."""
    if text is None:
        return []
    lowered = "".join(each if each.isascii() or not breaks(each) else " " for each in text.lower())
    words = "".join(" " if breaks(each) else each for each in lowered).split(" ")
    return [("whole", lowered), *(("word", word) for word in words if word)][:MOST]


def breaks(character: str) -> bool:
    if character.isascii():
        return not character.isalnum()
    return unicodedata.category(character)[0] in "PSZ"


TEXTS = st.one_of(
    st.none(),
    st.text(alphabet="abAB01 -_./", max_size=12),
    st.text(alphabet=st.characters(max_codepoint=0x1FFFF, exclude_categories=["Cs"]), max_size=8),
    st.sampled_from(["", "San José", "SAN JOSÉ", "中文，字", "a\u0301b", "नमस्ते दुनिया", "x😀y", "a–b", "½ ℵ₀"]),
)


@given(st.lists(TEXTS, max_size=20))
def test_each_value_has_the_tokens_that_a_reader_finds(values: list[str | None]) -> None:
    found = tokens(pa.array(values, pa.string()))
    named: dict[tuple[str, str], int] = {}
    for value, buckets in zip(values, found, strict=True):
        expected = read(value)
        assert len(buckets) == len(expected)
        assert [named.setdefault(token, bucket) for token, bucket in zip(expected, buckets, strict=True)] == buckets


@pytest.mark.parametrize(
    ("values", "texts"),
    [
        (pa.array([1, -20, None]), ["1", "-20", None]),
        (pa.array([1.5, -0.0, float("nan"), None]), ["1.5", "0.0", "nan", None]),
        (pa.array([True, False, None]), ["true", "false", None]),
        (pa.array([Decimal("1.50"), Decimal("-3.25"), None]), ["1.50", "-3.25", None]),
        (pa.array([Decimal("1.50"), None], pa.decimal128(38, 2)), ["1.50", None]),
        (pa.array([date(2026, 11, 15), None]), ["2026-11-15", None]),
        (pa.array([datetime(2026, 11, 15, 3, 4, 5), None]), ["2026-11-15 03:04:05.000000", None]),
        (pa.array([b"Ab c", None]), ["ab C", None]),
    ],
)
def test_other_kinds_have_the_tokens_of_their_text(values: pa.Array, texts: list[Any]) -> None:
    assert tokens(values) == tokens(pa.array(texts, pa.string()))


def test_tokens_spread_over_all_buckets() -> None:
    every = [bucket for row in tokens(pa.array([f"w{at}" for at in range(20_000)])) for bucket in row]
    counts = np.bincount(every, minlength=BUCKETS)
    assert len(counts) == BUCKETS
    # 40,000 tokens into 4,096 buckets: the variance of a fair draw is its mean
    assert 0.85 < counts.var() / counts.mean() < 1.15


def test_the_place_of_a_column_changes_every_token() -> None:
    array = pa.array(["some words here"])
    assert not set(tokens(array, place=0)[0]) & set(tokens(array, place=1)[0])


def test_one_token_is_the_whole_value() -> None:
    assert tokens(pa.array(["a b", "c"]), most=1) == [row[:1] for row in tokens(pa.array(["a b", "c"]))]


def test_bytes_that_are_no_text_are_read_all_the_same() -> None:
    raw = pa.array([b"\xff", b"ab \xc3", b"ab"], pa.binary())
    broken = pa.Array.from_buffers(pa.string(), len(raw), raw.buffers())
    first, second, third = tokens(broken)
    assert len(first) == 2
    assert len(second) == 3
    assert second[1] == third[1]
