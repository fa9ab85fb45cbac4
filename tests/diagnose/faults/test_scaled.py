"""Numbers that are multiplied by a factor: which one, and in how many of the rows."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from headgate.diagnose.repairable import describe_repair
from tests.diagnose.history import (
    BOTH,
    change,
    diagnose,
    diagnose_after,
    diagnose_one,
    list_names,
    make_day,
    make_sales,
    replace,
)


@BOTH
@pytest.mark.parametrize(
    ("column", "factor", "words"),
    [
        ("price", 100.0, "price looks multiplied by 100 (a hundredth of the unit, as cents for euros)"),
        ("price", 1 / 1000, "price looks multiplied by 1/1,000 (a thousand times the unit, as kilometres for metres)"),
        ("weight", 2.20462262, "weight looks multiplied by 2.205 (pounds for kilograms)"),
        ("items", 10, "items looks multiplied by 10 (a tenth of the unit)"),
    ],
)
def test_a_known_factor_is_named_with_what_it_stands_for(column: str, factor: float, words: str, hide: bool) -> None:
    found = diagnose_one(change(make_day(), column, lambda value: value * factor), hide)
    assert (found.fault, found.sentence, found.columns, found.share) == ("scaled", words, (column,), 1.0)
    assert found.parameters["factor"] == pytest.approx(factor, rel=1e-6)
    assert found.repairable


def test_a_factor_that_nobody_knows_is_estimated() -> None:
    found = diagnose_one(change(make_day(), "price", lambda value: value * 17.3456789))
    assert found.fault == "scaled"
    assert found.parameters["factor"] == pytest.approx(17.3456789, rel=0.1)
    assert found.estimated
    assert "(" not in found.sentence


def test_values_that_come_again_give_the_exact_factor() -> None:
    found = diagnose_one(change(make_day(), "items", lambda value: value * 37))
    assert found.parameters == {"factor": 37.0}


def test_a_part_of_the_rows_has_its_share() -> None:
    found = diagnose_one(change(make_day(), "price", lambda value: value * 100, share=0.3))
    assert (found.fault, found.parameters) == ("scaled", {"factor": 100.0})
    assert found.share == pytest.approx(0.3, abs=0.06)
    assert "in about 3" in found.sentence
    assert found.confidence <= 0.75


def test_growth_is_no_known_factor() -> None:
    found = diagnose_one(change(make_day(), "price", lambda value: round(value * 1.8, 2)))
    assert "(" not in found.sentence


def test_small_growth_is_nothing() -> None:
    assert list_names(change(make_day(), "price", lambda value: round(value * 1.15, 2))) == []


def test_numbers_that_all_moved_by_the_same_are_not_scaled() -> None:
    assert list_names(change(make_day(), "weight", lambda value: value + 20)) == ["shifted"]


@BOTH
def test_zeros_that_no_factor_changes_are_no_rows_that_were_spared(hide: bool) -> None:
    def make(day: int) -> pa.Table:
        table = make_day(day)
        return replace(table, "items", pc.if_else(pc.less(table["items"], 7), 0, table["items"]))

    broken = replace(make(12), "items", pc.multiply(make(12)["items"], 1024))
    found = diagnose_after(make, broken, hide)[0]
    assert (found.fault, found.share, found.parameters) == ("scaled", 1.0, {"factor": 1024.0})


def test_a_known_factor_is_undone_without_rounding() -> None:
    found = diagnose_one(change(make_day(), "price", lambda value: value / 60.0))
    assert found.parameters == {"factor": 1 / 60}


@BOTH
@pytest.mark.parametrize("factor", [17.3, 2.20462, 1 / 2.0837])
def test_numbers_of_few_decimals_give_the_factor_to_the_last_digit(factor: float, hide: bool) -> None:
    found = diagnose_one(change(make_day(), "price", lambda value: value * factor), hide)
    assert found.parameters["factor"] == pytest.approx(factor, rel=1e-7)
    assert not found.estimated


def test_whole_numbers_that_were_rounded_give_the_factor_to_the_last_digit() -> None:
    broken = change(make_sales(12), "sold", lambda value: round(value * 3.1797))
    assert diagnose_after(make_sales, broken)[0].parameters == {"factor": 3.1797}


def make_counts(day: int) -> pa.Table:
    """Whole numbers that lie so densely that many factors give numbers that were there."""
    random = np.random.default_rng([79, day])
    return pa.table({"count": pa.array(np.round(random.lognormal(5.0, 0.8, 300)))})


@pytest.mark.parametrize("factor", [8.66, 6.1, 18.0])
def test_of_factors_that_give_usual_numbers_the_distribution_tells_which(factor: float) -> None:
    broken = change(make_counts(12), "count", lambda value: value * factor)
    [found] = diagnose_after(make_counts, broken)
    assert found.parameters["factor"] == pytest.approx(factor, rel=0.1)


def make_round(day: int) -> pa.Table:
    """Numbers that were rounded to hundreds."""
    random = np.random.default_rng([80, day])
    return pa.table({"amount": pa.array(np.round(random.lognormal(10.5, 0.3, 200), -2))})


@pytest.mark.parametrize("factor", [18.0, 4.8, 3.3])
def test_round_numbers_claim_no_wrong_factor(factor: float) -> None:
    broken = change(make_round(12), "amount", lambda value: value * factor)
    [found] = diagnose_after(make_round, broken)
    assert found.estimated or found.parameters["factor"] == pytest.approx(factor, rel=1e-9)


def make_spread(day: int, rows: int = 100) -> pa.Table:
    """Numbers of many digits, whose mean changes from day to day by chance."""
    return pa.table({"value": np.random.default_rng([81, day]).lognormal(3.0, 0.5, rows)})


def test_a_known_factor_that_few_rows_do_not_prove_is_an_estimate() -> None:
    [found] = diagnose_after(make_spread, change(make_spread(12), "value", lambda value: value * 11.7))
    assert found.estimated
    assert describe_repair(found).endswith(" (estimated)")


def test_numbers_that_are_none_do_not_silence_the_diagnosis() -> None:
    broken = change(make_sales(12), "sold", lambda value: value * 1000.0)
    values = broken["sold"].to_pylist()
    values[:3] = [float("nan"), float("inf"), 1e308]
    found = diagnose_after(make_sales, replace(broken, "sold", pa.array(values)))
    assert found[0].parameters == {"factor": 1000.0}


def make_priced(day: int) -> pa.Table:
    """Prices as decimals."""
    random = np.random.default_rng([82, day])
    prices = [Decimal(int(each)) / 100 for each in random.choice([199, 450, 1250, 1800, 2499, 3305], 300)]
    return pa.table({"price": pa.array(prices, pa.decimal128(18, 2))})


def test_decimals_give_the_exact_factor_too() -> None:
    six = pa.array([each * 6 for each in make_priced(12)["price"].to_pylist()], pa.decimal128(18, 2))
    [found] = diagnose_after(make_priced, replace(make_priced(12), "price", six))
    assert (found.parameters, found.estimated) == ({"factor": 6.0}, False)


def test_columns_with_nearly_the_same_factor_are_undone_each_by_its_own() -> None:
    broken = change(make_day(), "price", lambda value: value * 8.6604)
    broken = change(broken, "weight", lambda value: value * 8.6596)
    factors = {each.columns: each.parameters["factor"] for each in diagnose(broken)}
    assert factors == {("price",): pytest.approx(8.6604, rel=1e-9), ("weight",): pytest.approx(8.6596, rel=1e-9)}
