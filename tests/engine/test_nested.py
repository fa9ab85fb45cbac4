"""Places inside nested columns on the local engine, held against the same rows walked in plain Python."""

from __future__ import annotations

from collections.abc import Callable
from datetime import time, timedelta
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import headgate as hg
from headgate.engine.arrow_nested import read_arrow_type, read_place
from headgate.engine.nested import build_schema
from headgate.values.errors import MisuseError
from headgate.values.key import MetricKey
from headgate.values.outcome import Failed, Measured
from headgate.values.schema import Kind
from tests.engine.orders import ORDERS, ORDERS_TYPE

ORDER = pa.struct(
    [
        ("address", pa.struct([("city", pa.string()), ("geo", pa.struct([("lat", pa.float64())]))])),
        ("items", pa.list_(pa.struct([("price", pa.float64()), ("tags", pa.list_(pa.string()))]))),
        ("tags", pa.map_(pa.string(), pa.int64())),
    ]
)
orders = st.fixed_dictionaries(
    {
        "address": st.none()
        | st.fixed_dictionaries(
            {
                "city": st.none() | st.sampled_from(["Rome", "Oslo", ""]),
                "geo": st.none() | st.fixed_dictionaries({"lat": st.none() | st.floats(-90, 90)}),
            }
        ),
        "items": st.none()
        | st.lists(
            st.none()
            | st.fixed_dictionaries(
                {
                    "price": st.none() | st.floats(-10, 10),
                    "tags": st.none() | st.lists(st.none() | st.sampled_from("abc"), max_size=3),
                }
            ),
            max_size=3,
        ),
        "tags": st.none() | st.dictionaries(st.sampled_from("xyz"), st.none() | st.integers(0, 9), max_size=3),
    }
)


def of(value: Any, name: str) -> Any:
    return None if value is None else value[name]


def each(values: Any, choose: Callable[[Any], Any] = lambda value: value) -> list[Any]:
    return [choose(value) for value in values or []]


EXPECTED: dict[str, Callable[[dict[str, Any]], Any]] = {
    "address.city": lambda row: of(row["address"], "city"),
    "address.geo.lat": lambda row: of(of(row["address"], "geo"), "lat"),
    "items.size()": lambda row: None if row["items"] is None else len(row["items"]),
    "items[].price": lambda row: each(row["items"], lambda item: of(item, "price")),
    "items[].tags.size()": lambda row: each(
        row["items"], lambda item: None if of(item, "tags") is None else len(item["tags"])
    ),
    "items[].tags[]": lambda row: [tag for item in row["items"] or [] for tag in of(item, "tags") or []],
    "tags.size()": lambda row: None if row["tags"] is None else len(row["tags"]),
    "tags[].key": lambda row: list(row["tags"] or {}),
    "tags[].value": lambda row: list((row["tags"] or {}).values()),
}


@settings(max_examples=150, deadline=None)
@given(st.lists(orders, max_size=12), st.integers(0, 5), st.integers(0, 5))
def test_a_place_has_the_values_that_a_walk_finds(rows: list[dict[str, Any]], skipped: int, cut: int) -> None:
    typed = [{**row, "tags": None if row["tags"] is None else list(row["tags"].items())} for row in rows]
    whole = pa.array(typed, ORDER)
    kept = rows[skipped : len(rows) - cut or None][: max(0, len(rows) - skipped - cut)]
    array = whole.slice(skipped, max(0, len(rows) - skipped - cut))
    columns = [(name, child) for name, child in zip(ORDER.names, array.flatten(), strict=True)] if len(array) else []
    if not columns:
        return
    schema, paths = build_schema((field.name, read_arrow_type(field.type)) for field in ORDER)
    for label, expected in EXPECTED.items():
        path = paths[schema.positions()[label]]
        found = read_place(columns[path.source][1], path.steps)
        assert found.to_pylist() == [expected(row) for row in kept], label


def test_labels_kinds_and_repetition() -> None:
    schema = hg.analyze(ORDERS, ["size()"]).schema
    assert schema.top_labels == ("id", "address", "items", "tags")
    found = {column.label: (column.kind, column.parent, column.repeated) for column in schema.columns}
    assert found["address.geo.lat"] == (Kind.FLOAT, "address", False)
    assert found["items[].price"] == (Kind.FLOAT, "items", True)
    assert found["items.size()"] == (Kind.INTEGER, "items", False)
    assert found["tags[].key"] == (Kind.STRING, "tags", True)
    assert found["items[]"] == (Kind.OTHER, "items", True)
    assert ORDERS.schema.field("items").type == ORDERS_TYPE.field("items").type


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("completeness(address.city)", 0.5),
        ("mean(address.geo.lat)", 2.0),
        ("mean(items[].price)", -1.0),
        ("completeness(items[].price)", 2 / 3),
        ('mean(items[].price) where "id < 4"', 1.0),
        ("mean(items.size())", 1.0),
        ("count_distinct(items[].tags[])", 2.0),
        ("max(tags.size())", 2.0),
        ("mean(tags[].value)", 1.5),
        ("column_count()", 4.0),
        ("size()", 4.0),
        ('compliance(predicate="`items[].price` > 0") where "`items[].price` IS NOT NULL"', 0.5),
        ('compliance(predicate="`items[].price` > id")', 0.0),
        ("compliance(predicate=\"address.city = 'Rome'\")", 0.25),
        ("compliance(predicate=\"`address.city` = 'Rome'\")", 0.25),
    ],
)
def test_metrics_of_places(key: str, value: float) -> None:
    assert hg.analyze(ORDERS, [key]).value(key) == pytest.approx(value)


@pytest.mark.parametrize(
    ("key", "why"),
    [
        ("correlation(id, items[].price)", "any number of values in a row, and the rest that is read has one"),
        ('size() where "`items[].price` > 0"', "any number of values in a row, and the rest"),
        ('compliance(predicate="`items[].price` > `tags[].value`")', "different numbers of values in a row"),
        ('containment(items[].price, table="prices")', "not looked up in another table"),
        ("mean(items)", "does not accept"),
        ("mean(items[].prise)", "Did you mean 'items[].price'?"),
    ],
)
def test_what_does_not_go_together_is_said(key: str, why: str) -> None:
    (outcome,) = hg.analyze(ORDERS, [key]).values()
    assert isinstance(outcome, Failed)
    assert why in outcome.why


def test_parts_by_a_place() -> None:
    parts = hg.analyze(ORDERS, ["mean(items[].price)", "size()"], by="address.city")
    assert parts.view(**{"address.city": "Oslo"}).value("mean(items[].price)") == -3.0
    with pytest.raises(MisuseError, match="any number of values"):
        hg.analyze(ORDERS, ["size()"], by="items[].tags[]")


def test_a_column_that_is_named_like_a_place_comes_first() -> None:
    table = pa.table({"a": pa.array([{"b": 1, "c": 5}]), "A.b": [7]})
    assert hg.analyze(table, ["size()"]).schema.labels == ("a", "a.c", "A.b")
    doubled = pa.Table.from_arrays([pa.array([{"b": 1}]), pa.array([{"b": 2}])], names=["a", "a"])
    assert hg.analyze(doubled, ["size()"]).schema.labels == ("a", "a#2")


@pytest.mark.parametrize(
    "kind",
    [
        pa.list_(pa.int64(), 2),
        pa.large_list(pa.int64()),
        pa.list_(pa.dictionary(pa.int32(), pa.int64())),
        pa.list_(pa.uint64()),
    ],
    ids=str,
)
def test_every_kind_of_list(kind: pa.DataType) -> None:
    table = pa.table({"x": pa.array([[1, 2], None, [3, None]], kind)})
    found = hg.analyze(table, ["mean(x[])", "completeness(x[])", "max(x.size())"])
    assert [found.value(key) for key in found] == [2.0, 0.75, 2.0]


def test_the_entries_of_a_null_map_are_not_read() -> None:
    entries = pa.MapArray.from_arrays(pa.array([0, 2, 3], pa.int32()), pa.array(["a", "b", "c"]), pa.array([1, 2, 3]))
    hidden = pa.Array.from_buffers(
        entries.type, 2, [pa.py_buffer(b"\x02"), *entries.buffers()[1:2]], children=[_entries_of(entries)]
    )
    assert hidden.is_valid().to_pylist() == [False, True]
    found = hg.analyze(pa.table({"m": hidden}), ["mean(m[].value)", "max(m.size())", "completeness(m.size())"])
    assert [found.value(key) for key in found] == [3.0, 1.0, 0.5]


def _entries_of(array: pa.MapArray) -> pa.Array:
    return pa.StructArray.from_arrays(
        [array.keys, array.items],
        fields=[pa.field("key", pa.string(), nullable=False), pa.field("value", pa.int64())],
    )


def test_intervals_and_times_are_read_in_seconds() -> None:
    table = pa.table(
        {
            "wait": pa.array([timedelta(minutes=2), None, timedelta(days=-1)]),
            "opens": pa.array([time(9, 30), time(0, 0, 0, 500_000), None]),
            "short": pa.array([1, 2, None], pa.time32("s")),
        }
    )
    found = hg.analyze(
        table, ["max(wait.seconds())", "min(wait.seconds())", "max(opens.seconds())", "max(short.seconds())"]
    )
    assert [found.value(key) for key in found] == [120.0, -86_400.0, 34_200.0, 2.0]


def test_lists_and_dicts_of_pandas() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"s": [{"a": 1}, {"a": 3}], "x": [[1, 2], None]})
    assert hg.analyze(frame, ["size()"]).schema.labels == ("s", "x")  # inferred from the values of this batch
    typed = frame.astype({"s": pandas.ArrowDtype(pa.struct([("a", pa.int64())]))})
    assert hg.analyze(typed, ["mean(s.a)"]).value("mean(s.a)") == 2.0


CHECK = (
    hg.Check("orders")
    .is_complete("address.city")
    .is_non_negative("items[].price")
    .is_complete("items[].price")
    .is_in_range("items.size()", 1, 5)
    .is_contained_in("address.city", ["Rome"])
    .is_unique("items[].tags[]")
    .has_pattern("tags[].key", "^[xy]$")
    .has_max("tags[].value", at_most=1)
)


def test_rows_are_found_by_the_values_inside_them() -> None:
    verified = hg.verify(ORDERS, CHECK)
    found = {
        row["id"]: [(each["columns"], each["value"]) for each in row["headgate_reasons"]]
        for row in verified.rows(ORDERS).to_pylist()
    }
    assert found == {
        1: [("items[].price", "[null]")],
        2: [("address.city", None), ("items.size()", "0")],
        3: [("address.city", None)],
        4: [
            ("items[].price", "[-3.0]"),
            ("address.city", "Oslo"),
            ("tags[].key", "[z]"),
            ("tags[].value", "[2]"),
        ],
    }
    assert "1 of 3 values" in str(verified)


def test_keys_are_written_as_they_were_before() -> None:
    assert str(MetricKey.parse("mean(items[].price)")) == 'mean("items[].price")'
    assert MetricKey.parse('mean("a.b")') == MetricKey.parse("mean(a.b)")


def test_a_column_with_a_dot_in_its_name_needs_backticks() -> None:
    table = pa.table({"id": [1, 2], "a.b": [7, 8]})
    plain, quoted = (hg.Check("c").satisfies(text) for text in ("a.b = 8", "`a.b` = 8"))
    assert hg.verify(table, plain).status == "error"
    assert hg.verify(table, quoted).rows(table)["id"].to_pylist() == [1]


def test_the_reason_of_a_predicate_shows_the_field_that_it_names() -> None:
    check = hg.Check("c").satisfies("address.city <> 'Oslo'", where="id = 4")
    (row,) = hg.verify(ORDERS, check).rows(ORDERS).to_pylist()
    assert [(each["columns"], each["value"]) for each in row["headgate_reasons"]] == [("address.city", "Oslo")]


def test_a_filter_of_values_does_not_choose_rows() -> None:
    table = pa.table({"id": [1, 2, 3], "items": [[5, 5, 5], [], []]})
    (outcome,) = hg.analyze(table, ['checksum() where "`items[]` > 1"']).values()
    assert isinstance(outcome, Failed)


def test_look_ups_of_places_in_another_table() -> None:
    other = pa.table({"s": [{"city": "Rome"}, {"city": "Oslo"}], "items": [["Rome"], []]})
    keys = ['containment(address.city, table="o", of="s.city")', 'containment(address.city, table="o", of="items[]")']
    found, refused = hg.analyze(ORDERS, keys, tables={"o": other}).values()
    assert found == Measured(1.0)
    assert isinstance(refused, Failed)
    assert "any number of values" in refused.why


def test_views_inside_arrays_are_filtered() -> None:
    if not hasattr(pa, "string_view"):
        pytest.skip("this pyarrow has no views")
    kind = pa.list_(pa.struct([("n", pa.string_view())]))
    table = pa.table({"id": [1, 2], "items": pa.array([[{"n": "a"}, {"n": "b"}], [{"n": "c"}]], kind)})
    (outcome,) = hg.analyze(table, ['count_distinct(items[].n) where "id < 2"']).values()
    assert outcome == Measured(2.0)


def test_fields_that_differ_in_case_are_left_out() -> None:
    kind = pa.struct([("a", pa.int64()), ("A", pa.int64()), ("b", pa.int64())])
    assert hg.analyze(pa.table({"s": pa.array([], kind)}), ["size()"]).schema.labels == ("s", "s.b")


def test_profile_and_suggestions_count_the_values_of_arrays() -> None:
    table = pa.table({"id": list(range(100)), "x": [[1, 2, 3]] * 100})
    values = hg.profile(table)["x[]"]
    assert (values.rows, values.present) == (300, 300)
    assert any("x[]" in str(each) for each in hg.suggest(table))
