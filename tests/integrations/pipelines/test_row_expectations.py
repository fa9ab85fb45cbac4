"""The SQL of expectations about rows; `tests/spark/test_pipelines.py` runs it."""

from __future__ import annotations

import pytest

from headgate.integrations.pipelines.row_expectations import RowExpectation, expect, expect_or_drop, expect_or_fail


def test_a_condition_that_is_null_is_not_met() -> None:
    assert RowExpectation("a", "x > 0", "drop").failing_test == "NOT coalesce(x > 0, false)"


def test_a_comment_hides_nothing() -> None:
    assert RowExpectation("a", "x > 0 -- why", "drop").failing_test == "NOT coalesce(x > 0 -- why\n, false)"


def test_a_name_with_quotes_stays_text() -> None:
    guard = RowExpectation("it's", "x > 0", "fail").guard
    assert r"it\'s" in guard


@pytest.mark.parametrize(("make", "on_failure"), [(expect, "keep"), (expect_or_drop, "drop"), (expect_or_fail, "fail")])
def test_several_conditions_go_in_one_call(make, on_failure) -> None:
    made = make({"a": "x > 0", "b": "x < 9"}).expectations
    assert [(each.name, each.condition, each.on_failure) for each in made] == [
        ("a", "x > 0", on_failure),
        ("b", "x < 9", on_failure),
    ]
