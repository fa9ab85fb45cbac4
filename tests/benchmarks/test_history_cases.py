"""The cases of the history benchmark, on small made-up batches."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

import headgate as hg
from benchmarks.history.cases import broken_columns, neighbour, stretches
from benchmarks.history.columns import distances_to, features, metrics_by_column
from benchmarks.history.table_cases import ALL, choices, overlaid
from headgate.values.schema import Kind

ORDERS = pa.table({"id": list(range(40)), "price": [0.5 * at for at in range(40)], "shop": ["north", "south"] * 20})


def test_a_column_that_changes_its_kind_begins_a_new_stretch():
    runs = [{"a": "numeric"}] * 5 + [{"a": "categorical"}] * 3 + [{}] + [{"a": "categorical"}] * 2
    found = [(each.group, each.places) for each in stretches(runs, 2)]
    assert found == [
        ("numeric", (0, 1)),
        ("numeric", (2, 3)),
        ("categorical", (5, 6)),
        ("categorical", (9, 10)),
    ]


def test_every_standard_issue_breaks_the_column_the_same_way_twice():
    once, again = (dict(broken_columns(ORDERS, "shop", "seed")) for _ in range(2))
    assert len(once) > 20
    assert all(once[issue].equals(again[issue]) for issue in once)
    assert dict(broken_columns(ORDERS, "shop", "another seed")) != once


def test_schema_change_is_left_out_where_no_other_column_is_of_the_kind():
    assert "schema_change" not in {issue.name for issue, _ in broken_columns(ORDERS, "price", "seed")}
    assert neighbour(ORDERS, "price") is None


def test_the_neighbour_is_the_nearest_column_of_the_kind_that_has_values():
    table = pa.table({"a": [1], "b": pa.array([None], pa.int64()), "c": [3], "d": ["x"], "e": [5]})
    assert neighbour(table, "a").to_pylist() == [3]
    assert neighbour(table, "d") is None


def test_a_batch_is_at_no_distance_from_itself_and_at_some_from_another():
    same, other = hg.analyze(ORDERS), hg.analyze(ORDERS.slice(0, 10))
    found = distances_to(Kind.FLOAT, "price", same.states, same.states)
    assert found.pop("unchanged") == 1
    assert max(found.values()) < 1e-9
    assert distances_to(Kind.FLOAT, "price", other.states, same.states)["emd"] > 1


def test_features_are_the_metrics_of_the_column_the_rows_and_the_distances():
    found = features("price", hg.analyze(ORDERS), hg.analyze(ORDERS))
    assert found["size"] == 40
    assert found["mean"] == np.mean(ORDERS["price"].to_numpy())
    assert {"ks_dist", "value_l_inf"} <= found.keys()
    assert "value_distribution" not in found


def test_an_analysis_with_one_column_replaced_is_that_of_the_whole_broken_table():
    broken = ORDERS.set_column(1, "price", pa.array([100.0] * 40))
    whole = overlaid(hg.analyze(ORDERS), hg.analyze(broken.select(["price"])), "price")
    assert metrics_by_column(whole) == metrics_by_column(hg.analyze(broken))
    assert whole.schema == hg.analyze(broken).schema


def test_a_column_that_widened_has_its_new_kind_in_the_overlaid_schema():
    wider = pa.table({"id": [0.5] * 40})
    whole = overlaid(hg.analyze(ORDERS), hg.analyze(wider), "id")
    assert [column.kind for column in whole.schema.columns] == [Kind.FLOAT, Kind.FLOAT, Kind.STRING]


def test_choices_suit_their_columns_and_rows_have_none():
    found = choices(ORDERS, np.random.default_rng(0), 200)
    assert len(found) == len(set(found))
    for issue, column in found:
        assert (column == ALL) is issue.of_rows
        if column != ALL:
            issue.check(Kind.STRING if column == "shop" else Kind.INTEGER if column == "id" else Kind.FLOAT)
    assert {issue.name for issue, _ in found} >= {"volume_change", "unit_change", "casing_change"}
