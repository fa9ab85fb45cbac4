"""Numbers that are multiplied by a factor: which one, and in how many of the rows."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from tests.diagnose.history import BOTH, change, diagnose_after, diagnose_one, list_names, make_day, make_sales, replace


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
