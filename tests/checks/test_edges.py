"""What a batch or a check at the edge must not do: pass in silence, blame the wrong rows, or break."""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import headgate as hg
from headgate.evaluate.measurements import _group_by_finest
from headgate.values.errors import MisuseError
from tests.strategies import TEXT_VIEWS

ORDERS = pa.table({"id": [1, 2, 2], "price": [1.0, 2.0, 3.0]})


def check() -> Any:
    return hg.Check("edges")


def statuses(data: Any, rules: hg.Check, **given: Any) -> list[str]:
    return [each.status.value for each in hg.verify(data, rules, **given).judgements]


def reader(table: pa.Table) -> pa.RecordBatchReader:
    return table.to_reader(max_chunksize=2)


# --- no silence


def test_an_anomaly_of_a_column_that_is_not_there_is_an_error_and_not_a_wait_for_its_past() -> None:
    rules = check().has_no_anomalies("mean(prise)", hg.OnlineNormal())
    store = hg.open_store("memory:")
    assert statuses(ORDERS, rules, store=store, dataset="orders", partition="1") == ["error"]


def test_an_anomaly_needs_the_partition_so_that_no_batch_is_held_against_itself() -> None:
    with pytest.raises(MisuseError, match="which partition"):
        hg.verify(
            ORDERS, check().has_no_anomalies("size()", hg.OnlineNormal()), store=hg.open_store("memory:"), dataset="o"
        )


@pytest.mark.parametrize("rule", [("is_fresh", "ts", "1h"), ("has_min", "ts")])
def test_a_date_is_not_held_against_plain_numbers(rule: tuple[str, ...]) -> None:
    said = {} if rule[0] == "is_fresh" else {"at_least": date(1970, 1, 1)}
    found = hg.verify(pa.table({"ts": [1_500_000_000_000]}), check().with_rule(*rule, **said))
    assert found.status is hg.Status.ERROR
    assert "no date can be held against" in found.judgements[0].reason


@pytest.mark.parametrize("predicate", ["p * q > 5", "p + q > 5", "0 - p - q < 5"])
def test_arithmetic_that_overflows_is_an_error(predicate: str) -> None:
    table = pa.table({"p": pa.array([100], pa.int8()), "q": pa.array([100], pa.int8())})
    table = table if "-" not in predicate else table.set_column(0, "p", pa.array([-(2**63)], pa.int64()))
    assert statuses(table, check().satisfies(predicate)) == ["error"]


# --- what can be read once


def test_another_table_may_be_a_reader_that_several_rules_ask() -> None:
    rules = check().matches_table(table="o").is_contained_in_table("id", table="o").has_row_count_match("o")
    found = hg.verify(ORDERS, rules, tables={"o": reader(ORDERS)})
    assert found.passed
    assert found.rows(ORDERS).num_rows == 0


def test_a_reader_that_was_verified_cannot_give_its_rows() -> None:
    batch = reader(ORDERS.append_column("n", pa.array(["a", "b", "c"])))
    found = hg.verify(batch, check().is_unique("id").has_size(at_least=1, by="id").has_size(at_least=1, by="n"))
    assert [each.status.value for each in found.judgements] == ["fail"] + ["pass"] * (2 + 3)
    with pytest.raises(MisuseError, match="read once"):
        found.rows(batch)


# --- the right rows


def test_rows_that_meet_what_too_many_meet_are_to_blame() -> None:
    table = pa.table({"p": [-1, 2, None]})
    found = hg.verify(table, check().satisfies("p < 0", equals=0))
    assert found.rows(table)["p"].to_pylist() == [-1]
    assert hg.verify(table, check().is_complete("p", one_of=[0.25, 1])).rows(table).num_rows == 1


# --- values that are large, or of another width


def test_a_large_outlier_fails_a_range_instead_of_breaking_it() -> None:
    table = pa.table({"x": [5, 10**17], "y": [0.5, 1e18]})
    rules = check().is_in_range("x", 0, 1e6).is_less_than("x", "y").satisfies("x < 9223372036854775807")
    assert statuses(table, rules) == ["fail", "fail", "pass"]
    assert hg.verify(table, check().is_in_range("x", 0, 1e6)).rows(table)["x"].to_pylist() == [10**17]


@pytest.mark.parametrize(("precision", "scale"), [(38, 20), (38, 0), (10, 2)])
def test_decimals_of_any_scale_are_held_against_whole_numbers(precision: int, scale: int) -> None:
    table = pa.table({"d": pa.array([Decimal(5), Decimal(-2), None], pa.decimal128(precision, scale)), "i": [4, -2, 1]})
    rules = check().is_non_negative("d").is_in_range("d", -2, 4).is_greater_than_or_equal_to("d", "i")
    assert [each.value for each in hg.verify(table, rules).judgements] == [0.5, 0.5, 1.0]


@pytest.mark.parametrize(
    "make", [lambda nothing: nothing, pa.Table.to_pandas, pl.from_arrow], ids=["arrow", "pandas", "polars"]
)
def test_a_column_without_a_type_is_one_without_values(make: Any) -> None:
    batch = make(pa.table({"v": pa.nulls(2), "id": [1, 2]}))
    rules = check().is_unique("v").has_pattern("v", "^a").has_mean("v", at_least=1).has_entropy("v", at_least=0)
    rules = rules.is_positive("v").has_correlation("v", "id", at_least=0).has_no_duplicate_rows().is_complete("v")
    assert statuses(batch, rules) == ["skip"] * 6 + ["pass", "fail"]


@pytest.mark.parametrize(
    ("mine", "theirs", "share"),
    [
        (pa.array([1, 2], pa.int32()), pa.array([1, 2**40], pa.int64()), 0.5),
        (pa.array([1.0, None]), pa.array([1, 7]), 1.0),
        (pa.array([1, 2]), pa.array([1.0, 2.5]), 0.5),
        (
            pa.array([datetime(2026, 1, 1)], pa.timestamp("s")),
            pa.array([datetime(2026, 1, 1), datetime(2026, 1, 1, 0, 0, 0, 1)], pa.timestamp("us")),
            1.0,
        ),
        (pa.array([Decimal("1.50")], pa.decimal128(5, 2)), pa.array([Decimal("1.5")], pa.decimal128(5, 1)), 1.0),
    ],
    ids=["int32", "float against int", "int against float", "seconds", "decimal"],
)
def test_a_foreign_key_is_compared_by_value_whatever_its_width(mine: Any, theirs: Any, share: float) -> None:
    rules = check().is_contained_in_table("k", table="o")
    found = hg.verify(pa.table({"k": mine}), rules, tables={"o": pa.table({"k": theirs})})
    assert found.judgements[0].value == share


def test_a_text_that_spark_would_read_a_variable_in_is_a_text() -> None:
    table = pa.table({"k": ["${x}", "c", "d"]})
    found = hg.verify(table, check().is_contained_in("k", ["${x}", "c"]).has_size(at_least=2, by="k"))
    assert [each.status.value for each in found.judgements] == ["fail"] * 4
    assert found.rows(table)["k"].to_pylist() == ["d"]


# --- frames


def test_a_pandas_column_may_be_named_collect() -> None:
    frame = pd.DataFrame({"collect": [1, None]})
    bad = hg.verify(frame, check().is_complete("collect")).rows(frame)
    assert len(bad) == 1
    assert bad["headgate_reasons"].iloc[0][0]["level"] == "error"
    assert type(bad["headgate_reasons"].iloc[0][0]["level"]) is str


def test_a_day_beyond_the_year_9999_is_shown() -> None:
    table = pa.table({"d": pa.array([3_000_000, 1], pa.date32())})
    found = hg.verify(table, check().has_max("d", at_most=date(2026, 1, 1)))
    assert "max(d)" in found.explain()
    assert found.rows(table).num_rows == 1


@pytest.mark.parametrize("kind", [*TEXT_VIEWS, pa.large_string(), pa.dictionary(pa.int8(), pa.string())])
def test_texts_in_any_encoding_are_split(kind: pa.DataType) -> None:
    table = pa.table({"t": pa.array(["a", "b", None], kind)})
    good, bad = hg.verify(table, check().is_contained_in("t", ["a"])).split(table)
    assert [each.column("t").to_pylist() for each in (good, bad)] == [["a", None], ["b"]]


def test_a_text_that_looks_like_a_number_or_a_truth_is_shown_as_it_is() -> None:
    table = pa.table({"t": ["True", "nan", "inf"]})
    bad = hg.verify(table, check().is_contained_in("t", ["x"])).rows(table)
    assert [told[0]["value"] for told in bad["headgate_reasons"].to_pylist()] == ["True", "nan", "inf"]


def test_an_empty_table_has_no_rows_to_blame() -> None:
    table = pa.table({"t": ["a", "b"]})
    found = hg.verify(table, check().has_pattern("t", "^a$"))
    assert found.rows(table.slice(0, 0)).num_rows == 0


def test_a_column_of_reasons_that_is_there_already_is_not_overwritten() -> None:
    table = pa.table({"headgate_reasons": ["mine", None]})
    with pytest.raises(MisuseError, match="already"):
        hg.verify(table, check().is_complete("headgate_reasons")).rows(table)


# --- arguments


@pytest.mark.parametrize("values", [np.array([1, 2]), pd.Series([1, 2]), {2, 1}, {1: "a", 2: "b"}.keys(), range(1, 3)])
def test_values_may_come_as_any_collection(values: Any) -> None:
    assert check().is_contained_in("x", values) == check().is_contained_in("x", [1, 2])


def test_a_moment_of_numpy_is_a_moment() -> None:
    moment = np.datetime64("2026-01-01T06:00:00", "ns")
    assert check().is_in_range("t", low=moment) == check().is_in_range("t", low=datetime(2026, 1, 1, 6))


def test_a_hint_names_the_words_for_what_is_expected() -> None:
    with pytest.raises(MisuseError, match=r"has_mean\(column, between="):
        check().has_mean("price", 5, 500)


def test_a_reason_says_of_which_rows_and_of_which_check() -> None:
    table = pa.table({"r": [None, 1], "k": [1, 2]})
    found = hg.verify(table, [check().is_complete("r", where="k = 1"), hg.Check("other").is_complete("r")])
    assert [line[:60] for line in found.explain().splitlines()[1:]] == [
        "✗ error  [edges] is_complete(r) where k = 1: completeness(r)",
        "✗ error  [other] is_complete(r): completeness(r) is 0.5, exp",
    ]


def test_a_table_of_another_kind_says_so() -> None:
    found = hg.verify(ORDERS, check().is_contained_in_table("id", table="o"), tables={"o": [1, 2]})
    assert "not of the batch's kind" in found.judgements[0].reason


# --- segmentations


def test_segmentations_that_do_not_contain_each_other_are_scanned_apart() -> None:
    assert _group_by_finest([(), ("a",), ("a", "b"), ("c",)], one=False) == {
        ("a", "b"): [("a", "b"), ("a",), ()],
        ("c",): [("c",)],
    }
    assert _group_by_finest([(), ("a",), ("c",)], one=True) == {("a", "c"): [(), ("a",), ("c",)]}


def test_unrelated_segmentations_are_judged_as_each_alone() -> None:
    table = pa.table({"a": ["x", "y", "y"], "b": [1, 1, 2], "v": [None, 1, None]})
    both = hg.verify(table, check().is_complete("v", by="a").is_complete("v", by="b").is_complete("v"))
    apart = [hg.verify(table, check().is_complete("v", **by)) for by in ({"by": "a"}, {"by": "b"}, {})]
    assert both.judgements == tuple(each for one in apart for each in one.judgements)


def test_freshness_is_of_dates_too() -> None:
    table = pa.table({"d": [date(2026, 11, 14)]})
    assert statuses(table, check().is_fresh("d", "36h"), now=datetime(2026, 11, 15, 8, tzinfo=UTC)) == ["pass"]
