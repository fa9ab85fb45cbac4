"""The index that comes with the package: it opens, is whole, holds no words, and gives rules on day one."""

from __future__ import annotations

from importlib.resources import files

import pytest

import headgate as hg
from headgate.learn.patterns.enumerate import TAU
from headgate.learn.patterns.pattern import LANGUAGE
from headgate.learn.patterns.settings import InferenceSettings

LARGEST = 20_000_000
COLUMNS = {
    "day": ([f"2019-03-{day:02d}" for day in range(1, 29)], "<digit>{4}-<digit>{2}-<digit>{2}"),
    "american day": (
        [f"{day % 12 + 1:02d}/{day:02d}/2019" for day in range(1, 29)],
        "<digit>{2}/<digit>{2}/<digit>{4}",
    ),
    "state": (["NY", "CA", "TX", "WA", "OR", "NV", "FL", "AZ"] * 5, "<upper>{2}"),
    "word": (["pending", "shipped", "lost", "returned"] * 10, "<lower>+"),
    "address": ([f"https://example.org/{word}/{at}" for at, word in enumerate(["a", "b", "c"] * 9)], "<url>"),
}


@pytest.fixture(scope="module")
def public() -> hg.PatternIndex:
    return hg.PatternIndex.public()


def test_every_byte_is_as_it_was_written(public: hg.PatternIndex) -> None:
    public.verify()
    assert (public.columns, public.about["tau"], public.about["language"]) == (77_383, TAU, LANGUAGE)
    assert public.stats().by_columns[10] == len(public)  # rare patterns are left out


def test_it_is_small_and_holds_no_words() -> None:
    data = (files("headgate.learn.patterns") / "public.hgi").read_bytes()
    assert len(data) < LARGEST
    for word in ("London", "Smith", "Democratic", "http", "2016-06-23"):
        assert word.encode() not in data
        assert word.encode("utf-32-le") not in data


@pytest.mark.parametrize("name", COLUMNS)
def test_well_known_columns_have_their_pattern_on_day_one(public: hg.PatternIndex, name: str) -> None:
    values, pattern = COLUMNS[name]
    rule = public.infer(values)
    assert str(rule) == pattern
    assert rule.alarm < InferenceSettings().limit
    for other, (theirs, _) in COLUMNS.items():
        assert rule.holds(theirs) == (other == name)
