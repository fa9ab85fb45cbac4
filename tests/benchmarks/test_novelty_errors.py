"""The six errors of the novelty benchmark, on a table whose values are known."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from benchmarks.novelty.errors import ERRORS, FAR, MAGNITUDES, NONE, butterfingers, overwritten
from benchmarks.novelty.grid import damaged

ROWS = 200


def orders() -> pa.Table:
    rng = np.random.default_rng(0)
    return pa.table(
        {
            "quantity": pa.array(rng.integers(1, 9, ROWS)),
            "price": pa.array(rng.normal(50.0, 2.0, ROWS)),
            "name": pa.array([f"name {at}" for at in range(ROWS)]),
            "country": pa.array(["France"] * ROWS),
            "day": pa.array([0] * ROWS, pa.timestamp("us")),
        }
    )


def changed(before: pa.Table, after: pa.Table, column: str) -> int:
    return sum(one != two for one, two in zip(before[column].to_pylist(), after[column].to_pylist(), strict=True))


def broken(name: str, columns: list[str], magnitude: float) -> pa.Table:
    made = ERRORS[name].apply(orders(), columns, magnitude, np.random.default_rng(1))
    return overwritten(orders(), made)


@pytest.mark.parametrize("name", ERRORS)
def test_an_error_keeps_the_types_and_the_other_columns(name):
    chosen = ERRORS[name].suits(orders())[: ERRORS[name].columns]
    after = broken(name, chosen, 0.5)
    assert after.schema == orders().schema
    assert all(after[each] == orders()[each] for each in after.column_names if each not in chosen)
    assert all(changed(orders(), after, each) for each in chosen)


@pytest.mark.parametrize("magnitude", MAGNITUDES)
def test_explicit_missing_values_are_the_share_that_was_asked_for(magnitude):
    assert broken("explicit missing values", ["price"], magnitude)["price"].null_count == round(magnitude * ROWS)


def test_implicit_missing_values_are_what_the_paper_writes():
    after = broken("implicit missing values", ["name"], 0.1)
    assert after["name"].to_pylist().count(NONE) == 20
    assert broken("implicit missing values", ["quantity"], 0.1)["quantity"].to_pylist().count(FAR) == 20


def test_moments_have_no_implicit_missing_value():
    assert "day" not in ERRORS["implicit missing values"].suits(orders())
    assert "day" in ERRORS["explicit missing values"].suits(orders())


def test_anomalies_keep_the_mean_and_widen_the_spread():
    before, after = orders()["price"], broken("numeric anomalies", ["price"], 0.8)["price"]
    assert abs(pc.mean(after).as_py() - pc.mean(before).as_py()) < 2
    assert 1.5 < pc.stddev(after).as_py() / pc.stddev(before).as_py() < 6


def test_swapped_fields_hold_each_others_values():
    after = broken("swapped textual fields", ["name", "country"], 0.3)
    rows = [at for at, value in enumerate(after["name"].to_pylist()) if value == "France"]
    assert len(rows) == 60
    assert [after["country"][at].as_py() for at in rows] == [f"name {at}" for at in rows]


def test_swapped_numbers_are_rounded_where_whole_ones_are_kept():
    after = broken("swapped numeric fields", ["quantity", "price"], 1.0)
    assert after["quantity"].to_pylist() == [round(each) for each in orders()["price"].to_pylist()]
    assert after["price"].to_pylist() == [float(each) for each in orders()["quantity"].to_pylist()]


def test_a_typo_is_a_neighbour_on_the_keyboard_in_the_same_case():
    after = butterfingers(pa.array(["g" * 300 + "G" * 300]), 1.0, np.random.default_rng(0))[0].as_py()
    assert set(after[:300]) == set("fhtyvb")
    assert set(after[300:]) == set("FHTYVB")


def test_typos_replace_a_share_of_the_letters_and_nothing_else():
    text = "é1 " * 100 + "a" * 1000
    after = butterfingers(pa.array([None, text]), 0.2, np.random.default_rng(0)).to_pylist()
    assert after[0] is None
    assert after[1][:300] == text[:300]
    assert 150 < sum(one != two for one, two in zip(text, after[1], strict=True)) < 250


def test_typos_of_a_slice_are_those_of_its_own_rows():
    whole = pa.array(["12", "34", "abc"])
    after = butterfingers(whole.slice(1), 1.0, np.random.default_rng(0)).to_pylist()
    assert after[0] == "34"
    assert all(one != two for one, two in zip("abc", after[1], strict=True))


def test_the_same_batch_is_broken_in_the_same_way_each_time():
    error = ERRORS["numeric anomalies"]
    one, two = (list(damaged("a/feed", "2026-01-01", orders(), error)) for _ in range(2))
    assert [made for _, made in one] == [made for _, made in two]
    assert len({tuple(made) for _, made in one}) == 1, "one column at all magnitudes"


def test_an_error_that_suits_no_column_breaks_nothing():
    assert not list(damaged("a/feed", "2026-01-01", orders().select(["name"]), ERRORS["swapped textual fields"]))
