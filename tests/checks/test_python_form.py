"""Checks written as Python code: what is printed runs as printed and makes the same check."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.checks.check import Check
from headgate.checks.constraint import constraints
from headgate.values.errors import MisuseError
from tests.checks.forms import DISTRIBUTIONS, checks

EVERY = checks()


def made(code: str) -> Check:
    room: dict[str, Any] = {}
    exec(compile(code, "printed", "exec"), room)
    found: Check = room["check"]
    return found


@pytest.mark.parametrize("name", EVERY)
def test_what_is_printed_makes_the_same_check(name: str) -> None:
    check = EVERY[name]
    again = made(check.to_python())
    assert again == check
    assert repr(again.rules) == repr(check.rules) or "timezone" in repr(check.rules)


def test_every_constraint_is_tried() -> None:
    assert set(constraints()) - set(DISTRIBUTIONS) <= set(EVERY)


def test_it_looks_as_a_person_writes_it() -> None:
    check = (
        Check("orders")
        .is_complete("id", "day")
        .is_contained_in("region", ["EU", "US"], where="day >= '2026-01-01'", by=["country"])
        .has_completeness("email", warn={"at_least": 0.99}, error={"at_least": 0.9})
        .has_no_duplicate_rows()
        .has_pattern("code", r"^\d+$")
    )
    assert check.to_python() == (
        "import headgate as hg\n"
        "\n"
        "check = (\n"
        '    hg.Check("orders")\n'
        '    .is_complete("id", "day")\n'
        '    .is_contained_in("region", ["EU", "US"], where="day >= \'2026-01-01\'", by=["country"])\n'
        '    .has_completeness("email", warn={"at_least": 0.99}, error={"at_least": 0.9})\n'
        "    .has_no_duplicate_rows()\n"
        '    .has_pattern("code", "^\\\\d+$")\n'
        ")\n"
    )


def test_modules_are_imported_only_where_they_are_needed() -> None:
    assert "import datetime\n" in EVERY["dates"].to_python()
    assert "import datetime" not in EVERY["between"].to_python()
    assert "import decimal\n" in Check("d").is_in_range("a", high=Decimal("0.1")).to_python()
    assert made(Check("d").is_in_range("a", high=Decimal("0.10")).to_python()).rules[0].arguments[1][1] == Decimal(
        "0.10"
    )


def test_a_column_called_like_a_module_imports_nothing() -> None:
    code = Check("d").is_complete("datetime.x").to_python()
    assert made(code) == Check("d").is_complete("datetime.x")


def test_a_function_cannot_be_written() -> None:
    with pytest.raises(MisuseError, match="held against a Python function, whose code is not known"):
        Check("f").has_mean("a", lambda mean: mean > 1).to_python()


@given(st.text(min_size=1), st.text(min_size=1), st.one_of(st.floats(allow_nan=False), st.integers(-(10**30), 10**30)))
def test_any_text_and_number_comes_back(name: str, column: str, number: float) -> None:
    check = Check(name).has_mean(column, equals=number, where=column)
    assert made(check.to_python()) == check
