"""Values that are missing."""

from __future__ import annotations

import pytest

from tests.diagnose.history import BOTH, change, diagnose_one, list_names, make_day


@BOTH
@pytest.mark.parametrize("column", ["price", "city", "ordered_at"])
def test_the_share_of_lost_values_is_named(column: str, hide: bool) -> None:
    broken = change(make_day(), column, lambda _: None, share=0.4)
    found = diagnose_one(broken, hide)
    lost = broken[column].null_count / len(broken)
    assert (found.fault, found.columns) == ("nulls", (column,))
    assert found.sentence == f"{column} lost {lost:.1%} of its values"
    assert found.parameters["share"] == pytest.approx(lost, abs=1e-5)
    assert found.share == pytest.approx(lost, abs=1e-4)


def test_what_was_null_before_is_not_lost() -> None:
    found = diagnose_one(change(make_day(), "coupon", lambda _: None, share=0.8))
    assert found.parameters["share"] == pytest.approx(0.8, abs=0.06)


def test_a_column_without_values_is_empty() -> None:
    found = diagnose_one(change(make_day(), "price", lambda _: None))
    assert (found.fault, found.sentence, found.share) == ("nulls", "price is empty", 1.0)


def test_blank_texts_are_no_nulls() -> None:
    assert list_names(change(make_day(), "city", lambda _: "", share=0.4)) == ["placeholder"]
