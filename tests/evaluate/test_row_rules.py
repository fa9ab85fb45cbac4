"""The rows that are to blame, on the local engine: exactly those that pandas finds, each with its reasons."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import headgate as hg

Reason = dict[str, Any]
MOMENT = datetime(2026, 1, 1, 6, 30, 0, 123457, tzinfo=UTC)

TABLE = pa.table(
    {
        "row": list(range(12)),
        "id": [1, 2, 2, 3, None, None, 4, 5, 5, 5, 6, 7],
        "region": ["EU", "EU", "US", "US", "EU", "US", "EU", "US", "US", None, None, "EU"],
        "price": [1.0, -2.0, 3.5, None, 50.0, float("nan"), 7.0, float("inf"), -0.5, 10.0, 100.0, 0.0],
        "amount": pa.array([Decimal(at) / 4 for at in range(12)], pa.decimal128(6, 2)),
        "day": [None if at == 3 else date(2026, 1, 1) + timedelta(days=at) for at in range(12)],
        "at": pa.array([MOMENT + timedelta(microseconds=at - 5) for at in range(12)], pa.timestamp("us", "UTC")),
        "code": ["A-1", "B-22", "", "a-1", None, "A-1\n", "xA-1x", "Ω-1", "A-1", "C", "D-4", "E-5"],
        "raw": pa.array([None if at == 4 else b"\xff" * at for at in range(12)], pa.binary()),
        "parent": [1, 2, 99, None, 1, 98, 2, 3, 1, 2, 3, 99],
    }
)
PARENTS = {"parents": pa.table({"parent": pa.array([1, 2, 3], pa.int64()), "region": ["EU", "US", "EU"]})}


def reference() -> pd.DataFrame:
    """The table with plain Python values, None where it is null."""
    return pd.DataFrame(TABLE.to_pydict(), dtype=object)


def check() -> hg.Check:
    return hg.Check("x")


def reasons_of(rules: hg.Check, data: Any = TABLE) -> dict[int, list[Reason]]:
    """The reasons by the row's number."""
    found = hg.verify(data, rules, tables=PARENTS).rows(data).to_pylist()
    return {row["row"]: row["headgate_reasons"] for row in found}


def blamed(rules: hg.Check, data: Any = TABLE) -> list[int]:
    return sorted(reasons_of(rules, data))


def where(test: Callable[[pd.Series], Any]) -> list[int]:
    frame = reference()
    return [int(row["row"]) for _, row in frame.iterrows() if test(row)]


def taken(rows: set[int]) -> pa.Table:
    return TABLE.take(pa.array(sorted(rows), pa.int64()))


def is_number(value: Any) -> bool:
    return value is not None and not np.isnan(value)


def repeated(*columns: str, within: Callable[[pd.Series], Any] = lambda row: True) -> list[int]:
    keys = {at: tuple(row[name] for name in columns) for at, row in reference().iterrows() if within(row)}
    every = list(keys.values())
    return [at for at, key in keys.items() if every.count(key) > 1 and any(value is not None for value in key)]


RULES: dict[str, tuple[hg.Check, list[int]]] = {
    "a missing value": (check().is_complete("price"), where(lambda row: row.price is None)),
    "one of several missing": (
        check().are_complete("id", "region"),
        where(lambda row: row.id is None or row.region is None),
    ),
    "all of several missing": (check().are_any_complete("id", "price"), []),
    "a value twice": (check().is_unique("id"), repeated("id")),
    "values twice together": (check().is_unique("id", "region"), repeated("id", "region")),
    "values twice in some rows": (
        check().is_unique("id", where="region = 'US'"),
        repeated("id", within=lambda row: row.region == "US"),
    ),
    "a key": (check().is_primary_key("id"), sorted({*repeated("id"), *where(lambda row: row.id is None)})),
    "rows twice": (check().has_no_duplicate_rows(columns=["id", "region"]), repeated("id", "region")),
    "a value outside a set": (
        check().is_contained_in("region", ["EU"]),
        where(lambda row: row.region not in (None, "EU")),
    ),
    "a value outside a range": (
        check().is_in_range("price", 0, 60),
        where(lambda row: row.price is not None and not 0 <= row.price <= 60),
    ),
    "numbers that are not positive": (
        check().is_positive("price"),
        where(lambda row: row.price is not None and not row.price > 0),
    ),
    "numbers that are negative": (
        check().is_non_negative("price"),
        where(lambda row: row.price is not None and not row.price >= 0),
    ),
    "numbers below a range": (
        check().is_in_range("price", low=-1),
        where(lambda row: row.price is not None and not row.price >= -1),
    ),
    "a number that is not less": (
        check().is_less_than("amount", "price"),
        where(lambda row: row.price is not None and not float(row.amount) < row.price),
    ),
    "a number that is not as great as itself": (
        check().is_greater_than_or_equal_to("price", "price"),
        where(lambda row: row.price is not None and not row.price >= row.price),  # only NaN
    ),
    "a day outside a range": (
        check().is_in_range("day", low=date(2026, 1, 3)),
        where(lambda row: row.day is not None and row.day < date(2026, 1, 3)),
    ),
    "a moment outside a range": (check().is_in_range("at", high=MOMENT), where(lambda row: row["at"] > MOMENT)),
    "a pattern": (
        check().has_pattern("code", r"^[A-Z]-\d+$"),
        where(lambda row: row.code is not None and not re.search(r"^[A-Z]-\d+\Z", row.code)),
    ),
    "a part that is found": (
        check().has_pattern("code", "A-1"),
        where(lambda row: row.code is not None and "A-1" not in row.code),
    ),
    "a minimum of numbers": (
        check().has_min("price", at_least=0),
        where(lambda row: is_number(row.price) and row.price < 0),
    ),
    "a maximum of numbers": (
        check().has_max("price", at_most=50),
        where(lambda row: is_number(row.price) and row.price > 50),
    ),
    "a minimum that must be one value": (check().has_min("row", equals=2), [0, 1]),
    "a maximum of decimals": (
        check().has_max("amount", at_most=Decimal("2.25")),
        where(lambda row: row.amount > Decimal("2.25")),
    ),
    "a minimum of days": (
        check().has_min("day", at_least=date(2026, 1, 3)),
        where(lambda row: row.day is not None and row.day < date(2026, 1, 3)),
    ),
    "a minimum of moments": (check().has_min("at", at_least=MOMENT), where(lambda row: row["at"] < MOMENT)),
    "a maximum of moments": (check().has_max("at", at_most=MOMENT), where(lambda row: row["at"] > MOMENT)),
    "lengths of texts": (
        check().has_max_length("code", at_most=3),
        where(lambda row: row.code is not None and len(row.code) > 3),
    ),
    "short texts": (
        check().has_min_length("code", at_least=3),
        where(lambda row: row.code is not None and len(row.code) < 3),
    ),
    "lengths of bytes": (
        check().has_max_length("raw", at_most=9),
        where(lambda row: row.raw is not None and len(row.raw) > 9),
    ),
    "numbers that are not finite": (
        check().has_finiteness("price", equals=1),
        where(lambda row: row.price is not None and not np.isfinite(row.price)),
    ),
    "a foreign key": (
        check().is_contained_in_table("parent", table="parents"),
        where(lambda row: row.parent not in (None, 1, 2, 3)),
    ),
    "a foreign key of two": (
        check().is_contained_in_table("parent", "region", table="parents"),
        where(lambda row: (row.parent, row.region) not in {(1, "EU"), (2, "US"), (3, "EU")}),
    ),
    "a predicate": (
        check().satisfies("price > 5 OR region = 'US'"),
        where(lambda row: not (row.region == "US" or (row.price is not None and not row.price <= 5))),
    ),
    "a predicate of some rows": (
        check().satisfies_if("region = 'EU'", "price > 5"),
        where(lambda row: row.region == "EU" and not row.price > 5),
    ),
    "an order of columns": (
        check().is_less_than("amount", "row"),
        where(lambda row: row.amount >= row.row),
    ),
    "a filter": (
        check().is_complete("id", where="region = 'US'"),
        where(lambda row: row.id is None and row.region == "US"),
    ),
    "a filter that is null": (
        check().is_in_range("row", 100, where="price > 5"),
        where(lambda row: row.price is not None and not row.price <= 5),
    ),
    "segments": (
        check().is_in_range("row", 2, by="region"),
        where(lambda row: row.row < 2),
    ),
    "segments of a null": (check().is_complete("region", by="region"), where(lambda row: row.region is None)),
    "two rules of one column": (
        check().has_min("row", at_least=1).has_min("row", at_least=3),
        [0, 1, 2],
    ),
    "one rule of two filters": (
        check().is_positive("price", where="region = 'EU'").is_positive("price", where="region = 'US'"),
        where(lambda row: row.region is not None and row.price is not None and not row.price > 0),
    ),
    "one rule of two checks' filters": (
        check().satisfies("row > 100", where="row = 1").satisfies("row > 100", where="row = 2"),
        [1, 2],
    ),
    "no rule": (check(), []),
    "a mean out of range": (check().has_mean("row", at_least=100), []),
    "a size out of range": (check().has_size(equals=100), []),
    "a share that is too large": (check().has_completeness("id", at_most=0.1), []),
    "a rule that is met": (check().is_complete("row"), []),
    "a rule that could not be evaluated": (check().is_complete("nope"), []),
}


@pytest.mark.parametrize("name", RULES)
def test_the_rows_to_blame_are_those_of_the_reference(name: str) -> None:
    rules, expected = RULES[name]
    assert blamed(rules) == sorted(expected)


def test_where_a_rule_could_not_be_evaluated_no_row_is_called_good() -> None:
    verdict = hg.verify(TABLE, check().is_complete("nope").is_complete("id"))
    with pytest.raises(hg.HeadgateError, match="which rows are good is not known"):
        verdict.split(TABLE)
    assert verdict.rows(TABLE).num_rows == 2


@pytest.mark.parametrize("name", [name for name in RULES if "could not be evaluated" not in name])
def test_good_and_bad_rows_are_all_rows_as_they_are(name: str) -> None:
    rules, expected = RULES[name]
    good, bad = hg.verify(TABLE, rules, tables=PARENTS).split(TABLE)
    assert bad.column("row").to_pylist() == sorted(expected)
    assert (good.schema, bad.drop(["headgate_reasons"]).schema) == (TABLE.schema, TABLE.schema)
    # as text: NaN is no equal of itself
    assert repr(good.to_pylist()) == repr(taken({*range(12)} - {*expected}).to_pylist())
    assert repr(bad.drop(["headgate_reasons"]).to_pylist()) == repr(taken({*expected}).to_pylist())


def test_uniqueness_by_segment_blames_rows_that_repeat_in_their_own_segment() -> None:
    batch = pa.table({"row": range(6), "id": [1, 1, 7, 2, 2, 7], "region": ["EU", "EU", "EU", "US", "US", "US"]})
    assert blamed(check().is_unique("id", by="region"), batch) == [0, 1, 3, 4]


def test_a_segment_that_is_met_blames_no_row() -> None:
    batch = pa.table({"row": range(4), "id": [1, None, None, 4], "region": ["EU", "EU", "US", "APAC"]})
    assert blamed(check().has_completeness("id", at_least=0.5, by="region"), batch) == [2]


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([date(2026, 1, 1), date(2026, 1, 2), None], pa.date32()),
        ([True, False, None], pa.bool_()),
        ([10, -5, None], pa.int16()),
        (["it's", "a\\b\n`", None], pa.large_string()),
        (["a", "b", None], pa.dictionary(pa.int8(), pa.string())),
    ],
    ids=["date", "bool", "int", "text", "dictionary"],
)
def test_segments_of_every_kind_find_their_rows(values: list[Any], kind: pa.DataType) -> None:
    key = pa.array([*values, *values], kind)
    batch = pa.table({"row": range(6), "key": key, "v": [1, 1, 1, None, None, None]})
    assert blamed(check().is_complete("v", by="key"), batch) == [3, 4, 5]


# --- reasons


def test_each_broken_rule_is_a_reason_with_the_value() -> None:
    rules = check().is_complete("id", level="warn").is_in_range("price", 0, 60).has_min("price", at_least=0)
    rules = rules.is_unique("id", "region").is_contained_in_table("parent", table="parents").has_mean("row", at_least=9)
    found = reasons_of(rules)
    in_range = "is_in_range(price, low=0, high=60)"
    assert tell(found[1]) == [
        (in_range, "error", "price", "-2.0"),
        ("min(price) at least 0", "error", "price", "-2.0"),
    ]
    assert found[1][1]["message"] == "price is lower than the rule allows"
    assert [each["rule"] for each in found[5]] == [
        "is_in_range(price, low=0, high=60)",
        'is_contained_in_table(parent, table="parents")',
        "is_complete(id)",
    ]
    assert tell(found[7]) == [
        (in_range, "error", "price", "Infinity"),
        ("is_unique(id, region)", "error", "id, region", "id=5, region=US"),
    ]
    assert found[7][1]["message"] == "another row has the same id and region"
    assert tell(found[4]) == [("is_complete(id)", "warn", "id", None)]
    assert found[4][0]["message"] == "id is null"


def tell(reasons: list[Reason]) -> list[tuple[Any, ...]]:
    return [(each["rule"], each["level"], each["columns"], each["value"]) for each in reasons]


@pytest.mark.parametrize(
    ("rules", "message"),
    [
        (check().is_complete("id"), "id is null"),
        (check().is_unique("id"), "another row has the same id"),
        (check().satisfies("price > 0"), "not true: price > 0"),
        (check().has_max("price", at_most=1), "price is higher than the rule allows"),
        (check().has_max_length("region", at_most=1), "region has more than 1 characters"),
        (check().has_min_length("region", at_least=9), "region has fewer than 9 characters"),
        (check().has_pattern("region", "^x"), "region does not match ^x"),
        (check().is_contained_in_table("parent", table="parents"), "parent is not in parents"),
        (check().satisfies("row IN (" + ", ".join(map(str, range(900, 1_200))) + ")"), "not true: row IN (900, 901"),
    ],
    ids=str,
)
def test_a_reason_says_in_words_what_is_wrong_with_the_row(rules: hg.Check, message: str) -> None:
    told = {each["message"] for reasons in reasons_of(rules).values() for each in reasons}
    assert len(told) == 1
    assert told.pop().startswith(message)
    assert all(len(each["message"]) <= 200 for reasons in reasons_of(rules).values() for each in reasons)


def test_values_that_fail_can_be_left_out_of_the_reasons() -> None:
    verdict = hg.verify(TABLE, check().is_in_range("price", 0, 60).is_unique("id", "region"))
    plain, hidden = verdict.rows(TABLE).to_pylist(), verdict.rows(TABLE, values="hidden").to_pylist()
    assert any(each["value"] for row in plain for each in row["headgate_reasons"])
    assert not any(each["value"] for row in hidden for each in row["headgate_reasons"])
    assert [row["row"] for row in plain] == [row["row"] for row in hidden]
    split = verdict.split(TABLE, values="hidden")[1].to_pylist()
    assert [row["headgate_reasons"] for row in split] == [row["headgate_reasons"] for row in hidden]


def test_nulls_among_several_columns_are_shown_as_null() -> None:
    found = reasons_of(check().are_complete("id", "region"))
    assert found[9][0]["value"] == "id=5, region=null"


def test_a_rule_with_two_levels_is_one_reason_at_the_graver_level_that_is_broken() -> None:
    rule = {"error": {"at_least": -1}, "warn": {"at_least": 1}}
    found = reasons_of(check().has_min("price", **rule))
    assert {row: [each["level"] for each in told] for row, told in found.items()} == {
        1: ["error"],
        8: ["warn"],
        11: ["warn"],
    }


def test_warnings_are_shown_but_keep_their_rows_among_the_good() -> None:
    verdict = hg.verify(TABLE, check().is_complete("id", level="warn").is_complete("day"))
    assert verdict.rows(TABLE).column("row").to_pylist() == [3, 4, 5]
    good, bad = verdict.split(TABLE)
    assert bad.column("row").to_pylist() == [3]
    assert good.num_rows == 11


def test_a_function_blames_rows_only_if_it_is_of_a_share() -> None:
    assert blamed(check().has_completeness("id", lambda value: value == 1)) == [4, 5]
    assert blamed(check().has_mean("row", lambda value: value == 1)) == []


# --- kinds of frames

SIMPLE = {"row": [0, 1, 2, 3], "id": [1, 2, 2, None], "text": ["a", "b", None, "a"]}


def simple_rules() -> hg.Check:
    return check().is_unique("id").is_complete("text")


def test_pandas_frames_give_pandas_frames() -> None:
    frame = pd.DataFrame(SIMPLE)
    verdict = hg.verify(frame, simple_rules())
    found = verdict.rows(frame)
    assert isinstance(found, pd.DataFrame)
    assert found["row"].tolist() == [1, 2]
    assert [[each["rule"] for each in row] for row in found["headgate_reasons"]] == [
        ["is_unique(id)"],
        ["is_unique(id)", "is_complete(text)"],
    ]
    good, bad = verdict.split(frame)
    assert good["row"].tolist() == [0, 3]
    assert bad["row"].tolist() == [1, 2]


def test_pandas_rows_keep_their_index_and_types() -> None:
    frame = pd.DataFrame(SIMPLE, index=["p", "q", "r", "s"]).astype({"text": "category"})
    frame["small"] = np.array([1, 2, 3, 4], np.int8)
    good, bad = hg.verify(frame, simple_rules()).split(frame)
    assert good.index.tolist() == ["p", "s"]
    assert bad.index.tolist() == ["q", "r"]
    assert good.dtypes.tolist() == frame.dtypes.tolist()


def test_a_pandas_column_that_arrow_cannot_take_costs_no_other() -> None:
    frame = pd.DataFrame({"row": [0, 1], "mixed": [1, "a"], "id": [None, 1.0]})
    verdict = hg.verify(frame, check().is_complete("id"))
    assert verdict.rows(frame)["row"].tolist() == [0]


@pytest.mark.parametrize("lazy", [False, True], ids=["eager", "lazy"])
def test_polars_frames_give_polars_frames(lazy: bool) -> None:
    frame: Any = pl.LazyFrame(SIMPLE) if lazy else pl.DataFrame(SIMPLE)
    verdict = hg.verify(frame, simple_rules())
    found = verdict.rows(frame)
    assert isinstance(found, pl.DataFrame)
    assert found["row"].to_list() == [1, 2]
    assert [len(each) for each in found["headgate_reasons"].to_list()] == [1, 2]
    good, bad = verdict.split(frame)
    assert good["row"].to_list() == [0, 3]
    assert bad["row"].to_list() == [1, 2]


def test_an_empty_frame_and_no_broken_rule_give_no_rows_and_still_the_column() -> None:
    for data in (TABLE, TABLE.slice(0, 0)):
        found = hg.verify(data, check().is_complete("row")).rows(data)
        assert found.num_rows == 0
        assert found.column_names == [*TABLE.column_names, "headgate_reasons"]


def test_a_table_in_many_chunks_has_its_rows_in_order() -> None:
    chunked = pa.concat_tables([TABLE.slice(at, 1) for at in range(12)])
    assert blamed(check().is_unique("id").is_complete("price"), chunked) == sorted({3, *repeated("id")})


def test_the_second_of_two_columns_of_one_name_is_looked_at() -> None:
    batch = pa.Table.from_arrays([pa.array([1, None]), pa.array([None, 1]), pa.array([0, 1])], ["a", "a", "row"])
    verdict = hg.verify(batch, check().is_complete("a#2"))
    found = verdict.rows(batch)
    assert found.column("row").to_pylist() == [0]
    assert found.column("headgate_reasons").to_pylist()[0][0]["columns"] == "a#2"


HOSTILE = [
    "dot.ted",
    "`tick`",
    "a``b",
    "it's",
    'say "x"',
    "a b",
    "emoji 🙂",
    "new\nline",
    "back\\slash",
    "--",
    "é",
]


@pytest.mark.parametrize("name", HOSTILE)
def test_any_name_of_a_column_can_be_blamed(name: str) -> None:
    batch = pa.table({"row": range(4), name: ["a", "a", "long", None], "other": ["b", "b", "a", "b"]})
    rules = check().is_complete(name).is_unique(name).are_complete(name, "other").has_pattern(name, "^a$")
    rules = rules.is_contained_in(name, ["a"]).is_less_than(name, "other").has_max_length(name, at_most=1)
    rules = rules.is_contained_in_table(name, table="t", of="u").is_complete(name, by=name)
    found = hg.verify(batch, rules, tables={"t": pa.table({"u": ["a"]})}).rows(batch).to_pylist()
    told = {row["row"]: [each["rule"].partition("(")[0] for each in row["headgate_reasons"]] for row in found}
    assert told[0] == told[1] == ["is_unique"]
    assert told[2] == ["has_pattern", "is_contained_in", "is_less_than", "max_length", "is_contained_in_table"]
    assert told[3] == ["is_complete", "are_complete", "is_complete"]
    assert {each["columns"] for each in found[2]["headgate_reasons"]} == {name, f"{name}, other"}
