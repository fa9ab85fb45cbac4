"""What is different in a batch from the newest accepted run."""

from __future__ import annotations

import pyarrow as pa
import pytest

import headgate as hg
from headgate.explain.batch_changes import MAX_CHANGES, describe_changes
from headgate.learn.past import Past
from tests.gate.orders import gate_after, judged, named, orders, renamed

RUNS = 8


def past_of(*tables: pa.Table) -> Past:
    return Past.of([hg.analyze(each) for each in tables], partitions=[named(day) for day in range(len(tables))])


def changes(table: pa.Table, *before: pa.Table) -> tuple[str, ...]:
    past, now = past_of(*before), hg.analyze(table)
    return describe_changes(past, now.schema, past.outcomes(now))


def letters(text: str) -> pa.Table:
    return pa.table({"letter": list(text)})


def test_without_a_past_nothing_has_changed() -> None:
    now = hg.analyze(letters("abc"))
    assert describe_changes(None, now.schema, now.outcomes) == ()


def test_the_same_again_has_not_changed() -> None:
    assert changes(letters("abc"), letters("abc")) == ()


SHAPES = [
    (pa.table({"a": [1], "b": ["x"]}), "new column b (string)"),
    (pa.table({"b": [1]}), "column a is gone"),
    (pa.table({"a": ["x"]}), "a is string, was integer"),
]


@pytest.mark.parametrize(("table", "said"), SHAPES)
def test_columns_that_come_go_or_change_their_type_are_told(table: pa.Table, said: str) -> None:
    assert said in changes(table, pa.table({"a": [1]}))


def test_another_width_of_a_type_is_no_change() -> None:
    assert changes(pa.table({"a": pa.array([1], pa.int32())}), pa.table({"a": [1]})) == ()


def test_a_column_that_holds_nothing_has_not_changed_its_type() -> None:
    assert changes(pa.table({"a": pa.nulls(1)}), pa.table({"a": [1]})) == ()


def test_another_order_of_the_columns_is_told() -> None:
    table = pa.table({"a": [1], "b": [2]})
    assert changes(table.select(["b", "a"]), table) == ("the columns are in another order",)


def test_a_change_of_the_rows_is_told_with_the_run_before() -> None:
    assert changes(letters("ab" * 10), letters("ab" * 5), letters("ab" * 20)) == (f"20 rows, 40 in {named(1)} (-50%)",)
    assert changes(letters("ab" * 30), letters("ab" * 20)) == (f"60 rows, 40 in {named(0)} (+50%)",)


def test_a_small_change_of_the_rows_is_not_told() -> None:
    assert changes(letters("ab" * 21), letters("ab" * 20)) == ()


def test_a_run_before_without_a_number_of_rows_is_not_told_of() -> None:
    rows, none = hg.analyze(letters("ab")), hg.analyze(letters("ab"), ["completeness(letter)"])
    now = hg.analyze(letters("ab" * 9))
    assert describe_changes(Past.of([rows, none]), now.schema, now.outcomes) == ()


def test_new_values_and_new_ways_of_writing_are_told_by_their_share() -> None:
    before = [pa.table({"code": ["A-1", "B-2"] * 10})] * RUNS
    now = pa.table({"code": ["A-1"] * 15 + ["C/3"] * 5})
    assert set(changes(now, *before)) == {
        "code: 25.0% are values never seen before",
        "code: 25.0% are written in a way never seen before",
    }


def test_what_is_newest_is_told_first() -> None:
    before = [pa.table({"a": list("xy") * 10, "b": list("xy") * 10})] * RUNS
    now = pa.table({"a": ["x"] * 19 + ["z"], "b": ["x"] * 10 + ["z"] * 10})
    assert [each.split(":")[0] for each in changes(now, *before)] == ["b", "a"]


def test_a_few_runs_are_too_few_to_call_anything_new() -> None:
    assert changes(letters("zz"), *[letters("ab")] * 4) == ()
    assert changes(letters("zz"), *[letters("ab")] * 5) != ()


def test_many_changes_are_counted() -> None:
    wide = pa.table({f"c{at}": [1] for at in range(MAX_CHANGES + 5)})
    found = changes(wide, pa.table({"c0": [1]}))
    assert len(found) == MAX_CHANGES + 1
    assert found[-1] == "and 4 more"


def test_no_value_of_the_data_is_told() -> None:
    before = [pa.table({"name": ["HERON", "EGRET"] * 10})] * RUNS
    now = pa.table({"name": ["QUAIL", "STORK-9"] * 10, "other": ["QUAIL"] * 20})
    assert not any(bird in each for each in changes(now, *before) for bird in ("QUAIL", "STORK", "HERON"))


def test_a_verdict_tells_what_changed_only_where_something_is_wrong() -> None:
    verdict = judged(gate_after(12), 12, renamed(orders(12), "country", "land"))
    assert verdict.changes[:2] == ("new column land (string)", "column country is gone")
    assert "What changed: new column land (string); column country is gone" in verdict.explain()
    assert "What changed" not in judged(gate_after(12), 12).explain()
