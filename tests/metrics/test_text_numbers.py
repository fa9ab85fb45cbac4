"""Which texts count as numbers, and what is measured of them."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import headgate as hg
from headgate.engine.analyze import analyze
from headgate.metrics.base.registry import metrics
from headgate.metrics.states.text_numbers import TextNumbers
from headgate.values.outcome import Failed, Undefined

ASKED = ["text_min(x)", "text_max(x)", "text_mean(x)"]


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("12", 12.0),
        ("+5", 5.0),
        (" -3.5\t", -3.5),
        ("1.", 1.0),
        (".5", 0.5),
        ("1e9", 1e9),
        ("2E-3", 0.002),
        ("007", 7.0),
        ("-0", 0.0),
        ("9" * 300, float("9" * 300)),
    ],
)
def test_a_text_that_looks_like_a_number_counts_with_it(text: str, number: float) -> None:
    found = analyze(pa.table({"x": [text, "word", None]}), ASKED)
    assert [found.value(key) for key in ASKED] == [number] * 3


@pytest.mark.parametrize(
    "text",
    ["", " ", "1,000", "$5", "0x10", "nan", "inf", "-infinity", "1_000", "١٢٣", "1e", "1 2", "true", "2026-11-15", "."],
)
def test_other_texts_are_left_out(text: str) -> None:
    found = analyze(pa.table({"x": [text]}), ASKED)
    assert [found[key] for key in ASKED] == [Undefined("no value looks like a number")] * 3


@pytest.mark.parametrize("text", ["1e400", "-1e400", "9" * 400])
def test_a_number_past_the_range_of_a_double_is_left_out(text: str) -> None:
    assert analyze(pa.table({"x": [text, "3"]}), ASKED).value("text_max(x)") == 3.0
    assert isinstance(analyze(pa.table({"x": [text]}), ASKED)["text_mean(x)"], Undefined)


def test_the_sum_may_be_too_large_while_the_extremes_are_not() -> None:
    found = analyze(pa.table({"x": ["1.7e308", "1.6e308"]}), ASKED)
    assert found["text_mean(x)"] == Undefined("the sum is too large for a double")
    assert found.value("text_max(x)") == 1.7e308


@pytest.mark.parametrize("distinct", [7, 40_000], ids=["few values", "nearly unique"])
def test_repeated_texts_count_as_often_as_they_occur(distinct: int) -> None:
    numbers = np.random.default_rng(5).integers(0, distinct, 20_000)
    found = analyze(pa.table({"x": [f"{each}" for each in numbers]}), ASKED)
    assert [found.value(key) for key in ASKED] == pytest.approx([numbers.min(), numbers.max(), numbers.mean()])
    (state,) = found.states.values()
    assert isinstance(state, TextNumbers)
    assert state.quantiles.total == 20_000
    rank = np.mean(numbers <= state.quantiles.quantile(0.5))
    assert abs(rank - np.mean(numbers <= np.median(numbers))) < 0.03


def test_only_text_has_numbers_in_it() -> None:
    assert isinstance(analyze(pa.table({"x": [1]}), ["text_min(x)"])["text_min(x)"], Failed)


def test_they_are_measured_only_when_asked_for() -> None:
    names = ("text_min", "text_max", "text_mean", "type_ratio", "ratio_of_sums", "predictability")
    assert [name for name in names if metrics()[name].default] == []
    assert hg.TextMin("x").state_key == hg.TextMax("x").state_key == hg.TextMean("x").state_key
