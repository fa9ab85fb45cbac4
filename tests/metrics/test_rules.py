"""How odd values count: every line of docs/values.md as a test."""

from __future__ import annotations

import hashlib
from collections import Counter
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headgate.engine.analyze import analyze
from headgate.metrics.base.registry import metrics
from headgate.values.key import MetricKey
from headgate.values.outcome import Distribution, Failed, Measured, Undefined
from headgate.values.schema import Kind
from tests.metrics.reference import OF_COLUMNS, PARAMETERS, Values
from tests.strategies import text_of_bytes

NAN, INFINITY = float("nan"), float("inf")


def of(values: Any, *names: str) -> list[Any]:
    """The values of some metrics of one column."""
    array = values if isinstance(values, pa.Array) else pa.array(values)
    found = analyze(pa.table({"x": array}), [f"{name}(x)" for name in names])
    return [found.value(f"{name}(x)") for name in names]


def counts(values: Any, name: str = "value_distribution") -> dict[str, int]:
    (found,) = of(values, name)
    assert isinstance(found, Distribution)
    return found.counts


def distinct(values: Any) -> float:
    approximate, exact = of(values, "dist_val_count", "count_distinct")
    assert approximate == exact
    return float(exact)


# --- null


def test_a_null_is_absent_and_only_completeness_counts_it() -> None:
    assert of([1.0, None, 3.0, None], "completeness", "mean", "finiteness", "median") == [0.5, 2.0, 1.0, 1.0]
    assert of(["a", None], "completeness", "str_len", "most_frequent_ratio", "unique_ratio") == [0.5, 1.0, 1.0, 1.0]


def test_a_null_is_no_value_of_a_distribution() -> None:
    assert counts(["a", None, "a"]) == {"a": 2}
    assert counts([None, 5, 5]) == {"5": 2}
    assert distinct(["a", None, None]) == 1


def test_a_null_is_no_mismatch_of_a_pattern() -> None:
    found = analyze(pa.table({"x": ["a1", "b", None, None]}), ['pattern_match(x, pattern="[0-9]")'])
    assert list(found.values()) == [Measured(0.5)]


def test_a_predicate_that_is_null_is_not_met() -> None:
    found = analyze(pa.table({"x": [1, 5, None, None]}), ['compliance(predicate="x > 2")'])
    assert list(found.values()) == [Measured(0.25)]


def test_a_row_that_is_null_in_every_grouping_column_is_in_no_group() -> None:
    table = pa.table({"a": [1, 1, None, None, None], "b": ["x", "x", "x", None, None]})
    found = analyze(table, ["count_distinct(a, b)", "uniqueness(a, b)", "uniqueness(a)"])
    assert [each.value for each in found.values() if isinstance(each, Measured)] == [2.0, 1 / 3, 0.0]


# --- NaN, infinities, zeros


def test_nan_is_present_but_no_number() -> None:
    values = [1.0, NAN, 3.0, NAN]
    assert of(values, "completeness", "finiteness") == [1.0, 0.5]
    assert of(values, "min", "max", "mean", "sum", "median", "stddev") == [1.0, 3.0, 2.0, 4.0, 1.0, 1.0]


def test_every_nan_is_one_value_labelled_nan() -> None:
    bits = np.array([0x7FF8000000000000, 0xFFF8000000000000, 0x7FF8000000000001], np.uint64).view(np.float64)
    assert distinct(pa.array(bits)) == 1
    assert counts(pa.array(bits)) == {"nan": 3}


def test_infinities_are_present_and_two_values() -> None:
    values = [1.0, INFINITY, -INFINITY, 3.0]
    assert of(values, "completeness", "finiteness") == [1.0, 0.5]
    assert counts([INFINITY, -INFINITY, INFINITY]) == {"inf": 2, "-inf": 1}


def test_infinities_are_extremes() -> None:
    assert of([1.0, INFINITY, 2.0], "min", "max", "range") == [1.0, INFINITY, INFINITY]
    assert of([1.0, -INFINITY, NAN], "min", "max", "range") == [-INFINITY, 1.0, INFINITY]
    assert of([INFINITY, None, NAN, INFINITY], "min", "max", "range") == [INFINITY, INFINITY, 0.0]
    assert of([-INFINITY, -INFINITY], "min", "max", "range") == [-INFINITY, -INFINITY, 0.0]
    assert of([INFINITY, -INFINITY], "min", "max", "range") == [-INFINITY, INFINITY, INFINITY]


def test_what_is_computed_with_numbers_leaves_infinities_out() -> None:
    values = [1.0, INFINITY, -INFINITY, 3.0]
    assert of(values, "mean", "sum", "stddev", "variance", "median") == [2.0, 4.0, 1.0, 1.0, 1.0]
    assert isinstance(analyze(pa.table({"x": [INFINITY, NAN]}), ["mean(x)"])["mean(x)"], Undefined)


def test_batches_of_infinities_alone_merge_with_others() -> None:
    parts = [[INFINITY], [2.0, 1.0], [NAN], [-INFINITY, 4.0]]
    found = [analyze(pa.table({"x": part}), ["min(x)", "max(x)", "mean(x)"]) for part in parts]
    assert (found[0] + found[1]).to_dict() == (found[1] + found[0]).to_dict()
    whole = found[0] + found[1] + found[2] + found[3]
    assert [whole.value(name) for name in ("min(x)", "max(x)")] == [-INFINITY, INFINITY]
    assert whole.value("mean(x)") == pytest.approx(7 / 3)
    assert (found[1] + found[2]).value("max(x)") == 2.0


def test_a_correlation_is_over_the_rows_where_both_are_finite() -> None:
    table = pa.table({"a": [1.0, 2.0, NAN, 4.0, INFINITY], "b": [2.0, 4.0, 9.0, None, 1.0]})
    assert analyze(table, ["correlation(a, b)"]).value("correlation(a, b)") == pytest.approx(1.0)


def test_negative_zero_is_zero() -> None:
    assert distinct([0.0, -0.0]) == 1
    assert counts([0.0, -0.0]) == {"0.0": 2}
    assert str(of([-0.0], "min")[0]) == "0.0"


@pytest.mark.parametrize(
    "name", ["variance", "kurtosis", "skewness", "sum", "mean", "range", "histogram", "correlation"]
)
def test_numbers_past_a_double_are_undefined_and_never_nan_or_infinite(name: str) -> None:
    table = pa.table({"x": [1.7e308, 1.7e308, -1.7e308, -1.6e308, 3.0], "y": [1.0, 2.0, 3.0, 4.0, 5.0]})
    parts = [
        analyze(part, [MetricKey(name, ("x", "y") if name == "correlation" else ("x",))]) for part in halves(table)
    ]
    (outcome,) = (parts[0] + parts[1]).values()
    assert isinstance(outcome, Undefined) or (isinstance(outcome, Measured) and np.isfinite(outcome.value))


def halves(table: pa.Table) -> list[pa.Table]:
    return [table.slice(0, 2), table.slice(2)]


@pytest.mark.parametrize("name", ["variance", "stddev"])
def test_equal_numbers_do_not_vary(name: str) -> None:
    assert of([0.1] * 3, name) == [0.0]


@pytest.mark.parametrize("name", ["skewness(x)", "kurtosis(x)", "correlation(x, y)", "correlation(y, x)"])
def test_the_shape_of_equal_numbers_is_undefined(name: str) -> None:
    found = analyze(pa.table({"x": [0.1, 0.1, 0.1], "y": [1.0, 2.0, 4.0]}), [name])
    assert [type(outcome) for outcome in found.values()] == [Undefined]


def test_numbers_far_from_zero_keep_their_variance() -> None:
    values = 1e9 + np.random.default_rng(1).random(20_000)
    table = pa.table({"x": values})
    parts = [analyze(table.slice(at, 100), ["variance(x)"]) for at in range(0, len(table), 100)]
    merged = parts[0]
    for part in parts[1:]:
        merged = merged + part
    exact = float(np.var(values - 1e9))
    assert analyze(table, ["variance(x)"]).value("variance(x)") == pytest.approx(exact, abs=1e-7)
    assert merged.value("variance(x)") == pytest.approx(exact, abs=1e-7)


# --- text


def test_the_empty_string_is_a_value_of_length_zero() -> None:
    assert of(["", "ab"], "completeness", "min_length", "str_len", "unique_ratio") == [1.0, 0.0, 1.0, 1.0]
    assert counts(["", "", "a"]) == {"": 2, "a": 1}
    assert counts(["", "a"], "pattern_distribution") == {"": 1, "a": 1}
    assert counts([""], "data_type") == {"string": 1}


def test_a_length_is_in_characters_and_for_binary_in_bytes() -> None:
    assert of(["é", "中文", "😀😀😀"], "min_length", "max_length", "str_len") == [1.0, 3.0, 2.0]
    assert of(["é".encode(), "中文".encode()], "min_length", "max_length") == [2.0, 6.0]


def test_letters_digits_and_punctuation_are_those_of_unicode() -> None:
    assert of(["Añ中Ж", "1١९", "«€!", "½\u0301"], "char_len", "digit_len", "punc_len") == [1.0, 0.75, 0.75]


def test_a_run_beyond_ascii_ends_in_e_acute_in_a_pattern() -> None:
    shown = {"Zoë": "Aaé", "x1é": "xé", "中文": "é", "中文-1": "é-9", "É": "é"}
    assert counts(list(shown), "pattern_distribution") == Counter(shown.values())


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string()], ids=str)
def test_bytes_that_are_not_utf8_are_no_error_and_shown_escaped(kind: pa.DataType) -> None:
    table = pa.table({"x": text_of_bytes([b"\xff", b"ok", b"\xff", None, b"\xe2\x82"], kind)})
    found = analyze(table)
    assert [outcome for outcome in found.values() if isinstance(outcome, Failed)] == []
    assert found.value("value_distribution(x)").counts == {"\\xff": 2, "ok": 1, "\\xe2\\x82": 1}
    assert found.value("completeness(x)") == 0.8
    assert round(found.value("approx_count_distinct(x)")) == 3


@pytest.mark.parametrize("after", [b"x", b"\x80", b"\x82\xac", b"\xac", b""], ids=repr)
@pytest.mark.parametrize("cut", [b"\xc3", b"\xe2", b"\xe2\x82", b"\xf0\x9f\x98"], ids=repr)
def test_a_character_cut_short_takes_no_bytes_of_the_next_value(cut: bytes, after: bytes) -> None:
    names = [f"{name}_len(x)" for name in ("char", "digit", "punc")]
    alone = [analyze(pa.table({"x": text_of_bytes([value], pa.string())}), names) for value in (cut, after)]
    together = analyze(pa.table({"x": text_of_bytes([cut, after], pa.string())}), names)
    assert together.outcomes == (alone[0] + alone[1]).outcomes


def test_every_metric_of_text_takes_bytes_that_are_not_utf8() -> None:
    bad = text_of_bytes([b"\xff\xfe", b"\x80", b"\xf0\x9f\x98", b"a\xc3", b"\xed\xa0\x80", b"12"] * 3, pa.string())
    asked = [name for name in OF_COLUMNS if Kind.STRING in metrics()[name].accepts and name != "pattern_match"]
    found = analyze(pa.table({"x": bad}), [*(f"{name}(x)" for name in asked), 'pattern_match(x, pattern="a")'])
    assert {str(key): outcome for key, outcome in found.items() if not isinstance(outcome, Measured)} == {}


def test_white_space_is_space_and_other_controls_are_neither_space_nor_punctuation() -> None:
    assert of(["\t\n\x0b\x0c\r \u00a0", "\x00\x1f\x7f"], "char_len", "digit_len", "punc_len") == [0.0, 0.0, 0.0]
    assert counts(["a\tb", "a\x00\x01b"], "pattern_distribution") == {"a¶a": 2}


def test_very_long_values_are_told_apart_whole_but_shown_short() -> None:
    same = "x" * 5_000
    one, two = same + "1", same + "2"
    assert distinct([one, two, one]) == 2
    digest = hashlib.blake2b(one.encode(), digest_size=8).hexdigest()
    assert sorted(counts([one, two, one]).values()) == [1, 2]
    assert f"{'x' * 200}… (5,001 bytes, {digest})" in counts([one])
    assert of([one], "max_length") == [5_001.0]


def test_a_pattern_looks_at_the_first_256_bytes() -> None:
    assert counts(["a" * 256 + "1", "a" * 255 + "-1"], "pattern_distribution") == {"a": 1, "a-": 1}


def test_text_looks_like_the_first_type_that_fits() -> None:
    looks = {"integral": ["1", " -2 "], "fractional": ["1.5", ".5", "1e9"], "boolean": ["TRUE"], "date": ["2026-11-15"]}
    looks |= {"timestamp": ["2026-11-15 10:00", "2026-11-15T10:00:00.1+01:00"], "string": ["", "1a", "١", "nan"]}
    values = [text for texts in looks.values() for text in texts]
    assert counts(values, "data_type") == {name: len(texts) for name, texts in looks.items()}


TEXT_METRICS = [name for name in OF_COLUMNS if metrics()[name].accepts <= {Kind.STRING, Kind.BINARY}]


@settings(max_examples=60)
@given(
    st.lists(
        st.one_of(
            st.text(st.characters(max_codepoint=0x31FFF, exclude_categories=["Cs"]), max_size=10),
            st.text("aB1 -.\t\x7fé中", max_size=10),
            st.from_regex(r"[ ]?[-+]?[0-9]{0,3}(\.[0-9]{1,2})?(e[0-9])?", fullmatch=True),
        ),
        min_size=1,
        max_size=20,
    )
)
def test_any_text_is_measured_as_its_references_say(texts: list[str]) -> None:
    keys = {name: MetricKey(name, ("x",), PARAMETERS.get(name, ())) for name in TEXT_METRICS}
    found = analyze(pa.table({"x": pa.array(texts, pa.string())}), list(keys.values()))
    for name, key in keys.items():
        match found[key]:
            case Measured(Distribution() as spread):
                assert spread.counts == OF_COLUMNS[name](Values(texts)), name
            case Measured(value):
                assert value == pytest.approx(OF_COLUMNS[name](Values(texts)), abs=1e-9), name
            case Undefined():
                assert OF_COLUMNS[name](Values(texts)) is None, name


# --- numbers by type


def test_integers_never_overflow_and_are_told_apart_by_all_64_bits() -> None:
    values = [2**63 - 1, 2**63 - 2, -(2**63), -(2**63) + 1]
    assert distinct(values) == 4
    assert counts(values) == {str(value): 1 for value in values}
    assert of([2**62] * 4, "sum", "mean", "max") == [2.0**64, 2.0**62, 2.0**62]


def test_unsigned_integers_are_told_apart_by_all_64_bits() -> None:
    values = pa.array([2**64 - 1, 2**64 - 2, 0], pa.uint64())
    assert distinct(values) == 3
    assert counts(values) == {str(2**64 - 1): 1, str(2**64 - 2): 1, "0": 1}


@pytest.mark.parametrize("scale", range(19))
def test_a_decimal_of_any_scale_is_the_nearest_double(scale: int) -> None:
    value = Decimal(f"7E-{scale}")
    assert of(pa.array([value], pa.decimal128(18, scale)), "min", "mean", "sum") == [float(value)] * 3


@pytest.mark.parametrize("kind", [pa.decimal128(18, 2), pa.decimal128(38, 18), pa.decimal256(60, 2)], ids=str)
def test_decimals_are_exact_in_distinct_counts_and_frequencies(kind: pa.DataType) -> None:
    top = 10 ** (min(kind.precision - kind.scale, 16))
    values = [Decimal(top - 1), Decimal(top - 2), Decimal(top - 2), None]
    assert distinct(pa.array(values, kind)) == 2
    assert sorted(counts(pa.array(values, kind)).values()) == [1, 2]
    assert {Decimal(label) for label in counts(pa.array(values, kind))} == {Decimal(top - 1), Decimal(top - 2)}


def test_the_largest_decimals_are_measured_without_overflow() -> None:
    most = Decimal(10**20 - 1)
    assert of(pa.array([most, -most, most], pa.decimal128(38, 18)), "max", "sum") == [1e20, 1e20]


def test_booleans_are_zero_and_one() -> None:
    assert of([True, False, True, None], "mean", "sum", "min", "max") == [2 / 3, 2.0, 0.0, 1.0]
    assert counts([True, False, True]) == {"true": 2, "false": 1}


def test_dates_and_timestamps_are_seconds_since_1970_and_shown_as_such() -> None:
    assert of([date(1970, 1, 3), date(1969, 12, 31)], "min", "max", "range") == [-86_400.0, 172_800.0, 259_200.0]
    moments = pa.array([datetime(1970, 1, 1, 0, 0, 1, 500_000), datetime(2026, 11, 15)])
    assert of(moments, "min") == [1.5]
    shown = repr(analyze(pa.table({"d": [date(2026, 11, 15)], "t": moments.slice(1)}), ["max(d)", "max(t)"]))
    assert "2026-11-15" in shown
    assert "2026-11-15 00:00:00" in shown


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
@pytest.mark.parametrize("zone", [None, "UTC", "America/New_York"])
def test_a_timestamp_is_the_same_in_every_unit_and_zone(unit: str, zone: str | None) -> None:
    array = pa.array([datetime(2026, 11, 15, 12, tzinfo=UTC), None], pa.timestamp(unit, zone or "UTC"))
    array = array if zone else array.cast(pa.timestamp(unit))
    assert of(array, "max", "completeness") == [datetime(2026, 11, 15, 12, tzinfo=UTC).timestamp(), 0.5]
    assert counts(array) == {"2026-11-15 12:00:00.000000": 1}


def test_nanoseconds_are_cut_to_microseconds() -> None:
    array = pa.array([1_000, 1_999, -1], pa.int64()).view(pa.timestamp("ns"))
    assert distinct(array) == 2
    assert of(array, "max", "min") == [1e-6, -1e-6]


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_timestamps_past_what_can_be_shown_are_no_error(unit: str) -> None:
    array = pa.array([2**63 - 1, -(2**63) + 1, 0], pa.int64()).view(pa.timestamp(unit))
    found = analyze(pa.table({"x": array}))
    assert [outcome for outcome in found.values() if isinstance(outcome, Failed)] == []
    assert "x" in repr(found)


@pytest.mark.parametrize(
    "array",
    [
        pa.array([[1], None, []]),
        pa.array([{"a": 1}, None, {"a": None}]),
        pa.array([[("k", 1)], None, []], pa.map_(pa.string(), pa.int64())),
        pa.array([1, None, 2], pa.duration("s")),
        pa.array([1, None, 2], pa.time64("us")),
        pa.array([pa.MonthDayNano((1, 2, 3)), None, pa.MonthDayNano((0, 0, 0))]),
    ],
    ids=lambda array: str(array.type),
)
def test_of_nested_and_exotic_values_only_the_presence_counts(array: pa.Array) -> None:
    found = analyze(pa.table({"x": array}), ["completeness(x)", "mean(x)", "value_distribution(x)"])
    completeness, mean, spread = found.values()
    assert completeness == Measured(2 / 3)
    assert isinstance(mean, Failed)
    assert isinstance(spread, Failed)
    assert str(array.type) in mean.why
    of_column = {str(key) for key in analyze(pa.table({"x": array})) if key.columns in ((), ("x",))}
    assert of_column == {"size()", "completeness(x)"}


def test_a_column_of_nothing_but_nulls_has_no_values() -> None:
    found = analyze(pa.table({"x": pa.nulls(3), "y": pa.array([None] * 3, pa.int64())}))
    assert found.value("completeness(x)") == 0.0
    assert found["mean(y)"] == Undefined("no values in scope")


# --- frames


def test_nan_and_none_are_null_in_pandas() -> None:
    frame = pd.DataFrame({"f": [1.0, NAN, 3.0], "s": ["a", None, NAN], "t": pd.to_datetime(["2026-11-15", None, None])})
    found = analyze(frame, ["completeness(f)", "finiteness(f)", "completeness(s)", "completeness(t)"])
    assert [outcome.value for outcome in found.values() if isinstance(outcome, Measured)] == [2 / 3, 1.0, 1 / 3, 1 / 3]


@pytest.mark.parametrize(
    "objects", [["a", 1, None], [2**70, 1, None], [object(), "x", None]], ids=["mixed", "huge", "any"]
)
def test_a_pandas_column_that_arrow_cannot_take_is_other_and_costs_no_other_column(objects: list[Any]) -> None:
    found = analyze(pd.DataFrame({"x": pd.Series(objects, dtype=object), "y": [1, 2, 3]}))
    assert found.value("completeness(x)") == 2 / 3
    assert found.value("mean(y)") == 2.0
    assert found.schema.columns[0].kind is Kind.OTHER


def test_the_second_column_of_one_name_is_asked_for_by_its_number() -> None:
    table = pa.table([pa.array([1]), pa.array([2]), pa.array([3])], names=["a", "a", "a#2"])
    found = analyze(table, ["mean(a)", 'mean("a#3")', 'mean("a#2")'])
    assert [outcome.value for outcome in found.values() if isinstance(outcome, Measured)] == [1.0, 2.0, 3.0]


# --- nothing to measure


@pytest.mark.parametrize("name", [name for name in OF_COLUMNS if name != "pattern_match"])
def test_a_metric_over_no_rows_is_undefined_or_a_count_of_none(name: str) -> None:
    kind = pa.string() if Kind.STRING in metrics()[name].accepts else pa.float64()
    (outcome,) = analyze(pa.table({"x": pa.array([], kind)}), [f"{name}(x)"]).values()
    if name in {"sum", "approx_count_distinct", "dist_val_count"}:
        assert outcome == Measured(0.0)
    else:
        assert isinstance(outcome, Undefined)
        assert outcome.why.startswith("no ")
